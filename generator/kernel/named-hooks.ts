// `hooks:` of a declaration: the author's hooks of its single operations.
import type { Origin } from "../diagnostics/diagnostics.js";
import type { HooksByPhase } from "../load/declarations.js";
import { hasOwnHooks, hookTypeName, typesOfHooks } from "../model/hook-types.js";
import type { OperationModel } from "../model/registry.js";
import type { ExpansionContext, FamilyContext } from "./family.js";
import { checkOperationName } from "./guard-by-operation.js";

/** A declaration with hooks, and where it stands. */
export interface HookedDeclaration {
  readonly path: readonly [section: string, name: string];
  readonly hooks: Readonly<Record<string, HooksByPhase>> | undefined;
}

/** The hooks that a declaration names for one of its operations, and where they stand. */
export function namedHooks(
  { tree }: Pick<ExpansionContext, "tree">,
  { path, hooks }: HookedDeclaration,
  operation: string,
): { readonly hooks: HooksByPhase; readonly at: Origin } | undefined {
  const own = hooks?.[operation];
  return own === undefined ? undefined : { hooks: own, at: tree.at(...path, "hooks", operation) };
}

/** Reports hooks of operations that the declaration does not register. */
export function checkHookNames(
  context: Pick<ExpansionContext, "tree" | "report">,
  { path, hooks = {} }: HookedDeclaration,
  names: readonly string[],
): void {
  for (const name of Object.keys(hooks)) {
    const at = { ...context.tree.at(...path, "hooks", name), isKey: true };
    checkOperationName(context, path[1], name, { names, groups: [], at });
  }
}

/** Claims the names of the types that an operation's own hooks bring. */
export function claimHookTypes(
  { types: { table } }: Pick<FamilyContext, "types">,
  operation: OperationModel,
  at: Origin | undefined,
): void {
  if (at === undefined || !hasOwnHooks(operation)) return;
  table.claim(hookTypeName(operation.key), at);
  for (const { name } of typesOfHooks(operation)) table.claim(name, at);
}
