// routes/<namespace>.ts: what a reviewer reads. Data before code, 15 to 25 lines an operation.
import { camelCase } from "../model/names.js";
import type { DocumentVerb, HookUse, OperationModel, RegistryModel } from "../model/registry.js";
import { header, type EmittedFile } from "./file.js";
import { callLayout, docComment, importLine, listLayout, literal, sortedUnique } from "./layout.js";
import { importPath, moduleNames, type ModulePaths } from "./module-path.js";
import { namespacesOf, type Namespace } from "./namespaces.js";
import { print } from "./templates.js";
import { validatorOf } from "./validators.js";

const hookMakers: Readonly<Record<HookUse["phase"], string>> = {
  before: "before",
  wrap: "wrap",
  tx_before: "txBefore",
  tx_after: "txAfter",
  after_commit: "afterCommit",
  on_success: "onSuccess",
  on_failure: "onFailure",
  finally: "onFinally",
};

const runners: Readonly<Record<DocumentVerb, string>> = {
  create: "create",
  get: "get",
  update: "update",
  kill: "kill",
  delete: "delete",
  restore: "restore",
  list: "list",
  raw_list: "rawList",
  list_cursor: "listCursor",
  raw_list_cursor: "rawListCursor",
};

const listings: Partial<Record<DocumentVerb, string>> = {
  list: "page",
  raw_list: "rawPage",
  list_cursor: "cursor",
  raw_list_cursor: "rawCursor",
};

/** The name of a document's spec in emitted modules. */
export function specName(document: string): string {
  return `${camelCase(document)}Spec`;
}

export function emitRoutes(model: RegistryModel, paths: ModulePaths): readonly EmittedFile[] {
  return namespacesOf(model).map((namespace) => ({
    path: `routes/${namespace.name}.ts`,
    text: printNamespace(namespace, paths),
  }));
}

function printNamespace(namespace: Namespace, paths: ModulePaths): string {
  const modules = moduleNames(
    paths,
    namespace.operations.flatMap((operation) => functionsOf(operation).map(({ file }) => file)),
    (name) => namespace.operations.some(({ key }) => camelCase(key) === name),
  );
  const views = namespace.operations.map((operation) => viewOf(operation, modules));
  const from = `routes/${namespace.name}.ts`;
  const usesValidators = namespace.operations.some(
    (operation) => validatorOf(operation) !== undefined,
  );
  return print("routes.ts", {
    header: header(namespace.source),
    imports: [
      ...sortedUnique(views.flatMap(({ runtime }) => runtime)).map((name) =>
        importLine(name, "opwright/runtime", false),
      ),
      ...[...modules].map(([file, name]) =>
        importLine(`* as ${name}`, importPath(paths, from, file), false),
      ),
      ...(namespace.document === undefined
        ? []
        : [importLine(specName(namespace.name), `../documents/${namespace.name}.js`, false)]),
      ...(namespace.operations.some(({ run }) => run.kind === "builtIn" && run.takesSpec)
        ? [importLine("identitySpec", "../identity.js", false)]
        : []),
      ...(usesValidators
        ? [importLine("* as validate", `../validators/${namespace.name}.js`, false)]
        : []),
    ],
    operations: views,
  });
}

function functionsOf(
  operation: OperationModel,
): readonly { readonly file: string; readonly name: string }[] {
  const own = operation.run.kind === "function" ? [operation.run.function] : [];
  return [...own, ...operation.hooks.flatMap(({ run }) => run ?? [])];
}

interface OperationView {
  readonly comment: string;
  readonly name: string;
  readonly maker: string;
  readonly lines: readonly string[];
  /** What it imports from the runtime. */
  readonly runtime: readonly string[];
}

function viewOf(operation: OperationModel, modules: ReadonlyMap<string, string>): OperationView {
  const { route, deadlineSeconds } = operation;
  const input = inputText(operation);
  const run = runText(operation, modules);
  const hooks = operation.hooks.map((hook) =>
    hook.run === null
      ? builtInHook(hook)
      : `${hookMakers[hook.phase]}(${modules.get(hook.run.file) ?? ""}.${hook.run.name})`,
  );
  const maker = route === null ? "operation" : "route";
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
      input.text,
      listLayout("  ", "hooks: ", hooks, ["[", "]"], ",").trimStart(),
      `transaction: ${literal(operation.transaction)},`,
      ...(deadlineSeconds === null ? [] : [`deadlineSeconds: ${deadlineSeconds},`]),
      ...(operation.idempotencyKey ? ["idempotencyKey: true,"] : []),
      ...(operation.ignoresCredentials ? ["ignoresCredentials: true,"] : []),
      `run: ${run.text},`,
    ],
    runtime: [
      maker,
      ...input.runtime,
      ...run.runtime,
      ...operation.hooks.map((hook) =>
        hook.run === null ? (hook.id.split(" ", 1)[0] ?? "") : hookMakers[hook.phase],
      ),
    ],
  };
}

interface Fragment {
  readonly text: string;
  readonly runtime: readonly string[];
}

function inputText(operation: OperationModel): Fragment {
  const { parameters, body } = operation.input;
  const validator = validatorOf(operation);
  const validate = `validate.${validator?.name ?? ""}`;
  const listing = operation.run.kind === "document" ? listings[operation.run.verb] : undefined;
  if (listing !== undefined) {
    return {
      text: `input: listing.${listing}(${specName(operation.namespace)}),`,
      runtime: ["listing"],
    };
  }
  const places = parameters.map((parameter) => `${parameter.name}: ${parameterText(parameter)}`);
  const sources = parameters.map(({ in: place }) => (place === "revision" ? "revision" : place));
  const call = (name: string, before: readonly string[], after: readonly string[]): Fragment => ({
    text: `input: ${callLayout("  ", "input: ", name, before, places, after)},`,
    runtime: [name, ...sources],
  });
  if (operation.run.kind !== "function") {
    if (body === null)
      return parameters.length === 0
        ? { text: "input: nothing,", runtime: ["nothing"] }
        : call("params", [], []);
    if (body.as === "input") return call(body.isOptional ? "optionalJson" : "json", [validate], []);
    return call(
      "paramsWith",
      [],
      [literal(typeof body.as === "object" ? body.as.member : ""), validate],
    );
  }
  if (validator === undefined) return { text: "input: nothing,", runtime: ["nothing"] };
  if (body?.as === "input") return call("json", [validate], []);
  return call(body === null ? "parameters" : "request", [validate], []);
}

function parameterText(parameter: OperationModel["input"]["parameters"][number]): string {
  if (parameter.in === "revision")
    return parameter.required ? "revision.required" : "revision.optional";
  if (parameter.in === "path") return `path.${parameter.type}`;
  return parameter.required ? `query.${parameter.type}` : `query.optional.${parameter.type}`;
}

/** `principal`, or `authorize("tasks.read")`. */
function builtInHook({ id, argument }: HookUse): string {
  return argument === null ? id : `${id.split(" ", 1)[0] ?? ""}(${literal(argument)})`;
}

function runText(operation: OperationModel, modules: ReadonlyMap<string, string>): Fragment {
  const { run } = operation;
  switch (run.kind) {
    case "function": {
      const module = modules.get(run.function.file) ?? "";
      return { text: `${module}.${run.function.name}`, runtime: [] };
    }
    case "builtIn":
      return {
        text: `${run.family}.${run.verb}(${run.takesSpec ? "identitySpec" : ""})`,
        runtime: [run.family],
      };
    case "document":
      return {
        text: `documents.${runners[run.verb]}(${specName(run.document)})`,
        runtime: ["documents"],
      };
  }
}
