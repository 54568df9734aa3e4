// What git is in the middle of: whose commits a merge, a rebase or a cherry-pick is about to add to
// HEAD.
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { commitOf, git } from "./git.js";

export interface GitOperation {
  /**
   * Whether a merge (`--squash` too), a rebase, a cherry-pick or a revert is neither committed nor
   * given up.
   */
  readonly isUnderWay: boolean;
  /** Commits that come with all that led to them: those of a merge. */
  readonly merged: readonly string[];
  /** Commits of which only their own change comes: those of a rebase or a cherry-pick. */
  readonly picked: readonly string[];
}

const files = ["MERGE_HEAD", "SQUASH_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD"] as const;
const folders = ["rebase-merge", "rebase-apply", "sequencer"] as const;

/** The operation that a repository is in the middle of. Throws `UsageError` without git. */
export function operationIn(root: string): GitOperation {
  const asked = [...files, ...folders].flatMap((name) => ["--git-path", name]);
  const paths = (git(root, "rev-parse", ...asked) ?? "").split("\n").filter((path) => path !== "");
  const isThere = (path = ""): boolean => path !== "" && existsSync(resolve(root, path));
  const text = (path = ""): string =>
    isThere(path) ? readFileSync(resolve(root, path), "utf8") : "";
  const [merge, squash, pick] = paths;
  const isRebase = paths.slice(files.length, files.length + 2).some(isThere);
  const rebased = isRebase ? git(root, "rev-parse", "--verify", "--quiet", "REBASE_HEAD") : "";
  return {
    isUnderWay: paths.some(isThere),
    merged: [
      ...text(merge).split("\n"),
      // `merge --squash` only leaves its message, with the newest commit first.
      /^commit ([0-9a-f]{40,64})$/m.exec(text(squash))?.[1] ?? "",
    ].filter((commit) => commit !== "" && isCommit(root, commit)),
    picked: [text(pick), rebased ?? ""].map((commit) => commit.trim()).filter(Boolean),
  };
}

function isCommit(root: string, name: string): boolean {
  return git(root, "cat-file", "-e", `${name}^{commit}`) !== undefined;
}

/**
 * The commit to compare with: the merge base, so that what others have added since doesn't look
 * removed. What is being merged counts as merged. Throws `UsageError` if the revision doesn't
 * exist.
 */
export function baseOf(ref: string, root: string): string {
  const commit = commitOf(ref, root);
  // With more than two commits, git takes a merge of all but the first. A shallow clone has no
  // merge base.
  const { merged } = operationIn(root);
  return git(root, "merge-base", commit, "HEAD", ...merged)?.trim() ?? commit;
}
