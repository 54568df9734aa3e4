// Pieces that the registry format is made of: names, durations, references, paths, mounts.
import { hookPhases, type HookPhaseName } from "../model/vocabulary.js";
import { byteSizeAdvice, durationAdvice } from "./quantity-advice.js";
import type { FormatShape, Member, MissingMember } from "./shape.js";
import {
  nameAdvice,
  pathAdvice,
  permissionAdvice,
  policyAdvice,
  referenceAdvice,
} from "./text-advice.js";

export const name = /^[a-z][a-z0-9_]*$/;
export const typeName = /^[A-Z][A-Za-z0-9]*$/;

/** What something was called before. */
export const formerlyCalled = {
  kind: "string",
  pattern: name,
  what: "a name in [a-z][a-z0-9_]*",
  example: "todos",
  advice: nameAdvice(name),
} as const satisfies FormatShape;
/** What an event was called before. */
export const formerEvent = {
  kind: "string",
  pattern: /^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$/,
  what: "an event such as orders.placed",
  example: "orders.placed",
} as const satisfies FormatShape;
export const text = { kind: "string", what: "a text" } as const satisfies FormatShape;
export const duration = {
  kind: "string",
  pattern: /^[1-9]\d*(?:ms|s|m|h|d)$/,
  what: "a duration such as 500ms, 5s, 1h or 7d",
  form: "duration",
  example: "5s",
  advice: durationAdvice,
} as const satisfies FormatShape;
export const timezone = {
  kind: "string",
  pattern: /^[A-Za-z][A-Za-z0-9_+/-]*$/,
  what: "a time zone such as Europe/Berlin",
  example: "Europe/Berlin",
} as const satisfies FormatShape;
export const byteSize = {
  kind: "string",
  pattern: /^[1-9]\d{0,12}(?:B|KiB|MiB|GiB|TiB)$/,
  what: "a size such as 512KiB or 64MiB: a whole number with B, KiB, MiB, GiB or TiB",
  form: "bytes",
  example: "64MiB",
  advice: byteSizeAdvice,
} as const satisfies FormatShape;
const examples = {
  handler: "registry/handlers/tasks.ts#complete",
  hook: "registry/hooks.ts#stamp",
  job: "registry/jobs.ts#resize",
  value: "registry/functions.ts#make",
} as const;

const referenceTo = (names: "handler" | "hook" | "job" | "value") =>
  ({
    kind: "string",
    pattern: /^[\w@.-][\w@./-]*\.(?:ts|mts|js|mjs)#[A-Za-z_$][\w$]*$/,
    what: "a reference to an export, such as registry/handlers/tasks.ts#complete",
    names,
    form: "reference",
    example: examples[names],
    advice: referenceAdvice,
  }) as const satisfies FormatShape;

/** A function of the author's, as file#export. */
export const reference = referenceTo("value");
export const handlerReference = referenceTo("handler");
export const hookReference = referenceTo("hook");
export const jobReference = referenceTo("job");
export const segment = String.raw`[A-Za-z0-9._~!$&'()+,;=@-]+`;
export const placeholder = String.raw`\{[A-Za-z_][A-Za-z0-9_]*\}`;
const urlPathPattern = new RegExp(`^(?:(?:/(?:${segment}|${placeholder}))*/?)$`);
const mountPathPattern = new RegExp(`^(?:(?:/${segment})*/?)$`);
/** Literal segments, and whole segments that are placeholders. */
export const urlPath = {
  kind: "string",
  pattern: urlPathPattern,
  what: "a path such as /tasks/{id}/complete",
  form: "path",
  example: "/tasks/{id}/complete",
  advice: pathAdvice(urlPathPattern),
} as const satisfies FormatShape;
/** Where a mount stands: it binds no placeholder. */
export const mountPath = {
  kind: "string",
  pattern: mountPathPattern,
  what: "a path without placeholders, such as /tasks",
  form: "path",
  example: "/tasks",
  advice: pathAdvice(mountPathPattern),
} as const satisfies FormatShape;
/** The code of an error of the author's own. */
export const errorCode = { kind: "name", of: "errors" } as const satisfies FormatShape;
export const policyName = {
  kind: "name",
  of: "policies",
  advice: policyAdvice,
} as const satisfies FormatShape;

export const optional = <const Of extends FormatShape>(
  shape: Of,
  description: string,
  example?: unknown,
) => ({ shape, description, ...(example === undefined ? {} : { example }) });
export const required = <const Of extends FormatShape>(
  shape: Of,
  description: string,
  example?: unknown,
) => ({ ...optional(shape, description, example), isRequired: true as const });
export const mapOf = <const Of extends FormatShape>(
  of: Of,
  key = name,
  keyIs = "a name in [a-z][a-z0-9_]*",
  keyExample = "tasks",
) => ({ kind: "map" as const, of, key, keyIs, keyExample });
export const listOf = <const Of extends FormatShape>(of: Of, minItems = 0) => ({
  kind: "list" as const,
  of,
  minItems,
});

export const style = { kind: "oneOf", values: ["rest", "rpc"] } as const satisfies FormatShape;

const hookList = listOf({
  kind: "string",
  what: "a hook's name, or file#export",
  names: "hook",
  example: "registry/hooks.ts#stamp",
});

export const paths = mapOf(urlPath, undefined, undefined, "get");
export const include = listOf({
  kind: "string",
  what: "the name of an operation",
  example: "get",
});

export const mountMembers = {
  at: required(mountPath, "Where the routes are mounted."),
  style: optional(style, "rest or rpc."),
  include: optional(include, "The operations to attach; all where left out."),
  paths: optional(paths, "Paths that differ from the default, relative to the mount.", {
    list: "/all",
  }),
} satisfies Readonly<Record<string, Member>>;

export const mount = {
  kind: "either",
  of: [
    { kind: "constant", value: false },
    { kind: "object", members: mountMembers },
  ],
} as const satisfies FormatShape;

export const typeOrFields = {
  kind: "any",
  what: "a shorthand, a list of values, or a JSON Schema",
  example: { title: "string", due: "date-time?" },
  isType: true,
} as const satisfies FormatShape;

/** Hooks of an operation by phase. */
export const hooksByPhase = {
  kind: "object",
  members: Object.fromEntries(
    hookPhases.map((phase) => [
      phase,
      optional(hookList, `Hooks of the phase ${phase}, in order.`),
    ]),
  ) as Readonly<
    Record<HookPhaseName, { readonly shape: typeof hookList; readonly description: string }>
  >,
} as const satisfies FormatShape;

const permissionPattern = /^(?:(?:\{resource\}|[a-z][a-z0-9_]*)\.)?[a-z][a-z0-9_]*$/;

/** A permission that stands above others. */
export const permission = {
  kind: "string",
  pattern: permissionPattern,
  what: "a permission such as admin or {resource}.admin",
  example: "{resource}.admin",
  advice: permissionAdvice(permissionPattern),
} as const satisfies FormatShape;

/** The name of a role. */
export const roleName = {
  kind: "string",
  pattern: name,
  what: "the name of a role",
  form: "name",
  example: "agent",
} as const satisfies FormatShape;

/** One policy for all operations, or policies by operation. */
export const guard = {
  kind: "either",
  of: [policyName, mapOf(policyName, undefined, undefined, "read")],
} as const satisfies FormatShape;

/** A guard that must be there: nothing is public because nobody thought of it. */
export function requiredGuard<const Shape extends FormatShape>(shape: Shape, description: string) {
  return {
    ...required(shape, description),
    missing: {
      code: "OPW053",
      message:
        "no guard is given; what is public names a policy that asks nothing, such as `open: []`",
      within: (name) => ({
        message: `no guard is given: this one stands in \`${name}\`, as a field`,
        hint: `Indent it less, so that it stands beside \`${name}\`.`,
      }),
    } satisfies MissingMember,
  };
}

const day = {
  kind: "string",
  pattern: /^\d{4}-\d{2}-\d{2}$/,
  what: "a day such as 2026-07-01",
  example: "2026-07-01",
} as const satisfies FormatShape;

/** That something goes one day. */
export const deprecation = {
  kind: "object",
  members: {
    since: required(day, "The day from which on it is deprecated, in UTC."),
    sunset: optional(day, "The day from which on it may be gone, in UTC."),
    use: optional(text, "What to use instead, such as another operation.", "tasks.list"),
  },
} as const satisfies FormatShape;

/** `x-…` keys are carried along. */
export const extensions = { hasExtensions: true } as const;

/** Operations for administrators, behind one guard. */
export const administration = {
  kind: "object",
  members: {
    guard: requiredGuard(policyName, "The policy of every operation."),
    mount: optional(mount, "Where the routes are; /admin where left out."),
  },
} as const satisfies FormatShape;
