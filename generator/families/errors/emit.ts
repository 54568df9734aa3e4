// errors.ts: `fail`, typed by the errors that the registry declares.
import type { RegistryModel } from "../../model/registry.js";
import { header, type EmittedFile } from "../../print/file.js";
import { importOf, importStatements, literal, sortedUnique } from "../../print/layout.js";
import { importedName, printAround } from "../../print/printed-names.js";
import { typeModules } from "../../print/type-modules.js";

export function emitErrors(model: RegistryModel): readonly EmittedFile[] {
  const errors = Object.entries(model.errors);
  if (errors.length === 0) return [];
  const typeFiles = typeModules(model);
  const declared = sortedUnique(errors.flatMap(([, { contextType }]) => contextType ?? []));
  return [
    {
      path: "errors.ts",
      text: printAround("errors.ts", declared, (local) => ({
        header: header("registry"),
        imports: importStatements([
          importOf("ownErrors", "opwright/runtime", false),
          ...declared.flatMap((name) =>
            importedName(name, local, `./types/${typeFiles.get(name) ?? "models"}.js`, true),
          ),
        ]),
        contexts: errors.map(
          ([code, { contextType }]) =>
            `  readonly ${code}: ${local.get(contextType ?? "") ?? "undefined"};`,
        ),
        errors: errors.map(
          ([code, { kind, detail, retryable }]) =>
            `  ${code}: { kind: ${literal(kind)}, detail: ${literal(detail)}, retryable: ${retryable} },`,
        ),
      })),
    },
  ];
}
