// `guard:` with a policy for all operations, or for groups and single ones; and findings about
// operations that aren't there.
import type { Origin } from "../diagnostics/diagnostics.js";
import type { SourceTree } from "../load/source-tree.js";
import type { ExpansionContext } from "./family.js";
import type { GuardUse } from "./guards.js";
import { operationAdvice } from "./operation-advice.js";

type Guard = string | Readonly<Record<string, string>>;

/** A guard, and where it stands in the registry. */
export interface PlacedGuard {
  readonly tree: SourceTree;
  readonly path: readonly [string, ...string[]];
  readonly guard: Guard;
}

/**
 * The policy that a guard gives to one operation, or to one group; undefined if it names
 * neither.
 */
export function policyNamed(
  { tree, path, guard }: PlacedGuard,
  name: string,
): GuardUse | undefined {
  if (typeof guard === "string" || !Object.hasOwn(guard, name)) return undefined;
  return { policy: guard[name] ?? "", at: tree.at(...path, name), verb: name };
}

/**
 * The policy of a group such as `read`: that for all, or that of the group; a policy without a name
 * if there is none.
 */
export function policyOfGroup(placed: PlacedGuard, group: string): GuardUse {
  const { tree, path, guard } = placed;
  if (typeof guard === "string") return { policy: guard, at: tree.at(...path) };
  return policyNamed(placed, group) ?? { policy: "", at: tree.at(...path), verb: group };
}

/** The policies without those that an earlier one asks already. */
export function distinctPolicies(guards: readonly GuardUse[]): readonly GuardUse[] {
  return guards.filter(
    ({ policy }, index) => guards.findIndex((one) => one.policy === policy) === index,
  );
}

/**
 * Reports an operation that a declaration names and that its namespace doesn't register (OPW062).
 */
export function checkOperationName(
  { report }: Pick<ExpansionContext, "report">,
  namespace: string,
  name: string,
  {
    names,
    groups,
    at,
  }: {
    readonly names: readonly string[];
    /** Groups of operations that may be named as well. */
    readonly groups: readonly string[];
    readonly at: Origin;
  },
): void {
  if (names.includes(name) || groups.includes(name)) return;
  report({
    code: "OPW062",
    message: `${namespace} registers no operation ${name}`,
    at,
    ...operationAdvice(name, names, groups),
  });
}

/** Reports the operations that a guard names and that its namespace doesn't register. */
export function checkGuardNames(
  context: ExpansionContext,
  namespace: string,
  { tree, path, guard }: PlacedGuard,
  known: { readonly names: readonly string[]; readonly groups: readonly string[] },
): void {
  if (typeof guard === "string") return;
  for (const name of Object.keys(guard))
    checkOperationName(context, namespace, name, { ...known, at: tree.keyAt(...path, name) });
}
