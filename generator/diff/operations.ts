// Operations of two registries: routes, inputs and answers, who may call them, how long they may
// take.
import { isDeepStrictEqual } from "node:util";
import { propertiesOf } from "../model/json-schema.js";
import type { OperationModel, RegistryModel, ReplyDeclaration } from "../model/registry.js";
import { own } from "../model/records.js";
import type { Change, ChangeArea, ChangeLevel, Note } from "../compare/change.js";
import { deprecations, removal } from "../compare/deprecations.js";
import { differences } from "../compare/differences.js";
import { compareHooks, comparePermissions } from "../compare/hooks.js";
import { compareCookies } from "./cookies.js";
import { causeOf, renamedOperations } from "./renames.js";
import { compareNew } from "./new-operations.js";
import { compareTypeNames } from "./type-names.js";
import type { ValueComparison } from "../compare/values.js";

export function compareOperations(
  before: RegistryModel,
  after: RegistryModel,
  values: ValueComparison,
  note: Note,
  today: string,
): void {
  const renamed = renamedOperations(before, after);
  const taken = new Set([...renamed.values()].map(({ key }) => key));
  const keys = new Set([...Object.keys(before.operations), ...Object.keys(after.operations)]);
  for (const key of keys) {
    if (taken.has(key)) continue;
    const { key: called, cause } = renamed.get(key) ?? { key };
    const [old, next] = [own(before.operations, key), own(after.operations, called)];
    const was = old !== undefined && old.route !== null;
    const is = next !== undefined && next.route !== null;
    if (was && !is) {
      const { level, what } = removal(old.deprecated, today);
      notesOf(key, note, causeOf(old, before, after, "is gone"))(level, "http", what);
    } else if (!was && is) compareNew(next, before, note, causeOf(next, after, before, "is new"));
    else if (was && is) {
      const told = notesOf(called, note);
      if (called !== key) notesOf(key, note, cause)("breaking", "http", `is called ${called}`);
      compareRoutes(old, next, notesOf(called, note, cause));
      compareOperation(old, next, values, told);
      compareTypeNames(old, next, after.types, (what) => told("breaking", "schema", what));
    }
    // Without a route as well: handlers keep to the scopes of its document, and who expands that to
    // its guard.
    if (old !== undefined && next !== undefined) {
      compareGuards(old, next, notesOf(called, note));
      compareAudit(old.audit, next.audit, notesOf(called, note));
      compareHooks(old.hooks, next.hooks, called, note);
    }
  }
}

type Told = (level: ChangeLevel, area: ChangeArea, what: string) => void;

function notesOf(key: string, note: Note, cause?: string): Told {
  return (level, area, what) => {
    const change: Change = {
      text: `${key} ${what}`,
      level,
      area,
      subject: { kind: "operation", name: key },
      affects: [key],
      ...(cause === undefined ? {} : { cause }),
    };
    note(change);
  };
}

function compareOperation(
  before: OperationModel,
  after: OperationModel,
  values: ValueComparison,
  told: Told,
): void {
  compareDeadlines(before.deadlineSeconds, after.deadlineSeconds, told);
  if (before.idempotencyKey && !after.idempotencyKey)
    told("breaking", "http", "takes no Idempotency-Key");
  if (!before.idempotencyKey && after.idempotencyKey)
    told("additive", "http", "takes an Idempotency-Key");
  if (before.isSerializable !== after.isSerializable) {
    const which = after.isSerializable ? "waits" : "no longer waits";
    told("documentation", "http", `${which} for other serializable operations`);
  }
  compareErrors(before, after, told);
  const place = {
    subject: { kind: "operation", name: after.key } as const,
    name: after.key,
    affected: after.key,
  };
  values.compare(
    { before: before.input.schema, after: after.input.schema },
    { ...place, direction: "input" },
  );
  compareAnswers(before, after, told);
  if (before.output.schema !== null && after.output.schema !== null)
    values.compare(
      { before: before.output.schema, after: after.output.schema },
      { ...place, direction: "answers" },
    );
  if (before.summary !== after.summary || before.description !== after.description)
    told("documentation", "http", "is described otherwise");
  for (const [level, what] of deprecations(before.deprecated, after.deprecated))
    told(level, "http", what);
  if (!isDeepStrictEqual(before.extensions, after.extensions))
    told("documentation", "http", "has other extensions");
}

function compareRoutes(
  { route: old, input }: OperationModel,
  after: OperationModel,
  told: Told,
): void {
  const next = after.route;
  if (old === null && next !== null) told("additive", "http", `has ${next.method} ${next.path}`);
  if (old !== null && next === null) told("breaking", "http", `has no ${old.method} ${old.path}`);
  if (old === null || next === null) return;
  // New or missing names are reported as members; the same names in another order give other
  // values.
  const isMoved =
    shapeOf(old.path) !== shapeOf(next.path) ||
    (old.path !== next.path && isDeepStrictEqual(namesOf(old.path), namesOf(next.path)));
  if (old.method !== next.method || isMoved)
    told("breaking", "http", `is ${next.method} ${next.path} instead of ${old.method} ${old.path}`);
  if (old.status !== next.status)
    told("breaking", "http", `answers with ${next.status} instead of ${old.status}`);
  compareReplies(old.reply, next.reply, told);
  const places = ({ parameters, body }: OperationModel["input"]): ReadonlyMap<string, string> => {
    const names = new Map<string, string>(parameters.map((one) => [one.name, one.in]));
    if (typeof body?.as === "object") names.set(body.as.member, "body");
    if (body?.as === "members")
      for (const name of Object.keys(propertiesOf(body.schema))) names.set(name, "body");
    return names;
  };
  const [was, is] = [places(input), places(after.input)];
  const moved = [...was.keys()].filter((name) => is.has(name) && was.get(name) !== is.get(name));
  for (const name of moved) told("breaking", "http", `takes ${name} from its ${is.get(name)}`);
  const formOf = ({ body }: OperationModel["input"]): unknown => [
    body?.as,
    body?.isForm === true,
    body?.media ?? null,
  ];
  if (input.body === null && after.input.body?.isOptional === false)
    told("breaking", "http", "asks for a body");
  const hasBodies = input.body !== null && after.input.body !== null;
  if (hasBodies && !isDeepStrictEqual(formOf(input), formOf(after.input)))
    told("breaking", "http", "takes another body");
}

/**
 * What a handler may set besides the body: clients may rely on headers, and may not know a new
 * status.
 */
function compareReplies(
  before: ReplyDeclaration | null,
  after: ReplyDeclaration | null,
  told: Told,
): void {
  const partsOf = (reply: ReplyDeclaration | null): readonly string[] => [
    ...(reply?.headers ?? []).map((name) => `the header ${name}`),
    ...Object.keys(reply?.cookies ?? {}).map((name) => `the cookie ${name}`),
  ];
  const parts = differences(partsOf(before), partsOf(after));
  for (const one of parts.gone) told("breaking", "http", `no longer sets ${one}`);
  for (const one of parts.added) told("additive", "http", `may set ${one}`);
  const statusesOf = (reply: ReplyDeclaration | null): readonly number[] => [
    ...(reply?.statuses ?? []),
    ...(reply?.redirects ?? []),
  ];
  const statuses = differences(statusesOf(before), statusesOf(after));
  for (const one of statuses.gone) told("documentation", "http", `no longer answers with ${one}`);
  for (const one of statuses.added) told("breaking", "http", `may answer with ${one}`);
  const reads = differences(before?.reads ?? [], after?.reads ?? []);
  for (const one of reads.gone) told("documentation", "http", `no longer reads the header ${one}`);
  for (const one of reads.added) told("additive", "http", `reads the header ${one}`);
  compareCookies(before, after, (level, what) => told(level, "http", what));
}

/** A path whose parameters have no names. */
function shapeOf(path: string): string {
  return path.replace(/\{(\+?)[^}]+\}/g, "{$1}");
}

function namesOf(path: string): readonly string[] {
  return [...path.matchAll(/\{\+?([^}]+)\}/g)].map(([, name = ""]) => name).sort();
}

function compareGuards(before: OperationModel, after: OperationModel, told: Told): void {
  if (!before.requiresAuthn && after.requiresAuthn)
    told("breaking", "permission", "asks who is calling");
  if (before.requiresAuthn && !after.requiresAuthn)
    told("opens", "permission", "no longer requires authentication");
  if (!before.ignoresCredentials && after.ignoresCredentials)
    for (const level of ["opens", "breaking"] as const)
      told(level, "permission", "ignores credentials");
  if (before.ignoresCredentials && !after.ignoresCredentials)
    told("breaking", "permission", "no longer ignores credentials");
  if (before.isSensitive && !after.isSensitive)
    told("opens", "permission", "is no longer sensitive");
  comparePermissions(before.hooks, after.hooks, (level, what) => told(level, "permission", what));
}

/** Facts that the audit log no longer has. */
function compareAudit(
  before: OperationModel["audit"],
  after: OperationModel["audit"],
  told: Told,
): void {
  if (before === null) return;
  if (after === null) return told("opens", "permission", "is no longer in the audit log");
  for (const member of differences(before, after).gone)
    told("opens", "permission", `no longer has ${member} in the audit log`);
}

function compareDeadlines(before: number | null, after: number | null, told: Told): void {
  if (before === after) return;
  if (after === null) told("additive", "deadline", "has no deadline");
  else {
    const isShorter = before === null || after < before;
    told(isShorter ? "breaking" : "additive", "deadline", `has a deadline of ${after} s`);
  }
}

function compareErrors(before: OperationModel, after: OperationModel, told: Told): void {
  const { gone, added } = differences(before.errors, after.errors);
  for (const code of added) told("additive", "http", `may answer ${code}`);
  for (const code of gone) told("additive", "http", `no longer answers ${code}`);
}

function compareAnswers(
  { output: old }: OperationModel,
  { output: next }: OperationModel,
  told: Told,
): void {
  if (old.schema !== null && next.schema === null) told("breaking", "http", "answers nothing");
  if (old.schema === null && next.schema !== null) told("additive", "http", "answers with a value");
  const [wasStream, isStream] = [old.isStream === true, next.isStream === true];
  if (wasStream !== isStream)
    told(
      "breaking",
      "http",
      isStream ? "answers with a stream of values" : "answers with no stream",
    );
  if ((old.isBytes === true) !== (next.isBytes === true))
    told("breaking", "http", next.isBytes === true ? "answers with bytes" : "answers no bytes");
  const [was = null, is = null] = [old.mediaType, next.mediaType];
  const hasAnswer = old.isBytes === true || old.schema !== null;
  if (hasAnswer && was !== is)
    told("breaking", "http", is === null ? "answers with another type" : `answers with ${is}`);
  if (old.hasEntityTag && !next.hasEntityTag) told("breaking", "http", "has no ETag");
  if (!old.hasEntityTag && next.hasEntityTag) told("additive", "http", "has an ETag");
}
