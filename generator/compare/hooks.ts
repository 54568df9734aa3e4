// Compares two chains of hooks: callers that are refused now, and other code that runs.
import { authoredIn, type Code, type CodeCall } from "../model/code.js";
import type { HookUse } from "../model/registry.js";
import type { HookPhaseName } from "../model/vocabulary.js";
import type { ChangeLevel, Note } from "./change.js";
import { differences } from "./differences.js";

/** Phases in which a hook may refuse callers. */
const refusing: readonly HookPhaseName[] = ["before", "wrap", "tx_before", "tx_after"];
const documented: readonly ChangeLevel[] = ["documentation"];

/** A step that may ask for a permission. */
type Asking = Pick<HookUse, "permission" | "stored">;

/** The permissions that a chain requires, each once. */
export function permissionsOf(hooks: readonly Asking[]): readonly string[] {
  return [...new Set(hooks.flatMap(({ permission }) => (permission === null ? [] : [permission])))];
}

/**
 * Reports the permissions of a chain that have come or gone, and those that are only called
 * otherwise: whoever was granted the one still has it.
 */
export function comparePermissions(
  before: readonly Asking[],
  after: readonly Asking[],
  told: (level: ChangeLevel, what: string) => void,
): void {
  const { gone, added } = differences(permissionsOf(before), permissionsOf(after));
  const renamed = new Map(
    after.flatMap((use): readonly (readonly [string, string])[] => {
      const was = before.find((one) => grantedAs(one) === grantedAs(use))?.permission ?? null;
      const isRenamed = was !== null && use.permission !== null && gone.includes(was);
      return isRenamed && added.includes(use.permission) ? [[use.permission, was]] : [];
    }),
  );
  for (const one of added) {
    const was = renamed.get(one);
    if (was === undefined) told("breaking", `needs ${one}`);
    else told("documentation", `needs ${one}, which was called ${was}`);
  }
  for (const use of after) {
    const was = before.find(({ permission }) => permission === use.permission);
    const [old, next] = [was, use].map((one) => (one === undefined ? null : grantedAs(one)));
    if (was === undefined || old === next || use.permission === null) continue;
    if (next === use.permission) told("breaking", `no longer takes grants of ${old}`);
    else told("opens", `takes grants of ${next} as ${use.permission}`);
  }
  const former = [...renamed.values()];
  for (const one of gone) if (!former.includes(one)) told("opens", `needs no ${one}`);
}

/** The name under which the permission of a hook is granted. */
export function grantedAs({ permission, stored }: Asking): string | null {
  return stored ?? permission;
}

/**
 * Reports the hooks of a chain that have come, gone or changed, besides permissions: each once for
 * all that have it. One that runs when all is decided is only a matter of documentation.
 */
export function compareHooks(
  before: readonly HookUse[],
  after: readonly HookUse[],
  affected: string,
  note: Note,
): void {
  const [were, are] = [namedHooks(before), namedHooks(after)];
  const told = (level: ChangeLevel, hook: string, what: string): void =>
    note({
      text: `${hook} ${what}`,
      level,
      area: "permission",
      subject: { kind: "hook", name: hook },
      affects: [affected],
    });
  // Functions of two files may have one name.
  const { gone, added } = differences(namesOf(were), namesOf(are));
  const [left, come] = [hooksNamed(were, gone), hooksNamed(are, added)];
  const [oldLimit, limit] = [onlyLimit(left), onlyLimit(come)];
  const isReplaced = oldLimit !== undefined && limit !== undefined;
  // Where neither is within the other, it opens for some and breaks for others.
  if (isReplaced) {
    const what = `runs instead of ${oldLimit.name}`;
    if (!isWithin(limit, oldLimit)) told("opens", limit.name, what);
    if (!isWithin(oldLimit, limit)) told("breaking", limit.name, what);
  }
  const scopes = changedScopes(left, come);
  for (const { before: old, after: next, levels } of scopes)
    for (const level of levels) told(level, next, `runs instead of ${old}`);
  const known = new Set(scopes.flatMap((one) => [one.before, one.after]));
  const isTold = (hook: string): boolean =>
    known.has(hook) || (isReplaced && (hook === limit.name || hook === oldLimit.name));
  for (const hook of added.filter((one) => !isTold(one)))
    told(mayRefuse(useOf(are, hook)) ? "breaking" : "documentation", hook, "now runs");
  for (const hook of gone.filter((one) => !isTold(one)))
    told(mayRefuse(useOf(were, hook)) ? "opens" : "documentation", hook, "no longer runs");
  for (const hook of new Set(namesOf(are))) {
    const [was, use] = [useOf(were, hook), useOf(are, hook)];
    const [old, next] = [was, use].map(functionOf);
    if (old === next || was === undefined) continue;
    const what = `runs ${next} instead of ${old}`;
    // Another function may refuse others, and let others through.
    for (const level of mayRefuse(use) ? (["opens", "breaking"] as const) : documented)
      told(level, hook, what);
  }
  for (const [hook, what, isPure] of findMoves(before, after))
    for (const level of isPure ? documented : (["opens", "breaking"] as const))
      told(level, hook, what);
}

/**
 * Steps that may refuse callers and have changed places. What only asks who is calling, or narrows
 * rows, lets the same callers through in any order; a limit then counts others, and a hook of the
 * author's runs for others.
 */
function findMoves(
  before: readonly HookUse[],
  after: readonly HookUse[],
): readonly (readonly [hook: string, what: string, isPure: boolean])[] {
  return refusing.flatMap((phase) => {
    const [were, are] = [before, after].map((hooks) =>
      hooks.filter((one) => one.phase === phase).map((use) => ({ step: stepOf(use), use })),
    );
    const steps = new Set(were?.map(({ step }) => step));
    const stays = are?.filter(({ step }) => steps.has(step)) ?? [];
    const left = new Set(stays.map(({ step }) => step));
    const old = were?.filter(({ step }) => left.has(step)) ?? [];
    const at = stays.findIndex(({ step }, index) => step !== old[index]?.step);
    const [first, second] = [stays[at], old[at]];
    if (first === undefined || second === undefined) return [];
    // All that the one has passed, it was behind before.
    const passed = old.slice(
      at,
      old.findIndex(({ step }) => step === first.step),
    );
    const isPure = isPureStep(first.use) || passed.every(({ use }) => isPureStep(use));
    const what = `runs ahead of ${second.step}`;
    return [[`${first.step} ${phase.replaceAll("_", " ")}`, what, isPure] as const];
  });
}

/** A step as people call it, without its phase. */
function stepOf({ id, permission }: HookUse): string {
  return permission ?? id.slice(id.indexOf("#") + 1);
}

/** Whether a step counts nothing, and runs no code that does more than decide. */
function isPureStep({ isAuthored, permission, run }: HookUse): boolean {
  return !isAuthored && !(permission === null && isRateLimit(run));
}

/** Whether a hook may refuse callers. */
export function mayRefuse(hook: HookUse | undefined): boolean {
  return hook !== undefined && refusing.includes(hook.phase);
}

interface NamedHook {
  readonly name: string;
  readonly use: HookUse;
}

/** Hooks by their usual names, without permissions and authentication, which are reported apart. */
function namedHooks(hooks: readonly HookUse[]): readonly NamedHook[] {
  return (
    hooks
      .filter(({ permission, id }) => permission === null && id !== "principal")
      // Clients don't care about files.
      .map((use) => ({
        name: `${use.id.slice(use.id.indexOf("#") + 1)} ${use.phase.replaceAll("_", " ")}`,
        use,
      }))
  );
}

function namesOf(named: readonly NamedHook[]): readonly string[] {
  return named.map(({ name }) => name);
}

/** Those that have one of these names. */
function hooksNamed(hooks: readonly NamedHook[], names: readonly string[]): readonly NamedHook[] {
  return hooks.filter(({ name }) => names.includes(name));
}

function useOf(named: readonly NamedHook[], hook: string): HookUse | undefined {
  return named.find(({ name }) => name === hook)?.use;
}

/** The author's function behind a hook; clients don't care about its file. */
function functionOf(hook: HookUse | undefined): string {
  return hook === undefined
    ? ""
    : authoredIn(hook.run)
        .map(({ name }) => name)
        .join();
}

/** The code that narrows rows, as a text to compare; null for a hook that is no scope. */
function narrowingOf({ provides, run }: HookUse): string | null {
  if (!provides.includes("authz.scope") || !("call" in run)) return null;
  const [, narrows] = run.with;
  return narrows === undefined ? null : JSON.stringify(narrows);
}

/** Scopes that differ only in the permissions that lift them. */
function changedScopes(
  gone: readonly NamedHook[],
  added: readonly NamedHook[],
): readonly {
  readonly before: string;
  readonly after: string;
  readonly levels: readonly ChangeLevel[];
}[] {
  return added.flatMap((after) => {
    const narrows = narrowingOf(after.use);
    const before = gone.find(({ use }) => narrows !== null && narrowingOf(use) === narrows);
    if (before === undefined) return [];
    const exempt = differences(before.use.override ?? [], after.use.override ?? []);
    const levels: readonly ChangeLevel[] = [
      ...(exempt.added.length > 0 ? (["opens"] as const) : []),
      ...(exempt.gone.length > 0 ? (["breaking"] as const) : []),
    ];
    return [{ before: before.name, after: after.name, levels }];
  });
}

/** Whether code is the rate limit of the runtime. */
function isRateLimit(run: Code): run is CodeCall {
  return "call" in run && run.call.from === "runtime" && run.call.name === "rateLimit";
}

interface RateLimit {
  readonly name: string;
  readonly count: number;
  readonly seconds: number;
}

/** The rate limit that a hook is, with the name that people call it by. */
function limitOf({ name, use: { isAuthored, run } }: NamedHook): RateLimit | null {
  if (isAuthored || !isRateLimit(run)) return null;
  const [count, seconds] = run.with.map((code) => ("literal" in code ? Number(code.literal) : NaN));
  return count === undefined || seconds === undefined ? null : { name, count, seconds };
}

/** The rate limit of a chain, if it has exactly one. */
function onlyLimit(hooks: readonly NamedHook[]): RateLimit | undefined {
  const limits = hooks.map(limitOf).filter((limit) => limit !== null);
  return limits.length === 1 ? limits[0] : undefined;
}

/** Whether a client that keeps to one limit also keeps to the other. */
function isWithin(one: RateLimit, most: RateLimit): boolean {
  return one.count <= most.count && one.count / one.seconds <= most.count / most.seconds;
}
