// Operations whose handlers are part of the runtime: each family has one table of verbs, and all
// are expanded alike.
import type { Origin } from "../diagnostics/diagnostics.js";
import {
  objectSchema,
  propertiesOf,
  requiredOf,
  refTo,
  uuidSchema,
  type JsonSchema,
} from "../model/json-schema.js";
import { callOf, ofRuntime, type Code, type CodeName } from "../model/code.js";
import { pascalCase } from "../model/names.js";
import { nounOf } from "../model/nouns.js";
import {
  usualBody,
  type InputModel,
  type ParameterModel,
  type TokenUse,
} from "../model/registry.js";
import {
  deadlineOf,
  type ExpansionContext,
  type NamespaceExpansion,
  type UnmountedOperation,
} from "./family.js";
import { credentials } from "./credentials.js";
import type { BuiltInGuard } from "./guards.js";
import { jsonOutput, mediaOutput } from "./operation.js";
import { anyCredentialHook, anySessionHook, principalHook, sessionHook } from "./runtime-hooks.js";
import { operationOfVerb, type Verb, type VerbRoute } from "./verb.js";

/**
 * An operation of a family of the runtime, in short: its input, answer and handler are made alike
 * for all.
 */
export interface BuiltInVerb {
  readonly name: string;
  /** The handler's name in the runtime. */
  readonly handler: string;
  readonly summary: string;
  readonly route: VerbRoute;
  /** 200 where it is left out. */
  readonly status?: number;
  /** Whether the handler takes the spec of its place. */
  readonly takesSpec: boolean;
  /** What it takes besides. */
  readonly takes?: readonly Code[];
  /** Whether it runs in a write transaction; otherwise it opens its own, or only reads. */
  readonly isWrite: boolean;
  /** Whether credentials are ignored, because the body authenticates. */
  readonly ignoresCredentials?: boolean;
  /** What the tokens in its answer are to a client. */
  readonly tokens?: TokenUse;
  /** The guard, where it is not that of the other operations. */
  readonly guard?: BuiltInGuard;
  readonly body?: { readonly schema: JsonSchema; readonly isOptional: boolean };
  readonly parameters?: readonly ParameterModel[];
  /** Members of the input that the audit log names, where they are not all but credentials. */
  readonly audit?: readonly string[];
  /** The type of the answer, or null for none. */
  readonly output: string | null;
  /** The type of the bytes that it answers with instead. */
  readonly mediaType?: string;
  readonly errors: readonly string[];
  /** The document that it adds rows to. */
  readonly adds?: string;
}

/** A body that must be given, with members that must all be given. */
export function bodyOf(
  properties: Readonly<Record<string, JsonSchema>>,
): NonNullable<BuiltInVerb["body"]> {
  return { schema: objectSchema(properties, Object.keys(properties)), isOptional: false };
}

/** Requires a caller and nothing more. */
export const signedIn: BuiltInGuard = { policy: "principal", hooks: [principalHook] };

/** Requires a caller, whatever permissions its credential is for. */
export const withAnyCredential: BuiltInGuard = {
  policy: "any credential",
  hooks: [anyCredentialHook],
};

/** Requires a caller with a session of its own. */
export const withSession: BuiltInGuard = { policy: "session", hooks: [principalHook, sessionHook] };

/** Requires a session, the caller's own or an actor's. */
export const withAnySession: BuiltInGuard = {
  policy: "any session",
  hooks: [principalHook, anySessionHook],
};

/** The path parameter that names one of something. */
export const idInPath: ParameterModel = {
  name: "id",
  in: "path",
  type: "uuid",
  required: true,
  schema: uuidSchema,
};

/** A namespace of opwright's own; none if the registry declares none of its operations. */
export function builtInNamespace(
  { name, description }: { readonly name: string; readonly description: string },
  at: Origin,
  operations: readonly UnmountedOperation[],
  mount: NamespaceExpansion["mount"],
): readonly NamespaceExpansion[] {
  if (operations.length === 0) return [];
  const what = "a namespace of opwright's own";
  return [{ name, what, isBuiltIn: true, description, at, operations, mount, isSensitive: false }];
}

const open: BuiltInGuard = { policy: "open", hooks: [] };

/** Where the operations of a table belong, and who may call them. */
interface BuiltInPlace {
  readonly family: string;
  /** The name under which the runtime exports their handlers. */
  readonly handlers: string;
  /** The spec for handlers that take one. */
  readonly spec: CodeName;
  readonly namespace: string;
  readonly at: Origin;
  /** Not asked where the body authenticates. */
  readonly guard: BuiltInGuard;
}

/** Expands a table of verbs. */
export function expandBuiltIn(
  context: ExpansionContext,
  place: BuiltInPlace,
  verbs: readonly BuiltInVerb[],
): readonly UnmountedOperation[] {
  return verbs.map((short) => expandShort(context, place, short));
}

function expandShort(
  context: ExpansionContext,
  place: BuiltInPlace,
  short: BuiltInVerb,
): UnmountedOperation {
  const { family, namespace, at } = place;
  const guard = short.ignoresCredentials === true ? open : (short.guard ?? place.guard);
  const [method] = short.route;
  const input = inputOf(namespace, short);
  const { body } = input;
  for (const name of new Set([input.typeName, body?.typeName ?? input.typeName]))
    context.types.table.claim(name, at);
  const isWhole = input.read === "whole";
  return operationOfVerb(
    verbOf(place, short, input),
    {
      namespace,
      family,
      source: at.file,
      guard: guard.policy,
      hooks: guard.hooks,
      at,
      noun: nounOf(namespace),
    },
    null,
    {
      deadlineSeconds: deadlineOf(context),
      transaction: short.isWrite ? "write" : "read",
      tokens: short.tokens ?? null,
      ignoresCredentials: short.ignoresCredentials ?? false,
      audit: method === "GET" ? null : (short.audit ?? namedMembers(input.schema)),
      effect: method === "GET" && !short.isWrite ? "reads" : "changes",
      isTool: false,
      declares: short.body === undefined && !isWhole ? "nothing" : "input",
      adds: short.adds ?? null,
      errors: [],
    },
  );
}

/** The verb that a short form stands for. */
function verbOf(place: BuiltInPlace, short: BuiltInVerb, input: InputModel): Verb<null> {
  const { name, handler, summary, route, status, output, mediaType, errors, takes = [] } = short;
  return {
    name,
    summary: () => summary,
    rest: route,
    ...(status === undefined ? {} : { status }),
    input: () => input,
    output: () =>
      mediaType === undefined
        ? jsonOutput(output === null ? null : refTo(output))
        : mediaOutput(mediaType),
    run: () =>
      callOf(
        ofRuntime(`${place.handlers}.${handler}`),
        ...(short.takesSpec ? [place.spec] : []),
        ...takes,
      ),
    errors: () => errors,
  };
}

function inputOf(namespace: string, { name, body, parameters = [] }: BuiltInVerb): InputModel {
  const named = pascalCase(`${namespace}.${name}`);
  const typeName = `${named}Input`;
  const ofParameters = Object.fromEntries(parameters.map((one) => [one.name, one.schema]));
  const needed = parameters.filter(({ required }) => required).map((one) => one.name);
  if (body === undefined) {
    const schema = objectSchema(ofParameters, needed);
    const read = parameters.every(isReadWhole) ? "parts" : "whole";
    return { schema, typeName, parameters, body: null, read };
  }
  if (parameters.length === 0) {
    const whole = { as: "input", ...usualBody, ...body, typeName } as const;
    return { schema: body.schema, typeName, parameters, body: whole, read: "parts" };
  }
  const schema = objectSchema({ ...ofParameters, ...propertiesOf(body.schema) }, [
    ...needed,
    ...requiredOf(body.schema),
  ]);
  const members = { as: "members", ...usualBody, ...body, typeName: `${named}Body` } as const;
  return { schema, typeName, parameters, body: members, read: "whole" };
}

/** Whether reading a parameter by its type checks all that its schema says. */
function isReadWhole({ type, schema }: ParameterModel): boolean {
  if (typeof schema === "boolean") return schema;
  const { description: _told, type: declared, format, ...more } = schema;
  if (Object.keys(more).length > 0) return false;
  return type === "uuid" ? format === "uuid" : format === undefined && declared === type;
}

/** Members of an input that the audit log may name: all but credentials. */
function namedMembers(schema: JsonSchema): readonly string[] {
  return Object.entries(propertiesOf(schema))
    .filter(([, member]) => !credentials.includes(member))
    .map(([name]) => name);
}
