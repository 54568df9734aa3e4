// The policies of a storage's verbs: each verb has those of what it does (decisions.md "A twin
// takes the rule of its original").
import { distinctPolicies, policyNamed, policyOfGroup } from "../../kernel/guard-by-operation.js";
import type { GuardUse } from "../../kernel/guards.js";
import type { SourceTree } from "../../load/source-tree.js";
import type { StorageDeclaration } from "./format.js";
import type { StorageVerb } from "./verbs/verb.js";

/** The policies of a verb: those of its originals, and its own where the guard names it. */
export function guardsOf(
  tree: SourceTree,
  storage: string,
  { guard }: StorageDeclaration,
  verb: StorageVerb,
): readonly GuardUse[] {
  const placed = { tree, path: ["storage", storage, "guard"], guard } as const;
  const usual = (one: StorageVerb): GuardUse =>
    policyNamed(placed, one.name) ?? policyOfGroup(placed, one.group);
  const { name, twinOf: originals = [] } = verb;
  const ofItself = originals.length === 0 ? usual(verb) : (policyNamed(placed, name) ?? []);
  return distinctPolicies([...originals.map(usual), ofItself].flat());
}
