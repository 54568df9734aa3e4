// validators/<namespace>.ts: Ajv standalone code, compiled at build; the server compiles no schema.
import { createHash } from "node:crypto";
import {
  mapSchema,
  referredType,
  refTo,
  type JsonSchema,
  type SchemaObject,
} from "../model/json-schema.js";
import { camelCase } from "../model/names.js";
import type { OperationModel, RegistryModel } from "../model/registry.js";
import type { TextCache } from "../output/text-cache.js";
import { header, type EmittedFile } from "./file.js";
import { importLine, sortedUnique } from "./layout.js";
import { namespacesOf, type Namespace } from "./namespaces.js";
import { freeName } from "./printed-names.js";
import { print } from "./templates.js";
import { typeModules } from "./types.js";

/** One validator: its export, its schema, the type it proves. */
interface ValidatorPlan {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly typeName: string;
}

/** The validator that checks an operation's body or input, or undefined where the runtime's own checks do. */
export function validatorOf(operation: OperationModel): ValidatorPlan | undefined {
  const { body, schema, typeName, parameters } = operation.input;
  const name = camelCase(operation.key);
  if (operation.run.kind === "function") {
    return body === null && parameters.length === 0 ? undefined : { name, schema, typeName };
  }
  if (operation.run.kind === "builtIn" || operation.run.kind === "storage") {
    if (body === null || body.isForm === true) return undefined;
    return { name, schema: body.schema, typeName: body.typeName };
  }
  if (operation.run.kind === "search") return undefined;
  const { verb } = operation.run;
  if (body === null || (verb !== "create" && verb !== "update")) return undefined;
  return { name, schema: body.schema, typeName: body.typeName };
}

/** The validator of a document's whole body, where patches need one: no operation of its namespace is called so. */
export function bodyValidatorName(
  document: { readonly name: string },
  { operations }: Pick<RegistryModel, "operations">,
): string {
  const names = new Set(
    Object.values(operations)
      .filter(({ namespace }) => namespace === document.name)
      .map(({ key }) => camelCase(key)),
  );
  return freeName(`${camelCase(document.name)}Body`, (name) => names.has(name));
}

/** The module of the signals' validators: no namespace has its name. */
export const signalValidators = "realtime-signals";

/** The validators of signals by their names: `a.b_c` and `a_b.c` are told apart in code as well. */
export function signalValidatorNames(events: Iterable<string>): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const event of events) {
    const name = freeName(camelCase(event), (wanted) => taken.has(wanted));
    names.set(event, name);
    taken.add(name);
  }
  return names;
}

/** Compiles the validators of every namespace; texts that the cache holds are not compiled again. */
export async function emitValidators(
  model: RegistryModel,
  cache: TextCache,
): Promise<readonly EmittedFile[]> {
  const modules = typeModules(model);
  const files: EmittedFile[] = [];
  for (const namespace of namespacesOf(model)) {
    const plans = plansOf(namespace, model);
    if (plans.length === 0) continue;
    const code = await compiled(plans, model, cache);
    files.push({
      path: `validators/${namespace.name}.ts`,
      text: printNamespace(namespace, plans, code, modules),
    });
  }
  const { realtime } = model;
  if (realtime !== null) {
    const names = signalValidatorNames(Object.keys(realtime.events));
    const plans = Object.entries(realtime.events).map(([event, { typeName }]) => ({
      name: names.get(event) ?? "",
      schema: refTo(typeName),
      typeName,
    }));
    const namespace = { name: "realtime", source: "registry", operations: [], document: undefined };
    const text = printNamespace(namespace, plans, await compiled(plans, model, cache), modules);
    files.push({ path: `validators/${signalValidators}.ts`, text });
  }
  return files;
}

function plansOf(namespace: Namespace, model: RegistryModel): readonly ValidatorPlan[] {
  const plans = namespace.operations.map(validatorOf).filter((plan) => plan !== undefined);
  const { document } = namespace;
  if (document?.checksBody !== true) return plans;
  return [
    ...plans,
    { name: bodyValidatorName(document, model), schema: document.bodySchema, typeName: "unknown" },
  ];
}

/** The function of Ajv's behind a validator. */
function checkName(validator: string): string {
  return `${validator}Check`;
}

async function compiled(
  plans: readonly ValidatorPlan[],
  model: RegistryModel,
  cache: TextCache,
): Promise<string> {
  const schemas = Object.fromEntries(
    plans.map(({ name, schema }) => [name, bundled(schema, model)]),
  );
  const key = createHash("sha256").update(JSON.stringify(schemas)).digest("base64url");
  return cache.get(key, async () => {
    const { compileStandalone } = await import("./ajv-standalone.js");
    return compileStandalone(schemas, checkName);
  });
}

/** The schema with the types that it refers to as definitions of its own. */
export function bundled(schema: JsonSchema, model: Pick<RegistryModel, "types">): SchemaObject {
  const definitions: Record<string, JsonSchema> = {};
  const local = (part: JsonSchema): JsonSchema =>
    mapSchema(part, (inner) => {
      const type = referredType(inner);
      if (type === undefined) return inner;
      if (!Object.hasOwn(definitions, type)) {
        definitions[type] = true;
        definitions[type] = local(model.types[type] ?? true);
      }
      return { ...inner, $ref: `#/$defs/${type}` };
    });
  const root = local(schema);
  const object = typeof root === "boolean" ? (root ? {} : { not: {} }) : root;
  if (Object.keys(definitions).length === 0) return object;
  return {
    ...object,
    $defs: Object.fromEntries(Object.entries(definitions).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function printNamespace(
  namespace: Namespace,
  plans: readonly ValidatorPlan[],
  code: string,
  modules: ReadonlyMap<string, string>,
): string {
  const helpers = ["codePointLength", "formats", "jsonEqual"].filter((name) => code.includes(name));
  const types = sortedUnique(plans.map(({ typeName }) => typeName)).filter(
    (name) => name !== "unknown",
  );
  const taken = new Set([...helpers, ...plans.map(({ name }) => checkName(name))]);
  return print("validators.ts", {
    header: header(namespace.source),
    imports: [
      ...[...helpers, "validator"].map((name) => importLine(name, "opwright/runtime", false)),
      ...types.map((name) =>
        importLine(name, `../types/${modules.get(name) ?? namespace.name}.js`, true),
      ),
    ],
    code,
    lines: plans.flatMap(({ name, typeName }) => {
      const local = freeName(name, (wanted) => taken.has(wanted));
      const value = `validator<${typeName}>(${checkName(name)})`;
      if (local === name) return [`export const ${name} = ${value};`];
      return [`const ${local} = ${value};`, `export { ${local} as ${name} };`];
    }),
  });
}
