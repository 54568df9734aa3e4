// outbox.ts: integration events, typed, and where they go.
import type { RegistryModel } from "../../model/registry.js";
import { header, type EmittedFile } from "../../print/file.js";
import { importOf, importStatements, literal, sortedUnique } from "../../print/layout.js";
import { importPath, moduleNames, type ModulePaths } from "../../print/module-path.js";
import { print } from "../../print/templates.js";
import { typeModules } from "../../print/type-modules.js";

/** Types of the runtime's own events. */
const ofRuntime: Readonly<Record<string, string>> = {
  "authn.password_reset_requested": "PasswordResetRequested",
};

export function emitOutbox(model: RegistryModel, paths: ModulePaths): readonly EmittedFile[] {
  const { outbox } = model;
  if (outbox === null) return [];
  const events = Object.entries(outbox);
  const typeFiles = typeModules(model);
  const modules = moduleNames(
    paths,
    events.flatMap(([, { destination }]) =>
      typeof destination === "string" ? [] : [destination.file],
    ),
    () => false,
  );
  const declared = sortedUnique(events.flatMap(([, { typeName }]) => typeName ?? []));
  const used = events.flatMap(([name, { typeName }]) =>
    typeName === null ? (ofRuntime[name] ?? []) : [],
  );
  return [
    {
      path: "outbox.ts",
      text: print("outbox.ts", {
        header: header("registry"),
        imports: importStatements([
          importOf("outbox", "opwright/runtime", false),
          importOf("stage", "opwright/runtime", false),
          ...sortedUnique([...used, "StageEvent"]).map((name) =>
            importOf(name, "opwright/runtime", true),
          ),
          ...[...modules].map(([file, name]) =>
            importOf(`* as ${name}`, importPath(paths, "outbox.ts", file), false),
          ),
          ...declared.map((name) =>
            importOf(name, `./types/${typeFiles.get(name) ?? "models"}.js`, true),
          ),
        ]),
        types: events.map(
          ([name, { typeName }]) =>
            `  readonly ${literal(name)}: ${typeName ?? ofRuntime[name] ?? "unknown"};`,
        ),
        destinations: events.map(([name, { destination }]) => {
          const to =
            typeof destination === "string"
              ? literal(destination)
              : `${modules.get(destination.file) ?? ""}.${destination.name}`;
          return `    ${literal(name)}: ${to},`;
        }),
      }),
    },
  ];
}
