// validators/<namespace>.ts: Ajv standalone code, compiled at build; the server compiles no schema.
import { createHash } from "node:crypto";
import {
  mapSchema,
  referredType,
  type JsonSchema,
  type SchemaObject,
} from "../model/json-schema.js";
import { camelCase } from "../model/names.js";
import { families } from "../families/index.js";
import type { ValidatorPlan } from "../model/validator-plan.js";
import type { OperationModel, RegistryModel } from "../model/registry.js";
import type { TextCache } from "../output/text-cache.js";
import { header, type EmittedFile } from "../print/file.js";
import { importOf, importStatements, sortedUnique } from "../print/layout.js";
import { freeName, printedNames } from "../print/printed-names.js";
import { namespacesOf } from "./namespaces.js";
import { print } from "../print/templates.js";
import { typeModules } from "../print/type-modules.js";

/** The validator that checks an operation's body or input, or undefined where the runtime's own checks do. */
export function validatorOf(operation: OperationModel): ValidatorPlan | undefined {
  const { body, schema, typeName, parameters, read } = operation.input;
  const name = camelCase(operation.key);
  if (read === "whole")
    return body === null && parameters.length === 0 ? undefined : { name, schema, typeName };
  return read !== "parts" || body === null
    ? undefined
    : { name, schema: body.schema, typeName: body.typeName };
}

/** Compiles the validators of every module; texts that the cache holds are not compiled again. */
export async function emitValidators(
  model: RegistryModel,
  cache: TextCache,
): Promise<readonly EmittedFile[]> {
  const modules = typeModules(model);
  const files: EmittedFile[] = [];
  for (const module of validatorModules(model)) {
    const code = await compiled(checkedSchemas(module.plans, model), cache);
    files.push({ path: `validators/${module.name}.ts`, text: printModule(module, code, modules) });
  }
  return files;
}

interface ValidatorModule {
  readonly name: string;
  readonly source: string;
  readonly plans: readonly ValidatorPlan[];
}

/** The modules that have validators: of the operations of a namespace, and of what families add. */
function validatorModules(model: RegistryModel): readonly ValidatorModule[] {
  const further = new Map<string, readonly ValidatorPlan[]>(
    families.flatMap((family) => Object.entries(family.validators(model))),
  );
  const ofNamespaces = namespacesOf(model).map(({ name, source, operations }) => {
    const own = operations.map(validatorOf).filter((plan) => plan !== undefined);
    return { name, source, plans: [...own, ...(further.get(name) ?? [])] };
  });
  const others = [...further]
    .filter(([name]) => ofNamespaces.every((module) => module.name !== name))
    .map(([name, plans]) => ({ name, source: "registry", plans }));
  // What a family asks for is imported, also where it is empty.
  return [...ofNamespaces.filter(({ plans }) => plans.length > 0), ...others];
}

/** The function of Ajv's behind a schema of that name. */
export function functionName(name: string): string {
  return `${name}Check`;
}

/** The functions of schemas that refer to each other by their names; texts that the cache holds are not compiled again. */
export async function compiled(
  schemas: Readonly<Record<string, SchemaObject>>,
  cache: TextCache,
): Promise<string> {
  const key = createHash("sha256").update(JSON.stringify(schemas)).digest("base64url");
  return cache.get(key, async () => {
    const { compileStandalone } = await import("./ajv-standalone.js");
    return compileStandalone(schemas, functionName);
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

/** The names of the runtime's that compiled functions use. */
export function helpersOf(code: string): readonly string[] {
  return ["codePointLength", "formats", "jsonEqual"].filter((name) => code.includes(name));
}

function printModule(
  { name: module, source, plans }: ValidatorModule,
  code: string,
  modules: ReadonlyMap<string, string>,
): string {
  const taken = printedNames(code);
  const helpers = helpersOf(code);
  const types = sortedUnique(plans.map(({ typeName }) => typeName)).filter(
    (name) => name !== "unknown",
  );
  return print("validators.ts", {
    header: header(source),
    imports: importStatements([
      ...[...helpers, "validator"].map((name) => importOf(name, "opwright/runtime", false)),
      ...types.map((name) => importOf(name, `../types/${modules.get(name) ?? module}.js`, true)),
    ]),
    code,
    lines: plans.flatMap((plan) => {
      const { name, typeName } = plan;
      const local = freeName(name, (wanted) => helpers.includes(wanted) || taken.has(wanted));
      const value = `validator<${typeName}>(${functionName(checkName(plan))})`;
      if (local === name) return [`export const ${name} = ${value};`];
      return [`const ${local} = ${value};`, `export { ${local} as ${name} };`];
    }),
  });
}
