// The rule that the steps of policies exist and can refuse. Each faulty one is reported once, at
// its own place, however many operations it guards.
import { meantOrNearest } from "../diagnostics/did-you-mean.js";
import { own } from "../model/records.js";
import { refusingPhases } from "../model/vocabulary.js";
import { builtInHook, builtInHooks, lackingSection } from "../kernel/runtime-hooks.js";
import { policiesOf } from "../kernel/guards.js";
import { isLeftOut, isSectionLeftOut } from "../kernel/left-out.js";
import { stepNames } from "../load/other-words.js";
import type { PolicyStep } from "../load/declarations.js";
import type { Finding } from "../diagnostics/diagnostics.js";
import type { RuleContext } from "../kernel/rule.js";

/**
 * Reports undeclared steps, and hooks that run where nothing can be refused any more, also in
 * policies that no operation names. Steps that another section would add are reported only if an
 * operation uses them.
 */
export function policiesNameSteps({ loaded, expanded, report }: RuleContext): void {
  const { declarations, tree } = loaded;
  const used = new Set(Object.values(expanded.model.operations).flatMap(policiesOf));
  for (const [policy, steps] of Object.entries(declarations.policies)) {
    for (const [index, step] of steps.entries()) {
      if (!used.has(policy) && isBuiltIn(step)) continue;
      const fault = faultOf(step, loaded) ?? strayMember(step);
      const scope = typeof step === "object" && step.scope !== undefined ? ["scope"] : [];
      if (fault !== undefined)
        report({ ...fault, at: tree.at("policies", policy, index, ...scope) });
    }
  }
}

function isBuiltIn(step: PolicyStep): boolean {
  return builtInHooks.some(({ hook }) => hook.id === step);
}

type Loaded = RuleContext["loaded"];

function faultOf(step: PolicyStep, loaded: Loaded): Omit<Finding, "at"> | undefined {
  const { declarations: declared } = loaded;
  const { hooks, scopes } = declared;
  if (typeof step !== "string") {
    const names = [...Object.keys(scopes), "own_rows"];
    return step.scope === undefined || isLeftOut(loaded, step.scope, "scopes")
      ? undefined
      : unknown("scope", step.scope, names);
  }
  // Whether the function exists is judged with all others.
  if (step.includes("#")) return undefined;
  const lacks = Object.hasOwn(hooks, step) ? undefined : builtInHook(step, declared)?.lacks;
  if (lacks !== undefined)
    return isSectionLeftOut(loaded, lacks) ? undefined : lackingSection(step, lacks);
  if (isLeftOut(loaded, step, "hooks")) return undefined;
  const phase = own(hooks, step)?.phase;
  if (phase !== undefined && !refusingPhases.includes(phase))
    return { code: "OPW099", message: `${step} runs in ${phase}, where it cannot refuse anybody` };
  const builtIn = builtInHooks.map(({ hook }) => hook.id);
  return unknown("hook", step, [...Object.keys(hooks), ...builtIn]);
}

/** Permissions that lift a scope belong to a scope, and a former name to what is granted. */
function strayMember(step: PolicyStep): Omit<Finding, "at"> | undefined {
  if (typeof step === "string") return undefined;
  if (step.override !== undefined && step.scope === undefined)
    return { code: "OPW013", message: "override belongs to a scope" };
  if (step.strangers === true && (step.scope === undefined || step.scope === "own_rows"))
    return { code: "OPW013", message: "strangers belongs to one of `scopes`" };
  if (step.was !== undefined && step.authorize === undefined)
    return { code: "OPW013", message: "was belongs to authorize" };
  return undefined;
}

function unknown(
  what: string,
  name: string,
  known: readonly string[],
): Omit<Finding, "at"> | undefined {
  if (known.includes(name)) return undefined;
  const message = `no ${what} is called ${name}`;
  const meant = what === "hook" ? own(stepNames, name) : undefined;
  return { code: "OPW051", message, suggestion: meantOrNearest(meant, name, known) };
}
