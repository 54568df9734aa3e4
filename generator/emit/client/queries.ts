// client/queries/<namespace>.ts: options for TanStack Query, one function an operation
// (opwright.config "client.queries").
import { isDeepStrictEqual } from "node:util";
import {
  propertiesOf,
  referredType,
  requiredOf,
  type JsonSchema,
} from "../../model/json-schema.js";
import type { OperationModel, RegistryModel } from "../../model/registry.js";
import { header, type EmittedFile } from "../../print/file.js";
import {
  docComment,
  importOf,
  importStatements,
  literal,
  sortedUnique,
  width,
} from "../../print/layout.js";
import { freeName } from "../../print/printed-names.js";
import { print } from "../../print/templates.js";
import { functionHead, functionNames, routeText } from "./functions.js";
import {
  attachedNamespaces,
  givesResponse,
  hasInput,
  isOptional,
  isReading,
  resultTypeOf,
} from "../../print/client-operation.js";
import { ownFile } from "./own-file.js";
import { moduleOfType, namedTypesOf, codeType } from "../../print/client-types.js";
import { inputTypeOf } from "../../model/operation-types.js";

/** A file for each namespace whose operations get options, and the file that these share. */
export function emitQueries(
  model: RegistryModel,
  modules: ReadonlyMap<string, string>,
): readonly EmittedFile[] {
  const files = attachedNamespaces(model).flatMap(({ name, operations: all, source }) => {
    const operations = all.filter(isOffered);
    if (operations.length === 0) return [];
    const types = sortedUnique(operations.flatMap(namedTypesOf));
    const names = new Set(operations.map((operation) => functionNames(operation).exported));
    const text = print("client/queries.ts", {
      header: header(source),
      imports: importStatements(
        types.map((type) => importOf(type, moduleOfType(type, name, modules, ".."), true)),
      ),
      namespace: name,
      functions: operations.flatMap((operation) =>
        functionsOf(operation, name, model, pagesName(operation, names)),
      ),
    });
    return [{ path: `client/queries/${name}.ts`, text }];
  });
  return files.length === 0 ? [] : [ownFile("query.ts"), ...files];
}

/**
 * Whether an operation gets options. One that reads bytes doesn't: a stream can be read only once,
 * so it can't be cached.
 */
function isOffered(operation: OperationModel): boolean {
  return !isReading(operation) || !givesResponse(operation) || operation.route?.method === "HEAD";
}

/** The name of the options for all pages of a list; no operation of the namespace has it. */
function pagesName(list: OperationModel, taken: ReadonlySet<string>): string {
  return freeName(`${functionNames(list).exported}Pages`, (name) => taken.has(name));
}

function functionsOf(
  operation: OperationModel,
  namespace: string,
  model: RegistryModel,
  pages: string,
): readonly string[] {
  if (!isReading(operation)) return [printMutation(operation, namespace, model)];
  const { local } = functionNames(operation);
  const query = printRead(operation, namespace, model, { helper: "query", name: local });
  return isList(operation, model)
    ? [query, printRead(operation, namespace, model, { helper: "pages", name: pages })]
    : [query];
}

/** Whether it is a list by cursor: it takes `after` and answers `next_cursor`. */
function isList({ input, output }: OperationModel, model: RegistryModel): boolean {
  const whole = (schema: JsonSchema | null): JsonSchema => {
    const type = schema === null ? undefined : referredType(schema);
    return type === undefined ? (schema ?? true) : (model.types[type] ?? true);
  };
  const [given, found] = [whole(input.schema), whole(output.schema)];
  const after = propertiesOf(given)["after"];
  const next = propertiesOf(found)["next_cursor"];
  return (
    typeof after === "object" &&
    after["type"] === "string" &&
    typeof next === "object" &&
    isDeepStrictEqual(next["type"], ["string", "null"]) &&
    requiredOf(found).includes("next_cursor")
  );
}

function printRead(
  operation: OperationModel,
  namespace: string,
  model: RegistryModel,
  { helper, name }: { readonly helper: "query" | "pages"; readonly name: string },
): string {
  const { exported, local } = functionNames(operation);
  const takes = hasInput(operation);
  const input = takes ? inputTypeOf(operation) : "null";
  const parameters = [
    "client: $.CallerClient",
    ...(takes ? [`input: ${input}${isOptional(operation, model) ? " = {}" : ""}`] : []),
  ];
  const key = `[${literal(namespace)}, ${literal(operation.name)}]`;
  const given = helper === "pages" ? "(page, options)" : "(options)";
  const passed =
    helper === "pages"
      ? "client, page, options"
      : takes
        ? "client, input, options"
        : "client, options";
  const type = helper === "pages" ? "$.Pages" : "$.Query";
  // TanStack Query doesn't accept undefined from a query.
  const isEmpty = resultTypeOf(operation) === "undefined";
  return [
    docComment("", routeText(operation)),
    functionHead(name, parameters, type, [
      input,
      isEmpty ? "null" : resultTypeOf(operation),
      `$api.${codeType(operation.key, model)}`,
    ]),
    callback(
      `$.${helper}`,
      ["client", key, takes ? "input" : "null"],
      `${given} =>`,
      `$api.${exported}(${passed})${isEmpty ? ".then(() => null)" : ""}`,
    ),
    "}",
    ...(helper === "pages" || local === exported ? [] : [`export { ${local} as ${exported} };`]),
  ].join("\n");
}

function printMutation(operation: OperationModel, namespace: string, model: RegistryModel): string {
  const { exported, local } = functionNames(operation);
  const takes = hasInput(operation);
  const key = `[${literal(namespace)}, ${literal(operation.name)}]`;
  const types = [
    takes ? inputTypeOf(operation) : "void",
    resultTypeOf(operation),
    `$api.${codeType(operation.key, model)}`,
  ];
  return [
    docComment("", routeText(operation)),
    functionHead(local, ["client: $.Client"], "$.Mutation", types),
    callback(
      "$.mutation",
      ["client", key],
      `${takes ? "(input, options)" : "(_, options)"} =>`,
      `$api.${exported}(client${takes ? ", input" : ""}, options)`,
    ),
    "}",
    ...(local === exported ? [] : [`export { ${local} as ${exported} };`]),
  ].join("\n");
}

/**
 * A call whose last argument is a function of one expression: on one line, broken in that function,
 * or one argument a line.
 */
function callback(name: string, before: readonly string[], arrow: string, body: string): string {
  const head = `  return ${name}(${[...before, arrow].join(", ")}`;
  if (`${head} ${body});`.length <= width) return `${head} ${body});`;
  if (head.length <= width) return `${head}\n    ${body},\n  );`;
  const whole = `${arrow} ${body}`;
  const fits = `    ${whole},`.length <= width;
  const lines = [...before, fits ? whole : `${arrow}\n      ${body}`]
    .map((argument) => `    ${argument},\n`)
    .join("");
  return `  return ${name}(\n${lines}  );`;
}
