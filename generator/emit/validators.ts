// validators/<namespace>.ts: Ajv standalone code, compiled at build; the server compiles no schema.
import { createHash } from "node:crypto";
import {
  listKeywords,
  mapKeywords,
  mapSchema,
  referredType,
  schemaKeywords,
  type JsonSchema,
  type SchemaObject,
} from "../model/json-schema.js";
import { handledTypeName } from "../model/filled-input.js";
import { camelCase } from "../model/names.js";
import { sortedRecord } from "../model/records.js";
import { families } from "../families/index.js";
import { functionName, type ValidatorPlan } from "../model/validator-plan.js";
import type { OperationModel, RegistryModel } from "../model/registry.js";
import type { TextCache } from "../output/text-cache.js";
import { header, type EmittedFile } from "../print/file.js";
import { importOf, importStatements, sortedUnique } from "../print/layout.js";
import { freeName, printedNames } from "../print/printed-names.js";
import { compileAside } from "./compiler.js";
import { namespacesOf } from "./namespaces.js";
import { print } from "../print/templates.js";
import { typeModules } from "../print/type-modules.js";

/** The name of the validator that checks an operation's body or input; undefined if the runtime's own checks suffice. */
export function validatorName({ key, input }: OperationModel): string | undefined {
  const { body, parameters, read } = input;
  const isChecked =
    read === "whole" ? body !== null || parameters.length > 0 : read === "parts" && body !== null;
  return isChecked ? camelCase(key) : undefined;
}

function validatorOf(operation: OperationModel, { types }: RegistryModel): ValidatorPlan[] {
  const name = validatorName(operation);
  if (name === undefined) return [];
  const { schema, body, read } = operation.input;
  if (read !== "whole" && body !== null)
    return [{ name, schema: body.schema, typeName: body.typeName }];
  const fillsDefaults = operation.declares === "handler";
  return [{ name, schema, typeName: handledTypeName(operation, types), fillsDefaults }];
}

/** Compiles the validators of every module, except texts that are cached. */
export async function emitValidators(
  model: RegistryModel,
  cache: TextCache,
): Promise<readonly EmittedFile[]> {
  const modules = typeModules(model);
  return Promise.all(
    validatorModules(model).map(async (module) => {
      const code = await compiled(checkedSchemas(module.plans, model), cache);
      return {
        path: `validators/${module.name}.ts`,
        text: printModule(module, model, code, modules),
      };
    }),
  );
}

interface ValidatorModule {
  readonly name: string;
  readonly source: string;
  readonly plans: readonly ValidatorPlan[];
}

/** The modules with validators: those of namespaces, and those that families add. */
function validatorModules(model: RegistryModel): readonly ValidatorModule[] {
  const further = new Map<string, readonly ValidatorPlan[]>(
    families.flatMap((family) => Object.entries(family.validators(model))),
  );
  const ofNamespaces = namespacesOf(model).map(({ name, source, operations }) => {
    const own = operations.flatMap((operation) => validatorOf(operation, model));
    return { name, source, plans: [...own, ...(further.get(name) ?? [])] };
  });
  const others = [...further]
    .filter(([name]) => ofNamespaces.every((module) => module.name !== name))
    .map(([name, plans]) => ({ name, source: "registry", plans }));
  // A family's module is printed even if it has no validators, because other modules import it.
  return [...ofNamespaces.filter(({ plans }) => plans.length > 0), ...others];
}

/** The text of the functions that check schemas, which refer to each other by name. Compiles it unless it is cached. */
export async function compiled(
  schemas: Readonly<Record<string, SchemaObject>>,
  cache: TextCache,
): Promise<string> {
  const key = createHash("sha256").update(JSON.stringify(schemas)).digest("base64url");
  return cache.get(key, () => compileAside(schemas));
}

/** The schema that a validator's function checks, by name: its type, which validators can share, or one of its own. */
export function checkName(
  { name, schema, fillsDefaults }: Pick<ValidatorPlan, "name" | "schema" | "fillsDefaults">,
  { types }: Pick<RegistryModel, "types">,
): string {
  const type = isReference(schema) ? referredType(schema) : undefined;
  if (type === undefined) return name;
  return fillsDefaults === true && holdsDefaults(type, types) ? filledName(type) : type;
}

/** The name of a type's schema with defaults that are filled in; no type has such a name. */
function filledName(type: string): string {
  return `${type}_filled`;
}

/** Whether a type, or one that it refers to, has a member with a default. */
function holdsDefaults(type: string, types: RegistryModel["types"]): boolean {
  const seen = new Set<string>();
  const look = (name: string): boolean => {
    if (seen.has(name)) return false;
    seen.add(name);
    let found = false;
    mapSchema(types[name] ?? true, (inner) => {
      const referred = referredType(inner);
      found ||= "default" in inner || (referred !== undefined && look(referred));
      return inner;
    });
    return found;
  };
  return look(type);
}

/** Whether a schema is a reference and nothing else. */
function isReference(schema: JsonSchema): boolean {
  return typeof schema === "object" && Object.keys(schema).length === 1 && "$ref" in schema;
}

/**
 * A schema for each function, by name: of validators that check no named type, and of every type that is needed, once. They
 * refer to each other by name; scalar types are inlined. `default` stays only where it is filled in.
 */
export function checkedSchemas(
  plans: readonly Pick<ValidatorPlan, "name" | "schema" | "fillsDefaults">[],
  { types }: Pick<RegistryModel, "types">,
): Readonly<Record<string, SchemaObject>> {
  const schemas: Record<string, SchemaObject> = {};
  const found = new Map<string, SchemaObject>();
  const local = (schema: JsonSchema, fills: boolean): JsonSchema =>
    mapSchema(schema, (whole) => {
      const inner = fills ? whole : withoutDefault(whole);
      const type = referredType(inner);
      if (type === undefined) return inner;
      const referred = types[type] ?? true;
      if (isReference(inner) && isScalar(referred))
        return fills ? referred : withoutDefault(objectOf(referred));
      return { ...inner, $ref: read(type, fills) };
    });
  const read = (type: string, fills: boolean): string => {
    const isFilled = fills && holdsDefaults(type, types);
    const name = isFilled ? filledName(type) : type;
    if (found.has(name)) return name;
    found.set(name, {});
    found.set(name, objectOf(local(types[type] ?? true, isFilled)));
    return name;
  };
  for (const plan of plans) {
    const fills = plan.fillsDefaults === true;
    const type = isReference(plan.schema) ? referredType(plan.schema) : undefined;
    if (type === undefined) schemas[plan.name] = objectOf(local(plan.schema, fills));
    else read(type, fills);
  }
  return Object.assign(schemas, sortedRecord(found));
}

function withoutDefault(schema: SchemaObject): SchemaObject {
  if (!("default" in schema)) return schema;
  const { default: _unused, ...rest } = schema;
  return rest;
}

const holders: ReadonlySet<string> = new Set([
  "$ref",
  ...mapKeywords,
  ...listKeywords,
  ...schemaKeywords,
]);

/** Whether a schema has no subschemas, so that it can be inlined. */
function isScalar(schema: JsonSchema): boolean {
  if (typeof schema === "boolean") return false;
  return Object.entries(schema).every(
    ([keyword, value]) => !holders.has(keyword) || typeof value === "boolean",
  );
}

/** The schema as an object of keywords. */
function objectOf(schema: JsonSchema): SchemaObject {
  return typeof schema === "boolean" ? (schema ? {} : { not: {} }) : schema;
}

/** The schema with all types that it needs under its own `$defs`. */
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
    $defs: sortedRecord(Object.entries(definitions)),
  };
}

/** The helpers of the runtime that compiled functions use. */
export function helpersOf(code: string): readonly string[] {
  return ["codePointLength", "formats", "isMultipleOf", "jsonEqual"].filter((name) =>
    code.includes(name),
  );
}

function printModule(
  { name: module, source, plans }: ValidatorModule,
  model: RegistryModel,
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
      const value = `validator<${typeName}>(${functionName(checkName(plan, model))})`;
      if (local === name) return [`export const ${name} = ${value};`];
      return [`const ${local} = ${value};`, `export { ${local} as ${name} };`];
    }),
  });
}
