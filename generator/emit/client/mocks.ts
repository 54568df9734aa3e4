// client/mocks.ts: mocks of the service, with handlers that are typed by its operations
// (opwright.config "client.mocks").
import { mapRecord } from "../../model/records.js";
import type { OperationModel, ParameterTypeName, RegistryModel } from "../../model/registry.js";
import { header, type EmittedFile } from "../../print/file.js";
import {
  blockLayout,
  importStatements,
  listLayout,
  literal,
  propertyKey,
  width,
} from "../../print/layout.js";
import { importedName, printAround } from "../../print/printed-names.js";
import { hasInput, isAttached, operationOf, resultTypeOf } from "../../print/client-operation.js";
import { ownFile } from "./own-file.js";
import { moduleOfType, namedTypesOf } from "../../print/client-types.js";
import { inputTypeOf } from "../../model/operation-types.js";

/** The typed mocks, and the file of opwright's that they build on. */
export function emitMocks(
  model: RegistryModel,
  modules: ReadonlyMap<string, string>,
): readonly EmittedFile[] {
  const operations = Object.values(model.operations).filter(isAttached);
  const typeFiles = new Map(
    operations.flatMap((operation) =>
      namedTypesOf(operation).map((type) => [
        type,
        moduleOfType(type, operation.namespace, modules, "."),
      ]),
    ),
  );
  return [
    ownFile("mock.ts"),
    {
      path: "client/mocks.ts",
      text: printAround("client/mocks.ts", typeFiles.keys(), (local) => ({
        header: header("registry"),
        imports: importStatements(
          [...typeFiles].flatMap(([type, from]) => importedName(type, local, from, true)),
        ),
        handlers: blockLayout(operations.map((operation) => handlerMember(operation, local))),
        routes: blockLayout(operations.map(routeMember)),
      })),
    },
  ];
}

function handlerMember(operation: OperationModel, local: ReadonlyMap<string, string>): string {
  const given = hasInput(operation) ? inputTypeOf(operation) : "unknown";
  const types = [
    local.get(given) ?? given,
    resultTypeOf(operation, (type) => local.get(type) ?? type),
  ];
  const key = `  readonly ${literal(operation.key)}?: $.MockHandler`;
  const line = `${key}<${types.join(", ")}>;`;
  return line.length <= width
    ? line
    : `${key}<\n${types.map((type) => `    ${type}`).join(",\n")}\n  >;`;
}

function routeMember(operation: OperationModel): string {
  const { method, path, body } = operationOf(operation);
  const { input } = operation;
  const parameters = Object.fromEntries(
    input.parameters.map(({ name, type }) => [name, textTypeOf(type)]),
  );
  const fields = mapRecord(input.body?.fields ?? {}, textTypeOf);
  const members: Readonly<Record<string, unknown>> = {
    method,
    path,
    ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
    ...(Object.keys(fields).length === 0 ? {} : { fields }),
    ...(body === undefined ? {} : { body }),
    status: operation.route?.status ?? 200,
  };
  const lines = Object.entries(members).map(([name, value]) =>
    typeof value === "object" && value !== null
      ? listLayout("    ", `${name}: `, pairsOf(value), ["{", "}"], ",")
      : `    ${name}: ${literal(value)},`,
  );
  return `  ${literal(operation.key)}: {\n${lines.join("\n")}\n  },`;
}

/** What the text of a member stands for. */
function textTypeOf(type: ParameterTypeName): string {
  if (type === "integer") return "number";
  return type === "uuid" || type === "key" ? "string" : type;
}

function pairsOf(value: object): readonly string[] {
  return Object.entries(value).map(([name, one]) => `${propertyKey(name)}: ${literal(one)}`);
}
