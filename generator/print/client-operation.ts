// What the client's core needs to know about an operation: how it is sent, and whether it may be
// retried.
import type { Operation } from "../../client/core.js";
import { referredType, requiredOf } from "../model/json-schema.js";
import type { OperationModel, RegistryModel } from "../model/registry.js";
import { literal } from "./layout.js";
import { namespacesOf, type Namespace } from "../model/namespaces.js";
import { isOfItems, outputTypeName } from "../model/operation-types.js";

/** Whether an operation is on a mount, so that clients can call it. */
export function isAttached({ route }: OperationModel): boolean {
  return route !== null;
}

/** Every namespace, with only those of its operations that are attached. */
export function attachedNamespaces(model: RegistryModel): readonly Namespace[] {
  return namespacesOf(model).map((namespace) => ({
    ...namespace,
    operations: namespace.operations.filter(isAttached),
  }));
}

/** Whether a call of an operation takes an input. */
export function hasInput({ input }: OperationModel): boolean {
  return input.parameters.length > 0 || input.body !== null;
}

/** Whether every member of the input may be left out. */
export function isOptional({ input }: OperationModel, model: RegistryModel): boolean {
  const referred = referredType(input.schema);
  const schema = referred === undefined ? input.schema : (model.types[referred] ?? true);
  return (
    typeof schema === "object" && schema["type"] === "object" && requiredOf(schema).length === 0
  );
}

/**
 * Whether a call resolves with the response itself: it has bytes, or whatever a redirect leads to.
 */
export function givesResponse({ output, route }: OperationModel): boolean {
  return output.isBytes || output.isStream === true || (route?.reply?.redirects ?? []).length > 0;
}

/**
 * The type that a call resolves with. `$.Bytes` is the response itself; `called` says what a type
 * of the registry is called here.
 */
export function resultTypeOf(
  operation: OperationModel,
  called: (type: string) => string = (type) => type,
): string {
  const { output } = operation;
  if (isOfItems(output)) return `$.Items<${called(outputTypeName(operation))}>`;
  if (givesResponse(operation)) return "$.Bytes";
  return output.schema === null ? "undefined" : called(outputTypeName(operation));
}

/** Whether an operation changes nothing. */
export function isReading({ effect }: OperationModel): boolean {
  return effect === "reads";
}

/** How an operation may be retried: as it is, or with one key; undefined if it may not. */
export function repeatsOf({
  effect,
  idempotencyKey,
}: OperationModel): "keyed" | "safe" | undefined {
  if (idempotencyKey) return "keyed";
  return effect === "reads" || effect === "repeats" ? "safe" : undefined;
}

/** What the core needs to know about an operation that is attached. */
export function operationOf(operation: OperationModel): Operation {
  const { input, route } = operation;
  const query = input.parameters
    .filter((parameter) => parameter.in !== "path")
    .map(({ name }) => name);
  const { body } = input;
  const sends =
    body === null
      ? undefined
      : body.isForm
        ? "form"
        : body.media === "application/x-www-form-urlencoded"
          ? "fields"
          : body.as === "input"
            ? "input"
            : body.as === "members"
              ? "rest"
              : body.as;
  const repeats = repeatsOf(operation);
  return {
    method: route?.method ?? "",
    path: route?.path ?? "",
    ...(query.length === 0 ? {} : { query }),
    ...(sends === undefined ? {} : { body: sends }),
    ...(repeats === undefined ? {} : { repeats }),
    ...(givesResponse(operation) ? { isBytes: true } : {}),
    ...(operation.ignoresCredentials ? { ignoresTokens: true } : {}),
    ...(operation.tokens === "tenant" ? { leavesSession: true } : {}),
  };
}

/** The result of `operationOf` as printed members of an object. */
export function operationMembers(operation: OperationModel): readonly string[] {
  return Object.entries(operationOf(operation)).map(
    ([name, value]) => `${name}: ${literal(value)}`,
  );
}
