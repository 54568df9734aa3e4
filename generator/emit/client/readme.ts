// client/README.md: the page that comes with the package.
import type { ClientParts } from "../../kernel/family.js";
import { markdownText } from "../../project/markdown.js";
import type { OperationModel, RegistryModel, TokenUse } from "../../model/registry.js";
import type { EmittedFile } from "../../print/file.js";
import { print } from "../../print/templates.js";
import { functionNames, namespaceImport, routeText } from "./functions.js";
import {
  attachedNamespaces,
  hasInput,
  isAttached,
  isOptional,
  isReading,
} from "../../print/client-operation.js";
import type { ClientSettings } from "./settings.js";

/**
 * The README of the client's package `name`. Examples call operations of the service, if it has
 * suitable ones.
 */
export function emitReadme(
  model: RegistryModel,
  settings: ClientSettings,
  parts: readonly ClientParts[],
  name: string,
): EmittedFile {
  const { service, identity } = model;
  const signsIn = callFor(model, "sign_in");
  const choosesTenant = callFor(model, "tenant");
  const example = exampleOf(model);
  return {
    path: "client/README.md",
    text: print("client/README.md", {
      name,
      title: markdownText(service.title),
      description: markdownText(service.description ?? ""),
      hasTokens: identity !== null,
      signsIn,
      choosesTenant,
      example,
      walks: walkedList(model)?.call ?? "",
      imports: [
        ...new Set([
          "createClient",
          ...[signsIn, choosesTenant, example].flatMap((call) => call?.namespace ?? []),
        ]),
      ]
        .sort()
        .join(", "),
      examples: parts.flatMap(({ example: shown }) => shown?.(name).trimEnd() ?? []),
      hasQueries: settings.queries,
      hasMocks: settings.mocks,
      rows: attachedNamespaces(model).flatMap(({ operations }) =>
        operations.map(
          (operation) =>
            `| \`${callText(operation)}\` | ${routeText(operation)} | ${markdownText(operation.summary)} |`,
        ),
      ),
    }),
  };
}

interface ExampleCall {
  readonly namespace: string;
  readonly call: string;
}

/** A call that answers with tokens for this use, if the service has one. */
function callFor(model: RegistryModel, use: TokenUse): ExampleCall | undefined {
  const found = Object.values(model.operations).find(
    (operation) => isAttached(operation) && operation.tokens === use,
  );
  return found === undefined ? undefined : exampleCall(found);
}

/** A call of an operation that only reads and needs no input, preferably a list. */
function exampleOf(model: RegistryModel): ExampleCall | undefined {
  const callable = Object.values(model.operations).filter(
    (operation) =>
      isAttached(operation) &&
      isReading(operation) &&
      operation.output.schema !== null &&
      (!hasInput(operation) || isOptional(operation, model)),
  );
  const found = callable.find(({ lists }) => lists !== null) ?? callable[0];
  return found === undefined ? undefined : exampleCall(found);
}

/** A list that `each` walks: one that gives cursors, on a mount. */
function walkedList(model: RegistryModel): ExampleCall | undefined {
  const found = Object.values(model.operations).find(
    (operation) =>
      isAttached(operation) &&
      operation.lists !== null &&
      operation.errors.includes("invalid_cursor"),
  );
  return found === undefined ? undefined : exampleCall(found);
}

function exampleCall(operation: OperationModel): ExampleCall {
  return { namespace: namespaceImport(operation.namespace).imported, call: callText(operation) };
}

function callText(operation: OperationModel): string {
  return `${namespaceImport(operation.namespace).local}.${functionNames(operation).exported}`;
}
