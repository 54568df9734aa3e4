// registry.json: writes the registry without what can be derived or is usual, and reads it back.
import { isDeepStrictEqual } from "node:util";
import { objectSchema, propertiesOf, referredType, requiredOf } from "./json-schema.js";
import type { JsonSchema } from "./json-schema.js";
import { mapRecord, own, sortedRecord } from "./records.js";
import { emptyParts, type ModelParts } from "./model-parts.js";
import { usualBody } from "./registry.js";
import type {
  BodyModel,
  FamilyModels,
  HookUse,
  InputModel,
  OperationModel,
  OutputModel,
  RegistryModel,
  RouteModel,
} from "./registry.js";
import { usualOperation } from "./usual-operation.js";

type Types = RegistryModel["types"];

/** The usual value of members; a member that has it is left out of registry.json. */
const usual = {
  operation: usualOperation,
  route: { isPrefixRoot: false, status: 200, reply: null },
  output: { schema: null, hasEntityTag: false, isBytes: false, mediaType: null, isStream: false },
  input: { parameters: [], body: null, read: "parts" },
  body: usualBody,
  service: { was: null, errors: null, slo: null },
} as const satisfies {
  readonly operation: Partial<OperationModel>;
  readonly route: Partial<RouteModel>;
  readonly output: Partial<OutputModel>;
  readonly input: Partial<InputModel>;
  readonly body: Partial<BodyModel>;
  readonly service: Partial<RegistryModel["service"]>;
};

/** Parts of a model, each changed by its usual values. */
function partsBy(
  models: FamilyModels,
  known: ModelParts,
  change: (usually: object, value: object) => object,
): Partial<FamilyModels> {
  const parts: Record<string, unknown> = {};
  for (const [part, value] of Object.entries<object | null | undefined>({ ...models })) {
    if (value === null || value === undefined) continue;
    const { usually, ofEach } = own(known, part) ?? {};
    if (usually !== undefined) parts[part] = change(usually, value);
    if (ofEach !== undefined)
      parts[part] = mapRecord(value as Readonly<Record<string, object>>, (one) =>
        change(ofEach, one),
      );
  }
  return parts;
}

/**
 * The registry as it is committed: without anything that follows from the rest, so that a change
 * shows up once in a diff.
 */
export function freezeRegistry(model: RegistryModel, parts: ModelParts): object {
  const hooks = new Map<string, HookUse>();
  const operations = Object.entries(model.operations).map(([key, operation]) => {
    const { key: _key, namespace: _namespace, name: _name, ...rest } = operation;
    return [
      key,
      without(usual.operation, {
        ...rest,
        hooks: operation.hooks.map((hook) => hookKey(hook, hooks)),
        input: frozenInput(operation.input, model.types),
        output: without(usual.output, operation.output),
        route: operation.route === null ? null : without(usual.route, operation.route),
      }),
    ];
  });
  return {
    ...model,
    service: without(usual.service, model.service),
    ...partsBy(model, parts, without),
    hooks: sortedRecord(hooks),
    operations: Object.fromEntries(operations),
  };
}

/**
 * Adds a hook to `known` and returns its key there: its id, numbered if another hook has that id.
 * Equal hooks share a key.
 */
function hookKey(hook: HookUse, known: Map<string, HookUse>): string {
  for (let number = 1; ; number += 1) {
    const key = number === 1 ? hook.id : `${hook.id} (${number})`;
    const other = known.get(key);
    if (other !== undefined && other !== hook && !isDeepStrictEqual(other, hook)) continue;
    known.set(key, hook);
    return key;
  }
}

/**
 * The model from a committed registry.json, of this version or of one that left nothing out. Throws
 * a TypeError if it has another shape, here or when it is compared.
 */
export function thawRegistry(committed: object, parts: ModelParts): RegistryModel {
  // The shape isn't checked: reading a member that is missing throws.
  const { hooks: shared = {}, ...model } = committed as RegistryModel & {
    readonly hooks?: Readonly<Record<string, HookUse>>;
  };
  const thawHook = hookThawer(model, parts);
  const operations = Object.entries(model.operations).map(([key, operation]) => {
    const [namespace = "", name = ""] = key.split(".");
    const { route = null } = operation;
    const whole = {
      ...usual.operation,
      ...operation,
      hooks: (operation.hooks ?? []).map((hook: HookUse | string) =>
        thawHook(typeof hook === "string" ? (shared[hook] ?? hook) : hook, namespace),
      ),
      key,
      namespace,
      name,
      input: thawedInput(operation.input, model.types),
      output: { ...usual.output, ...operation.output },
      route: route === null ? null : { ...usual.route, ...route },
    };
    return [key, whole];
  });
  const models = { ...emptyParts(parts), ...thawedParts(model, parts) };
  return {
    ...models,
    service: { ...usual.service, ...model.service },
    ...partsBy(models, parts, (usually, value) => ({ ...usually, ...value })),
    operations: Object.fromEntries(operations),
  };
}

/** The parts of a model under the names and in the forms that families have today. */
function thawedParts<Model extends object>(model: Model, parts: ModelParts): Model {
  const thawed = { ...model } as Record<string, unknown>;
  for (const [part, { was, thaw }] of Object.entries(parts)) {
    if (was !== undefined && Object.hasOwn(thawed, was)) {
      thawed[part] = thawed[was];
      delete thawed[was];
    }
    const value = thawed[part] as object | null | undefined;
    if (thaw !== undefined && value != null) thawed[part] = thaw(value);
  }
  return thawed as Model;
}

/** What brings hooks into the forms of today. A hook that isn't there stays a name. */
function hookThawer(model: object, parts: ModelParts) {
  const thaws = Object.entries<object | null>({ ...model }).flatMap(([part, value]) => {
    const thawHook = own(parts, part)?.thawHook;
    return thawHook === undefined || value === null ? [] : [{ thawHook, value }];
  });
  return (hook: HookUse | string, namespace: string): HookUse | string =>
    typeof hook === "string"
      ? hook
      : thaws.reduce((one, { thawHook, value }) => thawHook(value, one, namespace), hook);
}

/** The members of `value` that differ from the usual ones. */
function without(usually: object, value: object): object {
  const given = usually as Readonly<Record<string, unknown>>;
  const rest: Record<string, unknown> = {};
  for (const [member, one] of Object.entries(value))
    if (!Object.hasOwn(given, member) || !isSame(one, given[member])) rest[member] = one;
  return rest;
}

/**
 * Deep equality, with shortcuts for the common cases: identical values, plain values, empty lists.
 */
function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null)
    return false;
  if (Array.isArray(left) && Array.isArray(right) && left.length * right.length === 0)
    return left.length === right.length;
  return isDeepStrictEqual(left, right);
}

/** The input without those schemas of parameters and body that are parts of its own schema. */
function frozenInput(input: InputModel, types: Types): object {
  const { parameters, body } = input;
  const properties = propertiesOf(resolveType(input.schema, types));
  return without(usual.input, {
    ...input,
    parameters: parameters.map((parameter) =>
      without({ schema: properties[parameter.name] }, parameter),
    ),
    body:
      body === null
        ? null
        : without(
            {
              ...usual.body,
              schema: schemaOfBody(body.as, input, types),
              typeName: input.typeName,
            },
            body,
          ),
  });
}

function thawedInput(input: InputModel, types: Types): InputModel {
  const properties = propertiesOf(resolveType(input.schema, types));
  const { parameters: given = [], body = null } = input;
  const parameters = given.map((parameter) => {
    const schema = properties[parameter.name];
    return { ...(schema === undefined ? {} : { schema }), ...parameter };
  });
  if (body === null) return { ...usual.input, ...input, parameters, body };
  const schema = schemaOfBody(body.as, { ...input, parameters }, types);
  const whole: Partial<BodyModel> = { ...usual.body, schema, typeName: input.typeName };
  return { ...usual.input, ...input, parameters, body: { ...whole, ...body } };
}

/**
 * The schema of the body, from the input's: all of it, the members that are no parameters, or one
 * member.
 */
function schemaOfBody(
  as: BodyModel["as"],
  { schema, parameters }: Pick<InputModel, "schema" | "parameters">,
  types: Types,
): JsonSchema {
  if (as === "input") return schema;
  const whole = resolveType(schema, types);
  const properties = propertiesOf(whole);
  if (as !== "members") return properties[as.member] ?? true;
  const names = new Set(parameters.map(({ name }) => name));
  const rest = Object.entries(properties).filter(([name]) => !names.has(name));
  return objectSchema(
    Object.fromEntries(rest),
    requiredOf(whole).filter((name) => !names.has(name)),
  );
}

/** The schema, or the type that it refers to. */
function resolveType(schema: JsonSchema, types: Types): JsonSchema {
  const type = referredType(schema);
  return type === undefined ? schema : (types[type] ?? true);
}
