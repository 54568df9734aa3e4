// service.ts and server.ts: the whole service as one value, the process entry, and what authors import.
import { limits } from "../../runtime/contract/limits.js";
import { camelCase, specName } from "../model/names.js";
import type { RegistryModel } from "../model/registry.js";
import { header, type EmittedFile } from "./file.js";
import { importOf, importStatements, listLayout, literal } from "./layout.js";
import { importPath, type ModulePaths } from "./module-path.js";
import { namespacesOf } from "./namespaces.js";
import { print } from "./templates.js";

/** `searches: [placeSearchSpec],`, or nothing where there are none. */
function specList(member: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  return listLayout("  ", `${member}: `, names.map(specName), ["[", "]"], ",");
}

export function emitService(model: RegistryModel, paths: ModulePaths): readonly EmittedFile[] {
  const { service } = model;
  const namespaces = namespacesOf(model).filter(({ operations }) =>
    operations.some(({ route }) => route !== null),
  );
  const app = service.app;
  const view = {
    header: header("registry"),
    imports: importStatements([
      importOf("defineService", "opwright/runtime", false),
      ...(model.identity === null ? [] : [importOf("identitySpec", "./identity.js", false)]),
      ...(model.outbox === null ? [] : [importOf("outboxSpec", "./outbox.js", false)]),
      ...(model.realtime === null ? [] : [importOf("realtimeSpec", "./realtime.js", false)]),
      ...(app === null
        ? []
        : [
            importOf(
              app.name === "app" ? "app" : `${app.name} as app`,
              importPath(paths, "service.ts", app.file),
              false,
            ),
          ]),
      ...Object.keys(model.searches).map((name) =>
        importOf(specName(name), `./search/${name}.js`, false),
      ),
      ...Object.keys(model.storages).map((name) =>
        importOf(specName(name), `./storage/${name}.js`, false),
      ),
      ...namespaces.map(({ name }) =>
        importOf(`* as ${camelCase(name)}Routes`, `./routes/${name}.js`, false),
      ),
    ]),
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
    searches: specList("searches", Object.keys(model.searches)),
    storages: specList("storages", Object.keys(model.storages)),
  };
  return [
    { path: "service.ts", text: print("service.ts", view) },
    { path: "server.ts", text: print("server.ts", view) },
  ];
}
