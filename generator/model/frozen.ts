// registry.json: writes the registry without what can be derived or is usual, and reads it back.
import { isDeepStrictEqual } from "node:util";
import { objectSchema, propertiesOf, referredType, requiredOf } from "./json-schema.js";
import type { JsonSchema } from "./json-schema.js";
import { mapRecord, own, sortedRecord } from "./records.js";
import { emptyModels } from "./registry.js";
import { scopeId } from "./scope-id.js";
import type { DocumentModel } from "./document-model.js";
import type {
  AuthenticationRouteModel,
  BodyModel,
  FamilyModels,
  HookUse,
  IdentityModel,
  IngressModel,
  InputModel,
  OperationModel,
  OutputModel,
  RegistryModel,
  RouteModel,
  SearchModel,
} from "./registry.js";
import type { StorageModel } from "./storage-model.js";
import { usualOperation } from "./usual-operation.js";

type Types = RegistryModel["types"];

/** The usual value of members; a member that has it is left out of registry.json. */
const usual = {
  operation: usualOperation,
  route: { isPrefixRoot: false, status: 200, reply: null },
  output: { schema: null, hasEntityTag: false, isBytes: false },
  input: { parameters: [], body: null, read: "parts" },
  body: { isOptional: false, isForm: false },
  service: { was: null, errors: null },
} as const satisfies {
  readonly operation: Partial<OperationModel>;
  readonly route: Partial<RouteModel>;
  readonly output: Partial<OutputModel>;
  readonly input: Partial<InputModel>;
  readonly body: Partial<BodyModel>;
  readonly service: Partial<RegistryModel["service"]>;
};

type UsualParts = Readonly<Record<string, object>>;

/** The usual values in parts that families add to the model as maps: those of each value. */
const usualOfEach: UsualParts = {
  documents: {
    former: {},
    formerly: {},
    dropped: {},
    unique: [],
    references: [],
    views: [],
    view: null,
    revisions: false,
    readsDeleted: null,
    deletedForSeconds: null,
    scopes: {},
    hooks: {},
  } satisfies Partial<DocumentModel>,
  searches: { was: null } satisfies Partial<SearchModel>,
  // Registries that were frozen before went by the name.
  storages: { detect: "name", was: null, alsoReads: [] } satisfies Partial<StorageModel>,
};
/** The same for parts that are one value. */
const usualOfWhole: UsualParts = {
  identity: {
    signUp: null,
    former: { resources: {}, permissions: {} },
  } satisfies Partial<IdentityModel>,
};

/** Those parts of a model, each changed by its usual values. */
function partsBy(
  models: FamilyModels,
  change: (usually: object, value: object) => object,
): Partial<FamilyModels> {
  const parts: Record<string, unknown> = {};
  for (const [part, value] of Object.entries<object | null | undefined>({ ...models })) {
    if (value === null || value === undefined) continue;
    const [whole, each] = [own(usualOfWhole, part), own(usualOfEach, part)];
    if (whole !== undefined) parts[part] = change(whole, value);
    if (each !== undefined)
      parts[part] = mapRecord(value as Readonly<Record<string, object>>, (one) =>
        change(each, one),
      );
  }
  return parts;
}

/**
 * The registry as it is committed: without anything that follows from the rest, so that a change
 * shows up once in a diff.
 */
export function freezeRegistry(model: RegistryModel): object {
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
    ...partsBy(model, without),
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
export function thawRegistry(committed: object): RegistryModel {
  // The shape isn't checked: reading a member that is missing throws.
  const { hooks: shared = {}, ...model } = committed as RegistryModel & {
    readonly hooks?: Readonly<Record<string, HookUse>>;
  };
  const lifting = model.identity?.override ?? [];
  const operations = Object.entries(model.operations).map(([key, operation]) => {
    const [namespace = "", name = ""] = key.split(".");
    const { route = null } = operation;
    const whole = {
      ...usual.operation,
      ...operation,
      hooks: (operation.hooks ?? []).map((hook: HookUse | string) =>
        withOverride(typeof hook === "string" ? (shared[hook] ?? hook) : hook, namespace, lifting),
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
  const models = { ...emptyModels, ...model, identity: ofRoutes(model.identity) };
  return {
    ...models,
    service: { ...usual.service, ...model.service },
    ...partsBy(models, (usually, value) => ({ ...usually, ...value })),
    operations: Object.fromEntries(operations),
  };
}

/** A scope of an earlier version, which the service's override permissions lifted. */
function withOverride(
  hook: HookUse | string,
  namespace: string,
  lifting: readonly string[],
): HookUse | string {
  if (typeof hook === "string" || !hook.provides.includes("authz.scope")) return hook;
  if (hook.override !== undefined) return hook;
  const override = lifting.map((one) => one.replaceAll("{resource}", namespace));
  return { ...hook, id: scopeId(hook.id.replace(/^scope /, ""), override), override };
}

/**
 * Identity in the current form: earlier versions had one authentication route, and its members
 * directly in identity.
 */
function ofRoutes(identity: RegistryModel["identity"]): RegistryModel["identity"] {
  if (identity === null || (identity as Partial<IdentityModel>).routes !== undefined)
    return identity;
  const { route, verifier, resolver, ...rest } = identity as IdentityModel &
    AuthenticationRouteModel & { readonly route: string };
  const ingress = rest.ingress.map((one): IngressModel => {
    if (one.kind === "api_key") return one;
    return one.kind === "bearer" ? { ...one, scheme: "Bearer", route } : { ...one, route };
  });
  return { ...rest, routes: { [route]: { verifier, resolver } }, ingress };
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
