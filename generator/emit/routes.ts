// routes/<namespace>.ts: what reviewers read. Data before code, 15 to 25 lines per operation.
import { columnsOf } from "../model/columns.js";
import { authoredIn, callOf, isAuthors, ofRuntime, type Code } from "../model/code.js";
import { camelCase, specName } from "../model/names.js";
import { requiredOf } from "../model/json-schema.js";
import type {
  BodyModel,
  HookUse,
  OperationModel,
  ParameterModel,
  RegistryModel,
} from "../model/registry.js";
import { header, type EmittedFile } from "../print/file.js";
import {
  callLayout,
  docComment,
  importStatements,
  listLayout,
  literal,
  mapMember,
} from "../print/layout.js";
import { bindingOf, hookedTypes } from "../model/hook-types.js";
import type { ModulePaths } from "../print/module-path.js";
import { typeModules } from "../print/type-modules.js";
import { ModuleScope } from "../print/module-scope.js";
import { answerOf, answersModule } from "./answers.js";
import { namespacesOf, type Namespace } from "../model/namespaces.js";
import { print } from "../print/templates.js";
import { errorsMember, findSharedErrors, sharedErrorLines } from "./shared-errors.js";
import { validatorName } from "./validators.js";

/** A module for each namespace. */
export function emitRoutes(model: RegistryModel, paths: ModulePaths): readonly EmittedFile[] {
  const modules = typeModules(model);
  const moduleOf = (type: string, namespace: string): string =>
    `types/${modules.get(type) ?? namespace}`;
  return namespacesOf(model).map((namespace) => ({
    path: `routes/${namespace.name}.ts`,
    text: printNamespace(namespace, paths, {
      usualSeconds: model.service.deadlineSeconds,
      hasErrors: Object.keys(model.errors).length > 0,
      known: model.types,
      moduleOf,
    }),
  }));
}

/** What the routes of all namespaces have in common. */
interface Common {
  readonly usualSeconds: number;
  readonly hasErrors: boolean;
  readonly known: RegistryModel["types"];
  readonly moduleOf: (type: string, namespace: string) => string;
}

function printNamespace(
  { name, operations, source }: Namespace,
  paths: ModulePaths,
  common: Common,
): string {
  const { hasErrors } = common;
  // Only what holds authors' code to its codes prints them.
  const names = operations.map(({ key }) => camelCase(key));
  const errors = findSharedErrors(
    operations.filter((operation) => isHeld(operation, hasErrors)),
    (name) => names.includes(name),
  );
  const scope = new ModuleScope({
    paths,
    path: `routes/${name}.ts`,
    declares: [...names, ...errors.values()],
    authored: operations.flatMap(({ run, hooks }) =>
      [run, ...hooks.map((hook) => hook.run)].flatMap(authoredIn).map(({ file }) => file),
    ),
  });
  const views = operations.map((operation) => {
    const held = isHeld(operation, hasErrors) ? [errorsMember(operation, errors)] : [];
    return viewOf(operation, scope, common, held);
  });
  return print("routes.ts", {
    header: header(source),
    imports: importStatements(scope.imports),
    constants: sharedErrorLines(errors),
    operations: views,
  });
}

interface OperationView {
  readonly comment: string;
  readonly name: string;
  readonly maker: string;
  readonly lines: readonly string[];
}

function viewOf(
  operation: OperationModel,
  scope: ModuleScope,
  common: Common,
  held: readonly string[],
): OperationView {
  const { route, deadlineSeconds, audit } = operation;
  const maker = scope.runtime(route === null ? "operation" : "route");
  const list = (member: string, items: readonly string[]): string =>
    listLayout("  ", `${member}: `, items, ["[", "]"], ",").trimStart();
  return {
    comment: docComment(
      "",
      `${operation.summary.replaceAll(/\s+/g, " ")}. Guard: ${operation.guard}.`,
    ),
    name: camelCase(operation.key),
    maker,
    lines: [
      `operationId: ${literal(operation.key)},`,
      ...(route === null
        ? []
        : [
            `method: ${literal(route.method)},`,
            `path: ${literal(route.path)},`,
            ...(route.isPrefixRoot ? ["prefixRoot: true,"] : []),
            `status: ${route.status},`,
          ]),
      `input: ${inputText(operation, scope)},`,
      list("hooks", hookTexts(operation, scope, common)),
      `transaction: ${literal(operation.transaction)},`,
      // The usual deadline is printed once, in service.ts.
      ...(deadlineSeconds === null || deadlineSeconds === common.usualSeconds
        ? []
        : [`deadlineSeconds: ${deadlineSeconds},`]),
      ...(operation.idempotencyKey ? ["idempotencyKey: true,"] : []),
      ...(operation.isSerializable ? ['isolation: "serializable",'] : []),
      ...(operation.retries === 0 ? [] : [`retries: ${operation.retries},`]),
      ...held,
      ...deprecationLines(operation),
      // These members are about requests, which an operation without a route doesn't get.
      ...(route !== null && operation.ignoresCredentials ? ["ignoresCredentials: true,"] : []),
      ...(route === null || route.reply === null
        ? []
        : [mapMember("  ", "reply", { ...route.reply }).trimStart()]),
      ...(route === null || audit === null ? [] : [list("audit", audit.map(literal))]),
      `run: ${runText(operation, scope, common)},`,
    ],
  };
}

/**
 * The hooks of an operation. Where a document's key may stand in place of its id, the author's see
 * the id: it is looked for once the service has asked who is calling.
 */
function hookTexts(
  operation: OperationModel,
  scope: ModuleScope,
  common: Common,
): readonly string[] {
  const { hooks, input, namespace } = operation;
  const texts = hooks.map((hook) => hookText(operation, hook, scope, common));
  if (!input.parameters.some(({ type }) => type === "key")) return texts;
  const spec = scope.generated(`documents/${namespace}`, specName(namespace));
  const first = hooks.findIndex(({ isAuthored, phase }) => isAuthored && phase === "before");
  return texts.toSpliced(first < 0 ? texts.length : first, 0, `${scope.runtime("byKey")}(${spec})`);
}

/**
 * Whether authors' code may throw errors of the registry: then only those that are declared for the
 * operation.
 */
function isHeld({ run, hooks }: OperationModel, hasErrors: boolean): boolean {
  return (
    hasErrors && [run, ...hooks.map((hook) => hook.run)].some((code) => authoredIn(code).length > 0)
  );
}

/** The days of a deprecated operation, which its responses tell in headers. */
function deprecationLines({ route, deprecated }: OperationModel): readonly string[] {
  if (route === null || deprecated === null) return [];
  const { since, sunset } = deprecated;
  const end = sunset === null ? "" : `, sunset: ${literal(sunset)}`;
  return [`deprecated: { since: ${literal(since)}${end} },`];
}

/** The handler. An author's handler is wrapped, so that it answers what is declared. */
function runText(operation: OperationModel, scope: ModuleScope, { known }: Common): string {
  const { run, route } = operation;
  if (!isAuthors(run)) return scope.code(run);
  const handler =
    route === null || route.reply === null ? run : callOf(ofRuntime("withReply"), run);
  const { schema, isStream, mediaType } = operation.output;
  if (isStream !== true)
    return printChecked("  ", "run: ", "checkAnswers", handler, operation, scope);
  if (mediaType === null || schema === null)
    return printChecked("  ", "run: ", "streamItems", handler, operation, scope);
  const columns = columnsOf(schema, (name) => known[name]).map(literal);
  const list = listLayout("    ", "", columns, ["[", "]"], "").trim();
  return printChecked("  ", "run: ", "streamRows", handler, operation, scope, [list]);
}

/**
 * One hook of the chain. An author's `wrap` hook is wrapped as well, because it can change the
 * answer.
 */
function hookText(
  operation: OperationModel,
  { run, phase, isAuthored, isOwn }: HookUse,
  scope: ModuleScope,
  common: Common,
): string {
  if (!isAuthored || !("call" in run)) return scope.code(run);
  const isTold = operation.declares !== "handler" && bindingOf(operation) === null;
  const types = isOwn === true && isTold ? typeArguments(operation, scope, common) : "";
  const around = run.with.map((code) =>
    phase === "wrap"
      ? printChecked("", "", "checkAnswersAround", code, operation, scope)
      : scope.code(code),
  );
  return callLayout("    ", "", `${scope.code(run.call)}${types}`, around, [], []);
}

/** What the hooks of a built-in operation are held to. */
function typeArguments(
  operation: OperationModel,
  scope: ModuleScope,
  { known, moduleOf }: Common,
): string {
  const { input, output } = hookedTypes(operation, known);
  const given = [input, output].map((type) =>
    type === "undefined" ? type : scope.generatedType(moduleOf(type, operation.namespace), type),
  );
  return `<${given.join(", ")}>`;
}

/** `checkAnswers(answers.tasksComplete, handlersTasks.complete)`. */
function printChecked(
  indent: string,
  prefix: string,
  name: "checkAnswers" | "streamItems" | "streamRows" | "checkAnswersAround",
  code: Code,
  operation: OperationModel,
  scope: ModuleScope,
  first: readonly string[] = [],
): string {
  const plan = answerOf(operation);
  if (plan === undefined) return scope.code(code);
  const maker = scope.runtime(name);
  // What a hook passes on of a stream is sent already as it comes.
  const isAroundStream = operation.output.isStream === true && name === "checkAnswersAround";
  const answer =
    "runtime" in plan || isAroundStream
      ? scope.runtime("runtime" in plan ? plan.runtime : "byteAnswer")
      : "media" in plan
        ? mediaAnswer(plan, scope)
        : `${scope.module(`validators/${answersModule(operation.namespace)}`, "answers")}.${plan.name}`;
  const status = operation.route?.status ?? 200;
  const further = name.startsWith("stream") && status !== 200 ? [String(status)] : [];
  const given = [...first, answer, scope.code(code), ...further];
  return callLayout(indent, prefix, maker, given, [], []);
}

/** `mediaAnswer("text/csv")`, with the status where that is not 200. */
function mediaAnswer(
  { media, status }: { readonly media: string; readonly status: number },
  scope: ModuleScope,
): string {
  const given = [literal(media), ...(status === 200 ? [] : [String(status)])];
  return `${scope.runtime("mediaAnswer")}(${given.join(", ")})`;
}

/**
 * The code that reads the input: `json(validate.tasksCreate)`, `params({ id: path.uuid })`,
 * `listing.page(tasksSpec)`.
 */
function inputText(operation: OperationModel, scope: ModuleScope): string {
  const { parameters, body, read } = operation.input;
  if (typeof read === "object") return scope.code(read);
  const validator = validatorName(operation);
  if (validator === undefined && parameters.length === 0) return scope.runtime("nothing");
  const validate =
    validator === undefined
      ? []
      : [`${scope.module(`validators/${operation.namespace}`, "validate")}.${validator}`];
  const places = parameters.map(
    (parameter) => `${parameter.name}: ${parameterText(parameter, scope)}`,
  );
  const call = (name: string, before: readonly string[], after: readonly string[]): string =>
    callLayout("  ", "input: ", scope.runtime(name), before, places, after);
  if (body !== null && body.media !== null) {
    const fields = body.media === "*/*" ? [] : fieldTexts(body, scope);
    const name = body.media === "*/*" ? "rawBody" : "formBody";
    return callLayout("  ", "input: ", scope.runtime(name), validate, [...places, ...fields], []);
  }
  if (body?.as === "input") return call(body.isOptional ? "optionalJson" : "json", validate, []);
  if (read === "whole") return call(body === null ? "parameters" : "request", validate, []);
  if (body === null) return call("params", [], []);
  const member = typeof body.as === "object" ? body.as.member : "";
  return call("paramsWith", [], [literal(member), ...validate]);
}

/** The fields of a form: `title: field.string`. */
function fieldTexts({ schema, fields }: BodyModel, scope: ModuleScope): readonly string[] {
  const required = requiredOf(schema);
  return Object.entries(fields).map(([name, type]) => {
    const of = required.includes(name) ? type : `optional.${type}`;
    return `${name}: ${scope.runtime(`field.${of}`)}`;
  });
}

function parameterText({ in: place, type, required }: ParameterModel, scope: ModuleScope): string {
  if (place === "revision") return scope.runtime(`revision.${required ? "required" : "optional"}`);
  // The document's key is a text, in place of which a hook puts the id.
  const read = type === "key" ? "string" : type;
  if (place === "path") return scope.runtime(`path.${read}`);
  return scope.runtime(required ? `query.${read}` : `query.optional.${read}`);
}
