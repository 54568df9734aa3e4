// The policies of a storage's verbs: each verb has those of what it does (decisions.md "A twin takes the rule of its original").
import { distinctPolicies, policyNamed, policyOfGroup } from "../../kernel/guard-by-operation.js";
import type { GuardUse } from "../../kernel/guards.js";
import type { SourceTree } from "../../load/source-tree.js";
import type { StorageDeclaration } from "./format.js";
import { shapes } from "./shapes.js";
import type { StorageVerb } from "./verbs.js";

/** The verbs by which a caller could do, one by one, what a verb does; empty for those that are nobody's twin. */
export function originalsOf(verb: StorageVerb): readonly StorageVerb[] {
  switch (verb) {
    case "download_stream":
    case "download_range":
    case "presign_download":
      return ["download"];
    case "list":
      return ["metadata"];
    case "copy":
      return ["download", "upload"];
    case "move":
      return ["download", "upload", "delete"];
    case "presign_upload":
    case "presign_post":
    case "begin_upload":
    case "presign_part":
    case "list_parts":
    case "complete_upload":
    case "abort_upload":
      return ["upload"];
    default:
      return [];
  }
}

/** The policies of a verb: those of its originals, and its own where the guard names it. */
export function guardsOf(
  tree: SourceTree,
  storage: string,
  { guard }: StorageDeclaration,
  verb: StorageVerb,
): readonly GuardUse[] {
  const placed = { tree, path: ["storage", storage, "guard"], guard } as const;
  const usual = (one: StorageVerb): GuardUse =>
    policyNamed(placed, one) ?? policyOfGroup(placed, shapes[one].isReading ? "read" : "write");
  const originals = originalsOf(verb);
  const ofItself = originals.length === 0 ? usual(verb) : (policyNamed(placed, verb) ?? []);
  return distinctPolicies([...originals.map(usual), ofItself].flat());
}
