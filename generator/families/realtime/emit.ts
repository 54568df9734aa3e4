// signals.ts and realtime.ts: typed signals, and the plane that carries them. Two files, because
// handlers import signals and the plane imports handlers.
import { camelCase } from "../../model/names.js";
import type { RealtimeModel, SignalModel } from "./model.js";
import type { RegistryModel } from "../../model/registry.js";
import { header, type EmittedFile } from "../../print/file.js";
import {
  importOf,
  importStatements,
  listLayout,
  literal,
  sortedUnique,
} from "../../print/layout.js";
import { importPath, moduleNames, type ModulePaths } from "../../print/module-path.js";
import {
  camelNames,
  importedModule,
  importedName,
  printAround,
} from "../../print/printed-names.js";
import { typeModules } from "../../print/type-modules.js";
import { signalValidators } from "./validators.js";

/** Both modules; none if the registry declares no `realtime:`. */
export function emitRealtime(model: RegistryModel, paths: ModulePaths): readonly EmittedFile[] {
  const { realtime } = model;
  return realtime === null ? [] : [signalsFile(realtime, model), planeFile(realtime, paths)];
}

function signalsFile({ events: declared }: RealtimeModel, model: RegistryModel): EmittedFile {
  const events = Object.entries(declared);
  const modules = typeModules(model);
  const types = sortedUnique(events.map(([, { typeName }]) => typeName));
  const typed = (
    delivery: SignalModel["delivery"],
    local: ReadonlyMap<string, string>,
  ): readonly string[] =>
    events
      .filter(([, event]) => event.delivery === delivery)
      .map(([name, { typeName }]) => `  readonly ${literal(name)}: ${local.get(typeName)};`);
  const validators = camelNames(Object.keys(declared));
  return {
    path: "signals.ts",
    text: printAround("signals.ts", types, (local) => ({
      header: header("registry"),
      imports: importStatements([
        importOf("publishingOf", "opwright/runtime", false),
        importOf("stagingOf", "opwright/runtime", false),
        importOf("RealtimeSpec", "opwright/runtime", true),
        ...types.flatMap((name) =>
          importedName(name, local, `./types/${modules.get(name) ?? "models"}.js`, true),
        ),
        importOf("* as validate", `./validators/${signalValidators}.js`, false),
      ]),
      durable: typed("durable", local),
      ephemeral: typed("ephemeral", local),
      events: events.flatMap(([name, { was, audience, delivery }]) => [
        `  ${literal(name)}: {`,
        `    delivery: ${literal(delivery)},`,
        listLayout("    ", "audience: ", audience.map(literal), ["[", "]"], ","),
        ...(was === undefined ? [] : [`    was: ${literal(was)},`]),
        `    validate: validate.${validators.get(name)},`,
        "  },",
      ]),
    })),
  };
}

function planeFile(realtime: RealtimeModel, paths: ModulePaths): EmittedFile {
  const commands = Object.entries(realtime.commands);
  const { authorizer } = realtime;
  const authors = moduleNames(paths, authorizer === null ? [] : [authorizer.file], () => false);
  const called = sortedUnique(commands.map(([, key]) => key));
  return {
    path: "realtime.ts",
    text: printAround("realtime.ts", [...called.map(camelCase), ...authors.values()], (local) => ({
      header: header("registry"),
      imports: importStatements([
        importOf("realtime", "opwright/runtime", false),
        ...[...authors].flatMap(([file, name]) =>
          importedModule(local.get(name), importPath(paths, "realtime.ts", file)),
        ),
        ...called.flatMap((key) =>
          importedName(camelCase(key), local, `./routes/${key.split(".")[0] ?? ""}.js`, false),
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
              ...commands.map(
                ([name, key]) => `    ${literal(name)}: ${local.get(camelCase(key))},`,
              ),
              "  },",
            ]),
        authorizer === null
          ? "  authorizeTopics: null,"
          : `  authorizeTopics: ${local.get(authors.get(authorizer.file) ?? "")}.${authorizer.name},`,
        `  presence: ${realtime.presence},`,
        `  retentionSeconds: ${realtime.retentionSeconds},`,
        `  retentionEntries: ${realtime.retentionEntries},`,
      ],
    })),
  };
}
