// outbox.ts: the types of integration events, and their destinations.
import type { OutboxEventModel } from "./model.js";
import type { RegistryModel } from "../../model/registry.js";
import { header, type EmittedFile } from "../../print/file.js";
import { importOf, importStatements, literal, sortedUnique } from "../../print/layout.js";
import { importPath, moduleNames, type ModulePaths } from "../../print/module-path.js";
import { importedModule, importedName, printAround } from "../../print/printed-names.js";
import { typeModules } from "../../print/type-modules.js";
import { eventDataModule, eventDataNames } from "./event-data.js";

/** Types of the runtime's own events. */
const ofRuntime: Readonly<Record<string, string>> = {
  "authn.password_reset_requested": "PasswordResetRequested",
  "authn.sign_up_requested": "SignUpRequested",
  "tenancy.member_invited": "MemberInvited",
};

/** What events were called first, as members of an object. */
function formerNames(
  events: readonly (readonly [string, OutboxEventModel])[],
): readonly string[] | null {
  const lines = events.flatMap(([name, { was }]) =>
    was === undefined ? [] : [`  ${literal(name)}: ${literal(was)},`],
  );
  return lines.length === 0 ? null : lines;
}

/** The module `outbox.ts`; none if the registry declares no `outbox:`. */
export function emitOutbox(model: RegistryModel, paths: ModulePaths): readonly EmittedFile[] {
  const { outbox, mail } = model;
  if (outbox === null) return [];
  const events = Object.entries(outbox);
  const typeFiles = typeModules(model);
  const modules = moduleNames(
    paths,
    [
      ...events.flatMap(([, { destination }]) =>
        typeof destination === "string" ? [] : [destination.file],
      ),
      ...(mail === null ? [] : [mail.file]),
    ],
    () => false,
  );
  const checks = eventDataNames(outbox);
  const declared = sortedUnique(events.flatMap(([, { typeName }]) => typeName ?? []));
  const used = events.flatMap(([name, { typeName }]) =>
    typeName === null ? (ofRuntime[name] ?? []) : [],
  );
  return [
    {
      path: "outbox.ts",
      text: printAround("outbox.ts", [...declared, ...modules.values()], (local) => ({
        header: header("registry"),
        imports: importStatements([
          importOf("eventStaging", "opwright/runtime", false),
          importOf("outbox", "opwright/runtime", false),
          ...sortedUnique([...used, ...(mail === null ? [] : ["MailRenderer"])]).map((name) =>
            importOf(name, "opwright/runtime", true),
          ),
          ...[...modules].flatMap(([file, name]) =>
            importedModule(local.get(name), importPath(paths, "outbox.ts", file)),
          ),
          ...declared.flatMap((name) =>
            importedName(name, local, `./types/${typeFiles.get(name) ?? "models"}.js`, true),
          ),
          ...(checks.size === 0
            ? []
            : [importOf("* as told", `./validators/${eventDataModule}.js`, false)]),
        ]),
        types: events.map(
          ([name, { typeName }]) =>
            `  readonly ${literal(name)}: ${local.get(typeName ?? "") ?? ofRuntime[name] ?? "unknown"};`,
        ),
        declared: events.map(([name]) => {
          const check = checks.get(name);
          return `  ${literal(name)}: ${check === undefined ? "null" : `told.${check}`},`;
        }),
        was: formerNames(events),
        mail: mail === null ? null : `${local.get(modules.get(mail.file) ?? "")}.${mail.name}`,
        destinations: events.map(([name, { destination }]) => {
          const to =
            typeof destination === "string"
              ? literal(destination)
              : `${local.get(modules.get(destination.file) ?? "")}.${destination.name}`;
          return `    ${literal(name)}: ${to},`;
        }),
      })),
    },
  ];
}
