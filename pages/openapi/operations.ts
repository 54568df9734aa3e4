// The operations of a service by their keys, as its OpenAPI document has them.
import {
  resolveReference,
  type Body,
  type OpenApi,
  type OperationObject,
  type Parameter,
  type Response,
  type Schema,
} from "./document.js";

export interface Operation {
  /** `tasks.create`. */
  readonly key: string;
  readonly namespace: string;
  /** In capitals. */
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly isDeprecated: boolean;
  readonly parameters: readonly Parameter[];
  readonly body: Body | null;
  readonly responses: readonly { readonly status: string; readonly response: Response }[];
  /** Whether a caller must be signed in, and what it must be allowed. */
  readonly needsSignIn: boolean;
  readonly permissions: readonly string[];
  readonly deadlineSeconds: number | null;
  readonly takesIdempotencyKey: boolean;
  readonly errorCodes: readonly string[];
}

const known = new WeakMap<OpenApi, ReadonlyMap<string, Operation>>();

/** All operations with a route, in the order of the document's namespaces. */
export function operationsOf(document: OpenApi): ReadonlyMap<string, Operation> {
  const earlier = known.get(document);
  if (earlier !== undefined) return earlier;
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      operation.operationId === undefined ? [] : [readOperation(document, path, method, operation)],
    ),
  );
  all.sort((left, right) => (left.key < right.key ? -1 : 1));
  const operations = new Map(all.map((operation) => [operation.key, operation]));
  known.set(document, operations);
  return operations;
}

function readOperation(
  document: OpenApi,
  path: string,
  method: string,
  operation: OperationObject,
): Operation {
  const key = operation.operationId ?? "";
  const codes = (operation["x-error-codes"] ?? []).flatMap((code) =>
    typeof code === "string" ? [code] : resolveReference<readonly string[]>(document, code),
  );
  const body =
    operation.requestBody === undefined
      ? null
      : resolveReference<Body>(document, operation.requestBody);
  return {
    key,
    namespace: key.split(".")[0] ?? "",
    method: method.toUpperCase(),
    path,
    summary: operation.summary ?? key,
    description: operation.description ?? "",
    isDeprecated: operation.deprecated === true,
    parameters: [
      ...(operation.parameters ?? []).map((one) => resolveReference<Parameter>(document, one)),
      ...formPartsOf(document, body),
    ],
    body,
    responses: Object.entries(operation.responses ?? {}).map(([status, one]) => ({
      status,
      response: resolveReference<Response>(document, one),
    })),
    needsSignIn: operation["x-requires-authn"] === true,
    permissions: operation["x-required-permissions"] ?? [],
    deadlineSeconds: operation["x-deadline-seconds"] ?? null,
    takesIdempotencyKey: operation["x-supports-idempotency-key"] === true,
    errorCodes: [...new Set(codes)].sort(),
  };
}

/** The parts of a form beside its file; none of any other body. */
function formPartsOf(document: OpenApi, body: Body | null): readonly Parameter[] {
  const form = body?.content?.["multipart/form-data"]?.schema;
  if (form === undefined) return [];
  const { properties = {}, required = [] } = resolveReference<Schema>(document, form);
  return Object.entries(properties).flatMap(([name, given]): readonly Parameter[] => {
    const schema = typeof given === "object" ? resolveReference<Schema>(document, given) : {};
    const { format, description } = schema;
    if (format === "binary") return [];
    const said = description === undefined ? {} : { description };
    return [{ name, in: "form", required: required.includes(name), schema, ...said }];
  });
}

/** Operations by namespace, in alphabetical order. */
export function byNamespace(
  operations: Iterable<Operation>,
): ReadonlyMap<string, readonly Operation[]> {
  const namespaces = new Map<string, Operation[]>();
  for (const operation of operations) {
    const those = namespaces.get(operation.namespace);
    if (those === undefined) namespaces.set(operation.namespace, [operation]);
    else those.push(operation);
  }
  return namespaces;
}

/** Whether a text has all words of a search. */
export function hasWords(text: string, search: string): boolean {
  const sought = text.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => sought.includes(word));
}
