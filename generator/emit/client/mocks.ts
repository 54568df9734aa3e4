// client/mocks.ts: mocks of the service, with handlers that are typed by its operations
// (opwright.config "client.mocks").
import type { OperationModel, RegistryModel } from "../../model/registry.js";
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
  const parameters = Object.fromEntries(
    operation.input.parameters.map(({ name, type }) => [
      name,
      type === "integer" ? "number" : type === "uuid" || type === "key" ? "string" : type,
    ]),
  );
  const members: Readonly<Record<string, unknown>> = {
    method,
    path,
    ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
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

function pairsOf(value: object): readonly string[] {
  return Object.entries(value).map(([name, one]) => `${propertyKey(name)}: ${literal(one)}`);
}
