// Two chains of hooks: who is refused that was not, and what else runs.
import { durationSeconds } from "../load/quantities.js";
import { authoredIn } from "../model/code.js";
import type { HookUse } from "../model/registry.js";
import type { HookPhaseName } from "../model/vocabulary.js";
import type { ChangeLevel, Note } from "./change.js";
import { differences } from "./differences.js";

/** Phases in which a hook may refuse callers. */
const refusing: readonly HookPhaseName[] = ["before", "wrap", "tx_before", "tx_after"];

/** The permissions that a chain requires, each once. */
export function permissionsOf(hooks: readonly HookUse[]): readonly string[] {
  return [...new Set(hooks.flatMap(({ permission }) => (permission === null ? [] : [permission])))];
}

/**
 * Reports the hooks of a chain that have come, gone or changed, besides permissions: each once for all that have it. One that
 * runs when all is decided is only a matter of documentation.
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
  const { gone, added } = differences(were.map(nameOf), are.map(nameOf));
  const [oldLimit, limit] = [onlyLimit(gone), onlyLimit(added)];
  const isReplaced = oldLimit !== undefined && limit !== undefined;
  if (isReplaced)
    told(
      isLooser(oldLimit, limit) ? "additive" : "breaking",
      limit,
      `is asked instead of ${oldLimit}`,
    );
  const scopes = changedScopes(gone, added);
  for (const { before: old, after: next, isWider } of scopes)
    told(isWider ? "additive" : "breaking", next, `is asked instead of ${old}`);
  const known = new Set(scopes.flatMap((one) => [one.before, one.after]));
  const isTold = (hook: string): boolean =>
    known.has(hook) || (isReplaced && (hook === limit || hook === oldLimit));
  for (const hook of added.filter((one) => !isTold(one))) {
    if (mayRefuse(useOf(are, hook))) told("breaking", hook, "is asked");
    else told("documentation", hook, "is run");
  }
  for (const hook of gone.filter((one) => !isTold(one))) {
    if (mayRefuse(useOf(were, hook))) told("additive", hook, "is no longer asked");
    else told("documentation", hook, "is no longer run");
  }
  for (const [hook, use] of are) {
    const [olds, nexts] = [functionsOf(were, hook), functionsOf(are, hook)];
    // Of several that are called alike, one that has come or gone is told already.
    if (olds.length !== 1 || nexts.length !== 1 || olds[0] === nexts[0]) continue;
    told(
      mayRefuse(use) ? "breaking" : "documentation",
      hook,
      `runs ${nexts[0]} instead of ${olds[0]}`,
    );
  }
}

function mayRefuse(hook: HookUse | undefined): boolean {
  return hook !== undefined && refusing.includes(hook.phase);
}

/** A hook as people call it, and the hook. */
type NamedHook = readonly [name: string, hook: HookUse];

const nameOf = ([name]: NamedHook): string => name;

/** Hooks as people call them. Permissions and who is calling are told of what asks for them. */
function namedHooks(hooks: readonly HookUse[]): readonly NamedHook[] {
  return (
    hooks
      .filter(({ permission, id }) => permission === null && id !== "principal")
      // Clients don't care about files.
      .map((hook) => [
        `${hook.id.slice(hook.id.indexOf("#") + 1)} ${hook.phase.replaceAll("_", " ")}`,
        hook,
      ])
  );
}

function useOf(hooks: readonly NamedHook[], name: string): HookUse | undefined {
  return hooks.find(([called]) => called === name)?.[1];
}

function functionsOf(hooks: readonly NamedHook[], name: string): readonly string[] {
  return hooks.flatMap(([called, hook]) => (called === name ? [functionOf(hook)] : []));
}

/** The author's function behind a hook; clients don't care about its file. */
function functionOf(hook: HookUse | undefined): string {
  return hook === undefined
    ? ""
    : authoredIn(hook.run)
        .map(({ name }) => name)
        .join();
}

const scopePattern = /^scope (\S+)(?: unless (.*))? before$/;

/** Scopes that are the same but for who is above them. */
function changedScopes(
  gone: readonly string[],
  added: readonly string[],
): readonly { readonly before: string; readonly after: string; readonly isWider: boolean }[] {
  const partsOf = (hook: string) => {
    const [, name, above = ""] = scopePattern.exec(hook) ?? [];
    return { name, above: above === "" ? [] : above.split(" or ") };
  };
  return added.flatMap((after) => {
    const { name, above } = partsOf(after);
    const before = gone.find((one) => name !== undefined && partsOf(one).name === name);
    if (before === undefined) return [];
    return [{ before, after, isWider: partsOf(before).above.every((one) => above.includes(one)) }];
  });
}

const limitPattern = /^rate_limit (\d+)\/(\S+) /;

/** The rate limit of a chain, if it has exactly one. */
function onlyLimit(hooks: readonly string[]): string | undefined {
  const limits = hooks.filter((hook) => limitPattern.test(hook));
  return limits.length === 1 ? limits[0] : undefined;
}

/** Whether a client that kept to one limit also keeps to the other. */
function isLooser(before: string, after: string): boolean {
  const [old, next] = [before, after].map((hook) => {
    const [, count = "", window = ""] = limitPattern.exec(hook) ?? [];
    return { count: Number(count), seconds: durationSeconds(window) };
  });
  if (old === undefined || next === undefined) return false;
  return next.count >= old.count && next.count / next.seconds >= old.count / old.seconds;
}
