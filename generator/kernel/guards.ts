// From policies and hook lists to the ordered chain of one operation.
import { hookPhases, refusingPhases, type HookPhaseName } from "../model/vocabulary.js";
import { didYouMean, didYouMeanOr } from "../diagnostics/did-you-mean.js";
import type { Advice, Origin, Report } from "../diagnostics/diagnostics.js";
import type { HooksByPhase, PolicyStep } from "../load/declarations.js";

import { ungivenPolicy } from "../load/load.js";
import { own } from "../model/records.js";
import { callOf, functionReference, ofAuthor, ofRuntime, type Code } from "../model/code.js";
import type { HookUse, OperationModel } from "../model/registry.js";
import type { ExpansionContext } from "./family.js";
import { isLeftOut, isSectionLeftOut } from "./left-out.js";
import { askFor, permissionFor } from "./permissions.js";
import {
  authorizeHook,
  builtInHook,
  builtInHooks,
  lackingSection,
  rateLimitHook,
  scopeHook,
} from "./runtime-hooks.js";

/** Whether a chain requires a caller. */
export function requiresAuthn(hooks: readonly HookUse[]): boolean {
  return hooks.some(({ provides }) => provides.includes("authn.principal"));
}

/** Whether a hook limits how often it lets callers pass. */
export function isRate({ errors }: HookUse): boolean {
  return errors.includes("core.throttled");
}

/** Whether a chain requires a caller, or limits the rate. */
export function isLimited(hooks: readonly HookUse[]): boolean {
  return requiresAuthn(hooks) || hooks.some(isRate);
}

export interface GuardUse {
  /** Its name; "" where the guard names none. */
  readonly policy: string;
  readonly at: Origin;
  /** What the guard would name it for, such as `read`; absent if it is for all. */
  readonly verb?: string;
}

/** What an operation says of its guard: the names of its policies. */
export function guardText(guards: readonly GuardUse[]): string {
  return guards.map(({ policy }) => policy).join(" and ");
}

/** The names of the policies that an operation says. */
export function policiesOf({ guard }: Pick<OperationModel, "guard">): readonly string[] {
  return guard.split(" and ");
}

/** A hook, and where it is named. */
interface ChainStep {
  readonly use: HookUse;
  readonly at: Origin;
}

/**
 * The chain of an operation of the namespace `resource`: the hooks of its policies first, each
 * once, then its own by phase. Reports unknown policies and hooks, hooks that stand twice, and
 * requirements that no earlier hook provides.
 */
export function hookChain(
  context: ExpansionContext,
  guards: readonly GuardUse[],
  resource: string,
  further?: { readonly hooks: HooksByPhase; readonly at: Origin },
): readonly HookUse[] {
  const chain: ChainStep[] = [];
  for (const guard of guards) {
    const steps = policySteps(context, guard, resource);
    const known = new Set(chain.map(({ use }) => use.id));
    chain.push(...steps.filter(({ use }) => !known.has(use.id)));
  }
  for (const phase of hookPhases) {
    for (const [index, name] of (further?.hooks[phase] ?? []).entries()) {
      const at = {
        file: further?.at.file ?? "",
        path: [...(further?.at.path ?? []), phase, index],
      };
      const use = name.includes("#")
        ? inlineHook(name, phase)
        : declaredHook(context, name, phase, at);
      if (use !== undefined)
        chain.push({ use: use.isAuthored ? { ...use, isOwn: true } : use, at });
    }
  }
  checkChain(chain, context.report);
  return chain.map(({ use }) => use);
}

/** The hooks of a policy. Reports one that is not declared. */
function policySteps(
  context: ExpansionContext,
  guard: GuardUse,
  resource: string,
): readonly ChainStep[] {
  const { declarations, tree, report } = context;
  // It has been reported where it is missing.
  if (guard.policy === ungivenPolicy) return [];
  const policy = own(declarations.policies, guard.policy);
  // A policy with a faulty declaration was reported already; here it counts as existing.
  const isDeclared = guard.policy in tree.section("policies");
  if (guard.policy === "") {
    report({
      code: "OPW053",
      message: `the guard names no policy for ${guard.verb ?? "some of the operations"}`,
      at: guard.at,
      hint: "Name one for all others: `guard: {read: member, write: member}`, or `guard: member`.",
    });
  } else if (policy === undefined && !isDeclared) {
    report({
      code: "OPW050",
      ...unknownPolicy(guard.policy, Object.keys(declarations.policies)),
      at: guard.at,
    });
  }
  return (policy ?? []).flatMap((step) => {
    const use = stepHook(context, step, resource, guard.at);
    return use === undefined ? [] : [{ use, at: guard.at }];
  });
}

/** What is said of a policy that there is not. */
export function unknownPolicy(
  name: string,
  known: readonly string[],
): Advice & { readonly message: string } {
  if (builtInHooks.some(({ hook }) => hook.id === name))
    return {
      message: `${name} is a step of policies, and not the name of one`,
      hint: `Declare a policy with this step, and name it: \`policies: {signed_in: [${name}]}\`, \`guard: signed_in\`.`,
    };
  const message = `no policy is called ${name}`;
  if (/^(?:public|open|anyone|anybody|everyone|none|all)$/.test(name))
    return { message, hint: `What anybody may call says so: \`policies: {${name}: []}\`.` };
  const names = known.length === 0 ? "none yet" : known.join(", ");
  const hint = `Declare it under \`policies\`, or name one of those: ${names}.`;
  return { message, ...didYouMeanOr(name, known, hint) };
}

/** Whether a hook is the author's own and may refuse. */
export function isAuthorsSay({ isAuthored, phase }: HookUse): boolean {
  return isAuthored && refusingPhases.includes(phase);
}

/** The guard of operations of the runtime: the policy's name, for documents, and its chain. */
export interface BuiltInGuard {
  readonly policy: string;
  readonly hooks: readonly HookUse[];
}

/** The policy that requires nothing; to use it, its name must be written out. */
export const openPolicy = "open";

/**
 * The guard, declared at `path`, of operations that reach across tenants. Reports a guard that
 * requires neither a permission of `platform` nor a hook of the author's. If it is `open`, it only
 * warns.
 */
export function administrationGuard(
  context: ExpansionContext,
  { guard: policy }: { readonly guard: string },
  path: readonly string[],
  resource: string,
): BuiltInGuard {
  const { declarations, report, tree } = context;
  const at = tree.at(...path, "guard");
  const hooks = hookChain(context, [{ policy, at }], resource);
  const isPrivileged = hooks.some(
    (hook) => isAuthorsSay(hook) || hook.permission?.startsWith("platform.") === true,
  );
  if (policy === openPolicy) {
    if (!isPrivileged)
      report({ code: "OPW079", message: "anybody may administer: the guard is open", at });
    return { policy, hooks };
  }
  if (!isPrivileged && Object.hasOwn(declarations.policies, policy)) {
    const message = `${policy} asks for no \`platform.\` permission, so it does not guard every tenant`;
    report({ code: "OPW055", message, at });
  }
  return { policy, hooks };
}

/** The hook of one step of a policy. */
function stepHook(
  context: ExpansionContext,
  step: PolicyStep,
  resource: string,
  at: Origin,
): HookUse | undefined {
  if (typeof step === "string")
    return step.includes("#")
      ? inlineHook(step, "before")
      : declaredHook(context, step, undefined, at);
  const { authorize, scope, rate_limit: rate, override = [], strangers = false } = step;
  if (authorize !== undefined) {
    const action = permissionFor(authorize, resource);
    return authorizeHook(action, askFor(context, action, at));
  }
  if (rate !== undefined) return rateLimitHook(rate);
  return scopeHook(context, { name: scope ?? "", override, strangers }, resource, at);
}

function declaredHook(
  context: ExpansionContext,
  name: string,
  phase: HookPhaseName | undefined,
  at: Origin,
): HookUse | undefined {
  const { declarations, report } = context;
  const builtIn = builtInHook(name, declarations);
  if (builtIn !== undefined && builtIn.lacks === undefined) return builtIn.hook;
  const hook = own(declarations.hooks, name);
  if (hook === undefined) {
    // Faults in a policy are reported at the policy.
    if (phase === undefined) return undefined;
    if (builtIn?.lacks !== undefined) {
      if (!isSectionLeftOut(context, builtIn.lacks))
        report({ ...lackingSection(name, builtIn.lacks), at });
      return undefined;
    }
    if (isLeftOut(context, name, "hooks")) return undefined;
    report({
      code: "OPW051",
      message: `no hook is called ${name}`,
      at,
      suggestion: didYouMean(name, [
        ...Object.keys(declarations.hooks),
        ...builtInHooks.map(({ hook: { id } }) => id),
      ]),
    });
    return undefined;
  }
  if (phase !== undefined && phase !== hook.phase) {
    report({
      code: "OPW013",
      message: `the hook ${name} is declared for the phase ${hook.phase}`,
      at,
    });
    return undefined;
  }
  return {
    id: name,
    phase: hook.phase,
    run: runOf(hook.phase, hook.run),
    isAuthored: true,
    requires: hook.requires ?? [],
    provides: [...new Set([name, ...(hook.provides ?? [])])],
    permission: null,
    errors: hook.errors ?? [],
  };
}

/** The runtime's name of the function that turns an author's function into a hook of a phase. */
const makers: Readonly<Record<HookPhaseName, string>> = {
  before: "before",
  wrap: "wrap",
  tx_before: "txBefore",
  tx_after: "txAfter",
  after_commit: "afterCommit",
  on_success: "onSuccess",
  on_failure: "onFailure",
  finally: "onFinally",
};

function runOf(phase: HookPhaseName, reference: string): Code {
  return callOf(ofRuntime(makers[phase]), ofAuthor(functionReference(reference)));
}

function inlineHook(reference: string, phase: HookPhaseName): HookUse {
  return {
    id: reference,
    phase,
    run: runOf(phase, reference),
    isAuthored: true,
    requires: [],
    provides: [],
    permission: null,
    errors: [],
  };
}

function checkChain(chain: readonly ChainStep[], report: Report): void {
  const order = [...chain].sort(
    (left, right) => hookPhases.indexOf(left.use.phase) - hookPhases.indexOf(right.use.phase),
  );
  const provided = new Set<string>();
  const seen = new Set<string>();
  for (const { use, at } of order) {
    if (seen.has(use.id))
      report({ code: "OPW054", message: `the hook ${use.id} stands twice`, at });
    seen.add(use.id);
    for (const step of use.requires) {
      if (provided.has(step)) continue;
      report({
        code: "OPW052",
        message: `the hook ${use.id} requires ${step}, which nothing before it provides`,
        at,
      });
    }
    for (const step of use.provides) provided.add(step);
  }
}
