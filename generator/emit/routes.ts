// routes/<namespace>.ts: what a reviewer reads. Data before code, 15 to 25 lines an operation.
import { camelCase } from "../model/names.js";
import { own } from "../model/records.js";
import type {
  DocumentVerb,
  FunctionReference,
  HookRunner,
  HookUse,
  OperationModel,
  RegistryModel,
} from "../model/registry.js";
import { isDirect, type StorageVerb } from "../model/storage-verbs.js";
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
  agg_list: "aggList",
};

const listings: Partial<Record<DocumentVerb, string>> = {
  list: "page",
  raw_list: "rawPage",
  list_cursor: "cursor",
  raw_list_cursor: "rawCursor",
};

/** Inputs of storages that are no JSON body alone, by their names in the runtime. */
const storageInputs: Partial<Record<StorageVerb, string>> = {
  upload: "upload",
  download: "download",
  head: "download",
  download_stream: "key",
  download_range: "range",
  delete: "key",
};

/** The name of the spec of a document or a search in emitted modules. */
export function specName(document: string): string {
  return `${camelCase(document)}Spec`;
}

export function emitRoutes(model: RegistryModel, paths: ModulePaths): readonly EmittedFile[] {
  return namespacesOf(model).map((namespace) => ({
    path: `routes/${namespace.name}.ts`,
    text: printNamespace(namespace, paths, model.service.deadlineSeconds),
  }));
}

function printNamespace(namespace: Namespace, paths: ModulePaths, usualSeconds: number): string {
  const files = namespace.operations.flatMap((operation) =>
    functionsOf(operation).map(({ file }) => file),
  );
  const named = new Set(
    files.length === 0
      ? []
      : [...importedNames(namespace), ...namespace.operations.map(({ key }) => camelCase(key))],
  );
  const modules = moduleNames(paths, files, (name) => named.has(name));
  const views = namespace.operations.map((operation) => viewOf(operation, modules, usualSeconds));
  const { ofRuntime, ofService } = importsOf(namespace, views);
  return print("routes.ts", {
    header: header(namespace.source),
    imports: [
      ...ofRuntime.map((name) => importLine(name, "opwright/runtime", false)),
      ...[...modules].map(([file, name]) =>
        importLine(`* as ${name}`, importPath(paths, `routes/${namespace.name}.ts`, file), false),
      ),
      ...ofService.map(([name, from]) => importLine(name, from, false)),
      ...(namespace.operations.some((operation) => validatorOf(operation) !== undefined)
        ? [importLine(`* as ${validators}`, `../validators/${namespace.name}.js`, false)]
        : []),
    ],
    operations: views,
  });
}

const validators = "validate";

/** What the routes of a namespace import besides the author's files: by these names no operation of it may go. */
export function importedNames(namespace: Namespace): readonly string[] {
  const views = namespace.operations.map((operation) => viewOf(operation, new Map(), 0));
  const { ofRuntime, ofService } = importsOf(namespace, views);
  return [...ofRuntime, ...ofService.map(([name]) => name), validators];
}

function importsOf(
  namespace: Namespace,
  views: readonly OperationView[],
): {
  readonly ofRuntime: readonly string[];
  readonly ofService: readonly (readonly [name: string, from: string])[];
} {
  const { name, operations } = namespace;
  const ownSpec = (kind: "search" | "storage"): readonly (readonly [string, string])[] =>
    operations.some(({ run }) => run.kind === kind)
      ? [[specName(name), `../${kind}/${name}.js`]]
      : [];
  const takesSpec = operations.some(({ run }) => run.kind === "builtIn" && run.takesSpec);
  const bound = [...views.flatMap((view) => view.bound), ...(takesSpec ? ["identitySpec"] : [])];
  return {
    ofRuntime: sortedUnique(views.flatMap(({ runtime }) => runtime)),
    ofService: [
      ...documentsOf(namespace).map((one) => [specName(one), `../documents/${one}.js`] as const),
      ...ownSpec("search"),
      ...ownSpec("storage"),
      ...sortedUnique(bound).map((one) => [one, "../identity.js"] as const),
    ],
  };
}

/** Documents whose specs the routes name: the namespace's own, and those that scopes narrow. */
function documentsOf({ document, operations }: Namespace): readonly string[] {
  const scoped = operations.flatMap(({ hooks }) =>
    hooks.flatMap(({ run }) =>
      run.kind === "function"
        ? []
        : (run.arguments ?? []).flatMap((argument) =>
            "document" in argument ? [argument.document] : [],
          ),
    ),
  );
  return sortedUnique([...(document === undefined ? [] : [document.name]), ...scoped]);
}

function functionsOf(operation: OperationModel): readonly FunctionReference[] {
  const own = operation.run.kind === "function" ? [operation.run.function] : [];
  return [...own, ...operation.hooks.flatMap(({ run }) => functionsOfHook(run))];
}

function functionsOfHook(run: HookRunner): readonly FunctionReference[] {
  if (run.kind === "function") return [run.function];
  return (run.arguments ?? []).flatMap((argument) =>
    "function" in argument ? [argument.function] : [],
  );
}

interface OperationView {
  readonly comment: string;
  readonly name: string;
  readonly maker: string;
  readonly lines: readonly string[];
  /** What it imports from the runtime. */
  readonly runtime: readonly string[];
  /** What it imports from identity.ts: hooks that are bound to the service. */
  readonly bound: readonly string[];
}

function viewOf(
  operation: OperationModel,
  modules: ReadonlyMap<string, string>,
  usualSeconds: number,
): OperationView {
  const { route, deadlineSeconds } = operation;
  const input = inputText(operation);
  const run = runText(operation, modules);
  const hooks = operation.hooks.map((hook) => hookFragment(hook, modules));
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
      listLayout(
        "  ",
        "hooks: ",
        hooks.map(({ text }) => text),
        ["[", "]"],
        ",",
      ).trimStart(),
      `transaction: ${literal(operation.transaction)},`,
      // What the service says for all is said once.
      ...(deadlineSeconds === null || deadlineSeconds === usualSeconds
        ? []
        : [`deadlineSeconds: ${deadlineSeconds},`]),
      ...(operation.idempotencyKey ? ["idempotencyKey: true,"] : []),
      // Both are about requests: what has no route gets none.
      ...(route !== null && operation.ignoresCredentials ? ["ignoresCredentials: true,"] : []),
      ...(route === null || operation.audit === null
        ? []
        : [
            listLayout(
              "  ",
              "audit: ",
              operation.audit.map((name) => literal(name)),
              ["[", "]"],
              ",",
            ).trimStart(),
          ]),
      `run: ${run.text},`,
    ],
    bound: hooks.flatMap(({ bound }) => bound),
    runtime: [maker, ...input.runtime, ...run.runtime, ...hooks.flatMap(({ runtime }) => runtime)],
  };
}

interface Fragment {
  readonly text: string;
  readonly runtime: readonly string[];
}

function inputText(operation: OperationModel): Fragment {
  const { parameters, body } = operation.input;
  const validator = validatorOf(operation);
  const validate = `${validators}.${validator?.name ?? ""}`;
  if (operation.run.kind === "search") {
    const spec = specName(operation.run.search);
    const text = `input: searchInput.${camelCase(operation.run.verb)}(${spec}),`;
    return { text, runtime: ["searchInput"] };
  }
  if (operation.run.kind === "document" && operation.run.verb === "agg_list")
    return { text: `input: aggInput(${specName(operation.namespace)}),`, runtime: ["aggInput"] };
  const listing = operation.run.kind === "document" ? listings[operation.run.verb] : undefined;
  if (listing !== undefined) {
    return {
      text: `input: listing.${listing}(${specName(operation.namespace)}),`,
      runtime: ["listing"],
    };
  }
  const bound =
    operation.run.kind === "storage" ? own(storageInputs, operation.run.verb) : undefined;
  if (bound !== undefined)
    return { text: `input: storageInput.${bound},`, runtime: ["storageInput"] };
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

interface HookFragment extends Fragment {
  readonly bound: readonly string[];
}

/** `principal`, `authorize("tasks.read")`, `before(hooks.check)`. */
function hookFragment({ run, phase }: HookUse, modules: ReadonlyMap<string, string>): HookFragment {
  const author = ({ file, name }: FunctionReference): string =>
    `${modules.get(file) ?? ""}.${name}`;
  if (run.kind === "function") {
    const maker = hookMakers[phase];
    return { text: `${maker}(${author(run.function)})`, runtime: [maker], bound: [] };
  }
  const given = (run.arguments ?? []).map((argument) => {
    if ("literal" in argument) return literal(argument.literal);
    if ("document" in argument) return specName(argument.document);
    return "function" in argument ? author(argument.function) : argument.runtime;
  });
  const fromRuntime = (run.arguments ?? []).flatMap((argument) =>
    "runtime" in argument ? [argument.runtime] : [],
  );
  return {
    text: run.arguments === null ? run.name : `${run.name}(${given.join(", ")})`,
    runtime: run.isBound ? fromRuntime : [run.name, ...fromRuntime],
    bound: run.isBound ? [run.name] : [],
  };
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
    case "storage": {
      const verb =
        run.verb === "download" && !run.isStreamed ? "downloadBuffered" : camelCase(run.verb);
      const handlers = isDirect(run.verb) ? "direct" : "storage";
      return { text: `${handlers}.${verb}(${specName(run.storage)})`, runtime: [handlers] };
    }
    case "search":
      return {
        text: `search.${camelCase(run.verb)}(${specName(run.search)})`,
        runtime: ["search"],
      };
    case "document":
      if (run.verb === "agg_list")
        return { text: `aggList(${specName(run.document)})`, runtime: ["aggList"] };
      return {
        text: `documents.${runners[run.verb]}(${specName(run.document)})`,
        runtime: ["documents"],
      };
  }
}
