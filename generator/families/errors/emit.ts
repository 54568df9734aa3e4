// errors.ts: `fail`, typed by the errors that the registry declares, and the type of what makes the
// bodies of errors.
import type { RegistryModel } from "../../model/registry.js";
import { header, type EmittedFile } from "../../print/file.js";
import { importOf, importStatements, literal, sortedUnique } from "../../print/layout.js";
import { importedName, printAround } from "../../print/printed-names.js";
import { typeModules } from "../../print/type-modules.js";
import { contextName, errorContextsModule } from "./contexts.js";

export function emitErrors(model: RegistryModel): readonly EmittedFile[] {
  const errors = Object.entries(model.errors);
  const bodyType = model.service.errors?.typeName ?? null;
  if (errors.length === 0 && bodyType === null) return [];
  const typeFiles = typeModules(model);
  const declared = sortedUnique([
    ...errors.flatMap(([, { contextType }]) => contextType ?? []),
    ...(bodyType === null ? [] : [bodyType]),
  ]);
  const hasContexts = errors.some(([, { contextType }]) => contextType !== null);
  return [
    {
      path: "errors.ts",
      text: printAround("errors.ts", declared, (local) => ({
        header: header("registry"),
        imports: importStatements([
          ...(errors.length === 0 ? [] : [importOf("ownErrors", "opwright/runtime", false)]),
          ...(bodyType === null ? [] : [importOf("ErrorShape", "opwright/runtime", true)]),
          ...declared.flatMap((name) =>
            importedName(name, local, `./types/${typeFiles.get(name) ?? "models"}.js`, true),
          ),
          ...(hasContexts
            ? [importOf("* as told", `./validators/${errorContextsModule}.js`, false)]
            : []),
        ]),
        body: bodyType === null ? null : (local.get(bodyType) ?? "unknown"),
        hasErrors: errors.length > 0,
        contexts: errors.map(
          ([code, { contextType }]) =>
            `  readonly ${code}: ${local.get(contextType ?? "") ?? "undefined"};`,
        ),
        errors: errors.flatMap(([code, { kind, detail, retryable, contextType }]) => [
          `  ${code}: {`,
          `    kind: ${literal(kind)},`,
          `    detail: ${literal(detail)},`,
          `    retryable: ${retryable},`,
          ...(contextType === null ? [] : [`    context: told.${contextName(code)},`]),
          "  },",
        ]),
      })),
    },
  ];
}
