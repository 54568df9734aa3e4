// client/api/<namespace>.ts: types and functions of the operations of one namespace.
import { deprecationTag } from "../../model/deprecation.js";
import { referredType, refTo } from "../../model/json-schema.js";
import type { OperationModel, RegistryModel } from "../../model/registry.js";
import { header } from "../../print/file.js";
import {
  docComment,
  importOf,
  importStatements,
  listLayout,
  sortedUnique,
} from "../../print/layout.js";
import type { Namespace } from "../../model/namespaces.js";
import { errorCodesOf } from "../../model/error-codes.js";
import { print } from "../../print/templates.js";
import { referredTypes } from "../../model/referred-types.js";
import { typeDeclaration } from "../../print/type-text.js";
import { codesOf, namespaceCodes, type DeclaredType } from "./codes.js";
import { functionHead, functionNames, routeText } from "./functions.js";
import {
  hasInput,
  isOptional,
  operationMembers,
  resultTypeOf,
} from "../../print/client-operation.js";
import { codeType } from "../../print/client-types.js";
import { inputTypeOf, outputTypeName } from "../../model/operation-types.js";

export interface NamespaceView {
  readonly model: RegistryModel;
  /** The module of each type. */
  readonly modules: ReadonlyMap<string, string>;
  /** The types of codes that many operations share. */
  readonly common: readonly DeclaredType[];
  /** The types of the namespace's own document. */
  readonly types: readonly string[];
}

/** The text of the module of one namespace. */
export function printNamespace(
  { name, source, operations }: Namespace,
  { model, modules, common, types }: NamespaceView,
): string {
  const ofNamespace = namespaceCodes(name, operations, common, model);
  const groups = [...common, ...ofNamespace];
  const declared = [
    ...types.map((type) => ({ type, schema: model.types[type] ?? true })),
    ...ofNamespace,
    ...operations.flatMap((operation) => typesOf(operation, groups, model)),
  ];
  const foreign = sortedUnique([
    ...declared.flatMap(({ schema }) => referredTypes(schema)),
    // Inputs and outputs that are types of the registry; all others are declared here.
    ...operations.flatMap(({ input, output }) =>
      [referredType(input.schema), referredType(output.schema ?? true)].filter(
        (type) => type !== undefined,
      ),
    ),
  ]).filter(
    (type) => modules.get(type) !== name && ofNamespace.every((group) => group.type !== type),
  );
  return print("client/namespace.ts", {
    header: header(source),
    isCalling: operations.length > 0,
    imports: importStatements(
      foreign.map((type) => importOf(type, moduleOf(modules.get(type)), true)),
    ),
    declarations: declared.map(({ type, schema }) => typeDeclaration(type, schema)),
    functions: operations.map((operation) => printFunction(operation, model)),
  });
}

/**
 * The import path of a types module. Namespaces have a folder of their own, so that they can't
 * clash with other files.
 */
function moduleOf(module = "models"): string {
  return module === "models" ? "../models.js" : `./${module}.js`;
}

/** The types that an operation has of its own: its input, its output, the codes of its errors. */
function typesOf(
  operation: OperationModel,
  groups: readonly DeclaredType[],
  model: RegistryModel,
): readonly DeclaredType[] {
  const { key, input, output } = operation;
  const codes: readonly string[] = errorCodesOf(operation);
  const whole = groups.filter((group) =>
    codesOf(group).every((code) => codes.includes(String(code))),
  );
  const named = whole.flatMap(codesOf);
  const rest = codes.filter((code) => !named.includes(code));
  return [
    ...(hasInput(operation) && referredType(input.schema) === undefined
      ? [{ type: input.typeName, schema: input.schema }]
      : []),
    ...(output.schema !== null && referredType(output.schema) === undefined
      ? [{ type: outputTypeName(operation), schema: output.schema }]
      : []),
    {
      type: codeType(key, model),
      schema: {
        anyOf: [
          ...whole.map(({ type }) => refTo(type)),
          ...(rest.length === 0 ? [] : [{ enum: rest }]),
        ],
      },
    },
  ];
}

function printFunction(operation: OperationModel, model: RegistryModel): string {
  const { key, summary, deprecated } = operation;
  const end = deprecated === null ? "" : `\n${deprecationTag(deprecated)}`;
  const { exported, local } = functionNames(operation);
  const parameters = [
    "client: $.Client",
    ...(hasInput(operation)
      ? [`input: ${inputTypeOf(operation)}${isOptional(operation, model) ? " = {}" : ""}`]
      : []),
    "options?: $.CallOptions",
  ];
  // No operation can have this name.
  const constant = `$${exported}`;
  const results = [resultTypeOf(operation), codeType(key, model)];
  return [
    listLayout(
      "",
      `const ${constant}: $.Operation = `,
      operationMembers(operation),
      ["{", "}"],
      ";",
    ),
    "",
    docComment("", `${summary}. ${routeText(operation)}${end}`),
    functionHead(local, parameters, "$.Call", results),
    `  return $.call(client, ${constant}, ${hasInput(operation) ? "input" : "{}"}, options);`,
    "}",
    ...(local === exported ? [] : [`export { ${local} as ${exported} };`]),
  ].join("\n");
}
