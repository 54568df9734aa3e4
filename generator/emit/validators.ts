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

/** The validator of a document's whole body, where patches need one. */
export function bodyValidatorName(document: { readonly name: string }): string {
  return `${camelCase(document.name)}Body`;
}

/** Compiles the validators of every namespace; texts that the cache holds are not compiled again. */
export async function emitValidators(
  model: RegistryModel,
  cache: TextCache,
): Promise<readonly EmittedFile[]> {
  const modules = typeModules(model);
  const files: EmittedFile[] = [];
  for (const namespace of namespacesOf(model)) {
    const plans = plansOf(namespace);
    if (plans.length === 0) continue;
    const code = await compiled(plans, model, cache);
    files.push({
      path: `validators/${namespace.name}.ts`,
      text: printNamespace(namespace, plans, code, modules),
    });
  }
  const { realtime } = model;
  if (realtime !== null) {
    const plans = Object.entries(realtime.events).map(([name, { typeName }]) => ({
      name: camelCase(name),
      schema: refTo(typeName),
      typeName,
    }));
    const namespace = { name: "realtime", source: "registry", operations: [], document: undefined };
    const text = printNamespace(namespace, plans, await compiled(plans, model, cache), modules);
    files.push({ path: "validators/realtime.ts", text });
  }
  return files;
}

function plansOf(namespace: Namespace): readonly ValidatorPlan[] {
  const plans = namespace.operations.map(validatorOf).filter((plan) => plan !== undefined);
  const { document } = namespace;
  if (document?.checksBody !== true) return plans;
  return [
    ...plans,
    { name: bodyValidatorName(document), schema: document.bodySchema, typeName: "unknown" },
  ];
}

async function compiled(
  plans: readonly ValidatorPlan[],
  model: RegistryModel,
  cache: TextCache,
): Promise<string> {
  const schemas = checkedSchemas(plans, model);
  const key = createHash("sha256").update(JSON.stringify(schemas)).digest("base64url");
  return cache.get(key, async () => {
    const { compileStandalone } = await import("./ajv-standalone.js");
    return compileStandalone(schemas);
  });
}

/** What a validator's function is named after: its type, which others may share, or itself. */
export function checkName({ name, schema }: Pick<ValidatorPlan, "name" | "schema">): string {
  return (isReference(schema) ? referredType(schema) : undefined) ?? name;
}

/** Whether a schema says nothing but where it leads. */
function isReference(schema: JsonSchema): boolean {
  return typeof schema === "object" && Object.keys(schema).length === 1 && "$ref" in schema;
}

/**
 * A schema for each function: those of validators that are no type, and every type that is met, once. They refer to each
 * other by their names; types that are scalars stand where they are referred to.
 */
export function checkedSchemas(
  plans: readonly Pick<ValidatorPlan, "name" | "schema">[],
  { types }: Pick<RegistryModel, "types">,
): Readonly<Record<string, SchemaObject>> {
  const schemas: Record<string, SchemaObject> = {};
  const found = new Map<string, SchemaObject>();
  const local = (schema: JsonSchema): JsonSchema =>
    mapSchema(schema, (inner) => {
      const type = referredType(inner);
      if (type === undefined) return inner;
      const referred = types[type] ?? true;
      if (isReference(inner) && isScalar(referred)) return referred;
      read(type);
      return { ...inner, $ref: type };
    });
  const read = (type: string): void => {
    if (found.has(type)) return;
    found.set(type, {});
    found.set(type, objectOf(local(types[type] ?? true)));
  };
  for (const plan of plans) {
    const name = checkName(plan);
    if (name === plan.name) schemas[name] = objectOf(local(plan.schema));
    else read(name);
  }
  return Object.assign(
    schemas,
    Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1))),
  );
}

function isScalar(schema: JsonSchema): boolean {
  const holders = ["$ref", "properties", "items", "anyOf", "oneOf", "allOf", "not"];
  return typeof schema === "object" && !holders.some((keyword) => keyword in schema);
}

/** The schema as an object of keywords. */
function objectOf(schema: JsonSchema): SchemaObject {
  return typeof schema === "boolean" ? (schema ? {} : { not: {} }) : schema;
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
  const object = objectOf(local(schema));
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
  return print("validators.ts", {
    header: header(namespace.source),
    imports: [
      ...[...helpers, "validator"].map((name) => importLine(name, "opwright/runtime", false)),
      ...types.map((name) =>
        importLine(name, `../types/${modules.get(name) ?? namespace.name}.js`, true),
      ),
    ],
    code,
    plans: plans.map((plan) => ({ ...plan, check: `${checkName(plan)}Check` })),
  });
}
