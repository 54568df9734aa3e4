// The custom family: an author's operation with its own path, input, output and handler.
import type { Advice } from "../../diagnostics/diagnostics.js";
import { methods, type MethodKey, type OperationDeclaration } from "./format.js";
import { columnsOf } from "../../model/columns.js";
import { referredType, type JsonSchema } from "../../model/json-schema.js";
import { filledMembers, filledTypeName } from "../../model/filled-input.js";
import { functionReference, ofAuthor } from "../../model/code.js";
import { pascalCase, sentenceCase } from "../../model/names.js";
import type { HookUse, OutputModel, RouteModel } from "../../model/registry.js";
import {
  deadlineOf,
  deprecationOf,
  extensionsOf,
  type FamilyContext,
  type RoutedOperation,
} from "../../kernel/family.js";
import { hookChain } from "../../kernel/guards.js";
import {
  jsonOutput,
  mediaOutput,
  operation,
  rowsOutput,
  rowsType,
} from "../../kernel/operation.js";
import { inputOf } from "./input.js";
import { replyModel } from "./reply.js";

const keyPattern = /^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$/;

/** Expands `operations.<key>`; undefined if its key or method is faulty. */
export function expandOperation(
  context: FamilyContext,
  key: string,
  declaration: OperationDeclaration,
): RoutedOperation | undefined {
  const { tree, report } = context;
  const at = tree.keyAt("operations", key);
  if (!keyPattern.test(key)) {
    report({
      code: "OPW040",
      message: `${JSON.stringify(key)} is not <namespace>.<operation>`,
      at,
      ...keyAdvice(key),
    });
    return undefined;
  }
  const [namespace = "", name = ""] = key.split(".");
  const method = methodOf(context, key, declaration);
  if (method === undefined) return undefined;
  const path = declaration[method] ?? "";
  const { input, output } = typesOf(context, key, declaration);
  const hasBody = output !== null || declaration.media !== undefined;
  checkStatus(context, key, declaration.status, hasBody);
  checkMedia(context, key, declaration, output);
  const transaction = declaration.transaction ?? (method === "get" ? "read" : "write");
  checkWrites(context, key, declaration, transaction);
  const hooks = hookChain(
    context,
    [{ policy: declaration.guard, at: tree.at("operations", key, "guard") }],
    namespace,
    declaration.hooks === undefined
      ? undefined
      : { hooks: declaration.hooks, at: tree.at("operations", key, "hooks") },
  );
  const made = operation(
    { namespace, name, family: "custom", source: at.file, guard: declaration.guard, hooks },
    {
      summary: declaration.summary ?? sentenceCase(name, namespace),
      description: declaration.description ?? null,
      input: inputOf(context, key, { method, path, body: declaration.body }, input),
      output: outputOf(declaration, output),
      deadlineSeconds: deadlineOf(context, declaration.deadline),
      transaction,
      idempotencyKey: declaration.idempotency ?? false,
      isSerializable: declaration.isolation !== undefined,
      retries: declaration.retry ?? 0,
      deprecated: deprecationOf(context, declaration.deprecated, ["operations", key, "deprecated"]),
      // Its calls are told where there is a trail, and in the log.
      audit: context.declarations.audit === undefined || transaction === "read" ? null : [],
      ignoresCredentials: ignoresCredentials(context, key, declaration, hooks),
      run: ofAuthor(functionReference(declaration.run)),
      effect: method === "get" && transaction === "read" ? "reads" : "changes",
      isTool:
        declaration.media === undefined &&
        declaration.stream !== true &&
        declaration.body !== "raw",
      declares: "handler",
      errors: declaration.errors ?? [],
      extensions: extensionsOf(declaration),
    },
  );
  const status = declaration.status ?? (hasBody ? 200 : 204);
  return {
    operation: made,
    route: {
      method: method.toUpperCase() as RouteModel["method"],
      path: path || "/",
      isPrefixRoot: false,
      status,
      reply: replyModel(context, key, declaration, hasBody),
    },
    at,
  };
}

/** Reports what only a transaction that commits can have. */
function checkWrites(
  { tree, report }: FamilyContext,
  key: string,
  { idempotency, isolation, retry = 0 }: OperationDeclaration,
  transaction: "read" | "write",
): void {
  if (transaction === "write") return;
  const asked = { idempotency: idempotency === true, isolation: isolation !== undefined };
  for (const [member, isAsked] of Object.entries({ ...asked, retry: retry > 0 }))
    if (isAsked)
      report({
        code: "OPW047",
        message: "this operation does not write",
        at: tree.at("operations", key, member),
      });
}

/** Whether credentials are not looked at. Reports a guard that asks who is calling all the same. */
function ignoresCredentials(
  { tree, report }: FamilyContext,
  key: string,
  { credentials, guard }: OperationDeclaration,
  hooks: readonly HookUse[],
): boolean {
  if (credentials === undefined) return false;
  const asks = hooks.find(({ requires, provides }) =>
    [...requires, ...provides].includes("authn.principal"),
  );
  if (asks !== undefined)
    report({
      code: "OPW078",
      message: `${guard} asks who is calling (${asks.id}), and without credentials that is nobody`,
      at: tree.at("operations", key, "credentials"),
    });
  return true;
}

/** `tasks.completeAll` → `tasks.complete_all`. */
function keyAdvice(key: string): Advice {
  const suggestion = key
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/[^A-Za-z0-9.]+/g, "_")
    .toLowerCase();
  return keyPattern.test(suggestion)
    ? { suggestion }
    : { hint: "Write what it is about, a dot, and what it does: `tasks.complete`." };
}

/** The one method that is given. Reports none, and several. */
function methodOf(
  { tree, report }: FamilyContext,
  key: string,
  declaration: OperationDeclaration,
): MethodKey | undefined {
  const given = methods.filter((method) => declaration[method] !== undefined);
  if (given.length === 1) return given[0];
  const message =
    given.length === 0
      ? "one of get, post, put, patch, delete is missing"
      : `${given.join(" and ")} are both given`;
  const hint = `Keep one: \`${given[0] ?? "get"}: ${declaration[given[0] ?? "get"] ?? `/${key.replace(".", "/")}`}\`.`;
  report({ code: "OPW046", message, at: tree.keyAt("operations", key), hint });
  return undefined;
}

/** What goes in and comes out. Takes the names of the types that are declared for it. */
function typesOf(
  { tree, types }: FamilyContext,
  key: string,
  declaration: OperationDeclaration,
): { readonly input: JsonSchema; readonly output: JsonSchema | null } {
  const at = tree.keyAt("operations", key);
  const typeName = pascalCase(key);
  const read = (member: "in" | "out", given: unknown, name: string): JsonSchema => {
    const schema = types.readType(given, tree.at("operations", key, member), name);
    if (referredType(schema) === undefined) types.table.claim(name, at);
    return schema;
  };
  const input = read("in", declaration.in ?? {}, `${typeName}Input`);
  const output =
    declaration.out === undefined ? null : read("out", declaration.out, `${typeName}Output`);
  types.table.claim(`${typeName}Handler`, at);
  const filled = filledMembers(input, (name) => types.table.schemas.get(name));
  if (Object.keys(filled).length > 0) types.table.claim(filledTypeName(key), at);
  return { input, output };
}

function outputOf(
  { media, stream = false }: OperationDeclaration,
  schema: JsonSchema | null,
): OutputModel {
  if (media === undefined) return jsonOutput(schema, { isStream: stream && schema !== null });
  return media === rowsType && schema !== null ? rowsOutput(schema) : mediaOutput(media);
}

/** Reports what streams, and answers of a media type, have not: a place to be kept, and others. */
function checkMedia(
  { tree, report, types }: FamilyContext,
  key: string,
  { media, stream = false, idempotency }: OperationDeclaration,
  schema: JsonSchema | null,
): void {
  const typeNamed = (name: string): JsonSchema | undefined => types.table.schemas.get(name);
  const refuse = (message: string, member: string): void =>
    report({ code: "OPW016", message, at: tree.at("operations", key, member) });
  if (stream && schema === null) refuse("a stream says by `out` of what it is", "stream");
  if (stream && idempotency === true)
    refuse("a stream is not kept under an Idempotency-Key", "idempotency");
  if (media === undefined) return;
  if (stream) refuse("an answer of a media type is sent as it comes without `stream`", "stream");
  if (schema !== null && media !== rowsType)
    refuse(`only an answer of ${rowsType} has \`out\`, which are its rows`, "media");
  if (schema !== null && media === rowsType && columnsOf(schema, typeNamed).length === 0)
    refuse("the rows of an answer are objects, and their fields its columns", "out");
  if (idempotency === true)
    refuse("an answer of a media type is not kept under an Idempotency-Key", "idempotency");
}

function checkStatus(
  { tree, report }: FamilyContext,
  key: string,
  status: number | undefined,
  hasBody: boolean,
): void {
  if (status === undefined) return;
  const at = tree.at("operations", key, "status");
  if (status > 299)
    report({ code: "OPW013", message: "the status of success is from 200 to 299", at });
  if ((status === 204) === hasBody) {
    const message = hasBody
      ? "a 204 has no body, but there is one"
      : "without `out` the status is 204";
    report({ code: "OPW013", message, at });
  }
}
