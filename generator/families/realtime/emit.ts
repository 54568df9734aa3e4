// signals.ts and realtime.ts: signals, typed, and the plane that carries them. Two files, because handlers send signals and
// the plane calls handlers.
import { camelCase } from "../../model/names.js";
import type { RegistryModel, SignalModel } from "../../model/registry.js";
import { header, type EmittedFile } from "../../print/file.js";
import {
  importOf,
  importStatements,
  listLayout,
  literal,
  sortedUnique,
} from "../../print/layout.js";
import { importPath, moduleNames, type ModulePaths } from "../../print/module-path.js";
import { print } from "../../print/templates.js";
import { typeModules } from "../../print/type-modules.js";

export function emitRealtime(model: RegistryModel, paths: ModulePaths): readonly EmittedFile[] {
  const { realtime } = model;
  if (realtime === null) return [];
  const events = Object.entries(realtime.events);
  const modules = typeModules(model);
  const typed = (delivery: SignalModel["delivery"]): readonly string[] =>
    events
      .filter(([, event]) => event.delivery === delivery)
      .map(([name, { typeName }]) => `  readonly ${literal(name)}: ${typeName};`);
  const commands = Object.entries(realtime.commands);
  const authors = moduleNames(
    paths,
    realtime.authorizer === null ? [] : [realtime.authorizer.file],
    () => false,
  );
  const { authorizer } = realtime;
  return [
    {
      path: "signals.ts",
      text: print("signals.ts", {
        header: header("registry"),
        imports: importStatements([
          importOf("publishingOf", "opwright/runtime", false),
          importOf("stagingOf", "opwright/runtime", false),
          importOf("RealtimeSpec", "opwright/runtime", true),
          ...sortedUnique(events.map(([, { typeName }]) => typeName)).map((name) =>
            importOf(name, `./types/${modules.get(name) ?? "models"}.js`, true),
          ),
          importOf("* as validate", "./validators/realtime.js", false),
        ]),
        durable: typed("durable"),
        ephemeral: typed("ephemeral"),
        events: events.flatMap(([name, { audience, delivery }]) => [
          `  ${literal(name)}: {`,
          `    delivery: ${literal(delivery)},`,
          listLayout("    ", "audience: ", audience.map(literal), ["[", "]"], ","),
          `    validate: validate.${camelCase(name)},`,
          "  },",
        ]),
      }),
    },
    {
      path: "realtime.ts",
      text: print("realtime.ts", {
        header: header("registry"),
        imports: importStatements([
          importOf("realtime", "opwright/runtime", false),
          ...[...authors].map(([file, name]) =>
            importOf(`* as ${name}`, importPath(paths, "realtime.ts", file), false),
          ),
          ...sortedUnique(commands.map(([, key]) => key)).map((key) =>
            importOf(camelCase(key), `./routes/${key.split(".")[0] ?? ""}.js`, false),
          ),
          importOf("events", "./signals.js", false),
        ]),
        lines: [
          `  path: ${literal(realtime.path)},`,
          listLayout("  ", "transports: ", realtime.transports.map(literal), ["[", "]"], ","),
          "  events,",
          ...(commands.length === 0
            ? ["  commands: {},"]
            : [
                "  commands: {",
                ...commands.map(([name, key]) => `    ${literal(name)}: ${camelCase(key)},`),
                "  },",
              ]),
          authorizer === null
            ? "  authorizeTopics: null,"
            : `  authorizeTopics: ${authors.get(authorizer.file) ?? ""}.${authorizer.name},`,
          `  presence: ${realtime.presence},`,
          `  retentionSeconds: ${realtime.retentionSeconds},`,
          `  retentionEntries: ${realtime.retentionEntries},`,
        ],
      }),
    },
  ];
}
