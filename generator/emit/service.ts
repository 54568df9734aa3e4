// service.ts and server.ts: the whole service as one value, the process entry, and what authors import.
import { limits } from "../../runtime/contract/limits.js";
import { camelCase } from "../model/names.js";
import type { RegistryModel } from "../model/registry.js";
import { header, type EmittedFile } from "./file.js";
import { importLine, listLayout, literal } from "./layout.js";
import { importPath, type ModulePaths } from "./module-path.js";
import { namespacesOf } from "./namespaces.js";
import { specName } from "./routes.js";
import { importedName, printAround } from "./printed-names.js";
import { print } from "./templates.js";

/** `searches: [placeSearchSpec],`, or nothing where there are none. */
function specList(
  member: string,
  names: readonly string[],
  local: ReadonlyMap<string, string>,
): string {
  if (names.length === 0) return "";
  const specs = names.map((name) => local.get(specName(name)) ?? "");
  return listLayout("  ", `${member}: `, specs, ["[", "]"], ",");
}

export function emitService(model: RegistryModel, paths: ModulePaths): readonly EmittedFile[] {
  const { service } = model;
  const namespaces = namespacesOf(model).filter(({ operations }) =>
    operations.some(({ route }) => route !== null),
  );
  const app = service.app;
  const searches = Object.keys(model.searches);
  const storages = Object.keys(model.storages);
  const view = (local: ReadonlyMap<string, string>) => ({
    header: header("registry"),
    imports: [
      importLine("defineService", "opwright/runtime", false),
      ...(model.identity === null ? [] : [importLine("identitySpec", "./identity.js", false)]),
      ...(model.outbox === null ? [] : [importLine("outboxSpec", "./outbox.js", false)]),
      ...(model.realtime === null ? [] : [importLine("realtimeSpec", "./realtime.js", false)]),
      ...(app === null
        ? []
        : [
            importLine(
              app.name === "app" ? "app" : `${app.name} as app`,
              importPath(paths, "service.ts", app.file),
              false,
            ),
          ]),
      ...searches.flatMap((name) =>
        importedName(specName(name), local, `./search/${name}.js`, false),
      ),
      ...storages.flatMap((name) =>
        importedName(specName(name), local, `./storage/${name}.js`, false),
      ),
      ...namespaces.map(({ name }) =>
        importLine(`* as ${camelCase(name)}Routes`, `./routes/${name}.js`, false),
      ),
    ],
    name: literal(service.name),
    title: literal(service.title),
    version: literal(service.version),
    deadline:
      service.deadlineSeconds === limits.defaultDeadlineSeconds
        ? ""
        : `  deadlineSeconds: ${service.deadlineSeconds},`,
    routes: namespaces.flatMap(({ name, operations }) =>
      operations
        .filter(({ route }) => route !== null)
        .map(({ key }) => `${camelCase(name)}Routes.${camelCase(key)}`),
    ),
    hasApp: app !== null,
    hasIdentity: model.identity !== null,
    hasOutbox: model.outbox !== null,
    hasRealtime: model.realtime !== null,
    searches: specList("searches", searches, local),
    storages: specList("storages", storages, local),
  });
  const specs = [...searches, ...storages].map(specName);
  return [
    { path: "service.ts", text: printAround("service.ts", specs, view) },
    { path: "server.ts", text: print("server.ts", { header: header("registry") }) },
  ];
}
