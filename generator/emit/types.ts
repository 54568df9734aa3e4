// types/models.ts and types/<namespace>.ts: TypeScript types of everything that travels.
import { aggregateTypeNames } from "../families/aggregate-schemas.js";
import { queryTypeNames } from "../families/document-model.js";
import type { JsonSchema } from "../model/json-schema.js";
import { referredType } from "../model/json-schema.js";
import { pascalCase } from "../model/names.js";
import type { OperationModel, RegistryModel } from "../model/registry.js";
import { header, type EmittedFile } from "./file.js";
import { importLine, listLayout, sortedUnique } from "./layout.js";
import { namespacesOf, type Namespace } from "./namespaces.js";
import { print } from "./templates.js";
import { referredTypes, typeDeclaration } from "./type-text.js";

/** The module, relative to `types/`, that declares each named type. */
export function typeModules(model: RegistryModel): ReadonlyMap<string, string> {
  const modules = new Map(Object.keys(model.types).map((name) => [name, "models"]));
  for (const document of Object.values(model.documents)) {
    const { filter, comparison, sorts, field } = queryTypeNames(document.name);
    const aggregates = Object.values(aggregateTypeNames(document.name));
    const { createTypeName, patchTypeName } = document;
    const own = [createTypeName, patchTypeName, filter, comparison, sorts, field, ...aggregates];
    for (const name of own) if (modules.has(name)) modules.set(name, document.name);
  }
  return modules;
}

export function emitTypes(model: RegistryModel): readonly EmittedFile[] {
  const modules = typeModules(model);
  const shared = [...modules].filter(([, module]) => module === "models").map(([name]) => name);
  const files: EmittedFile[] = [];
  if (shared.length > 0) {
    const declarations = shared.map((name) => typeDeclaration(name, model.types[name] ?? true));
    files.push({
      path: "types/models.ts",
      text: print("types.ts", { header: header("registry"), imports: [], declarations }),
    });
  }
  for (const namespace of namespacesOf(model)) {
    const declared = declarationsOf(model, namespace, modules);
    if (declared.length === 0) continue;
    files.push({
      path: `types/${namespace.name}.ts`,
      text: printNamespace(namespace, declared, modules),
    });
  }
  return files;
}

interface Declared {
  readonly text: string;
  readonly refers: readonly string[];
  readonly usesHandler: boolean;
}

function declarationsOf(
  model: RegistryModel,
  namespace: Namespace,
  modules: ReadonlyMap<string, string>,
): readonly Declared[] {
  const own = [...modules]
    .filter(([name, module]) => module === namespace.name && Object.hasOwn(model.types, name))
    .map(([name]) => declared(name, model.types[name] ?? true));
  const inputs = namespace.operations
    .filter(({ run, input }) => run.kind === "builtIn" && input.body !== null)
    .map(({ input }) => declared(input.typeName, input.schema));
  return [...own, ...inputs, ...namespace.operations.filter(isCustom).flatMap(customTypes)];
}

function isCustom(operation: OperationModel): boolean {
  return operation.run.kind === "function";
}

/** Input, output and handler types of a custom operation. */
function customTypes(operation: OperationModel): readonly Declared[] {
  const { input, output, key } = operation;
  const types: Declared[] = [];
  if (referredType(input.schema) === undefined) types.push(declared(input.typeName, input.schema));
  const result = outputTypeName(operation);
  if (output.schema !== null && referredType(output.schema) === undefined) {
    types.push(declared(result, output.schema));
  }
  types.push({
    text:
      `/** Handles ${key}. */\n` +
      handlerDeclaration(
        `${pascalCase(key)}Handler`,
        input.typeName,
        output.schema === null ? "void" : result,
      ),
    refers: [...referredTypes(input.schema), ...referredTypes(output.schema ?? true)],
    usesHandler: true,
  });
  return types;
}

function handlerDeclaration(name: string, input: string, result: string): string {
  return listLayout("", `export type ${name} = Handler`, [input, result], ["<", ">"], ";");
}

/** The TypeScript name of an operation's result. */
export function outputTypeName({ key, output }: OperationModel): string {
  const schema = output.schema;
  return (schema === null ? undefined : referredType(schema)) ?? `${pascalCase(key)}Output`;
}

function declared(name: string, schema: JsonSchema): Declared {
  return { text: typeDeclaration(name, schema), refers: referredTypes(schema), usesHandler: false };
}

function printNamespace(
  namespace: Namespace,
  declarations: readonly Declared[],
  modules: ReadonlyMap<string, string>,
): string {
  const foreign = sortedUnique(declarations.flatMap(({ refers }) => refers)).filter(
    (name) => modules.get(name) !== namespace.name,
  );
  const imports = [
    ...(declarations.some(({ usesHandler }) => usesHandler)
      ? [importLine("Handler", "opwright/runtime", true)]
      : []),
    ...foreign.map((name) => importLine(name, `./${modules.get(name) ?? "models"}.js`, true)),
  ];
  return print("types.ts", {
    header: header(namespace.source),
    imports,
    declarations: declarations.map(({ text }) => text),
  });
}
