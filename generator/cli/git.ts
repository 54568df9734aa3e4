// What git knows of a project: commits, and files as they were in them.
import { spawnSync } from "node:child_process";
import { UsageError } from "./io.js";

/** What git prints; undefined where it fails. Throws `UsageError` where there is no git. */
export function git(root: string, ...args: readonly string[]): string | undefined {
  const { status, stdout, error } = spawnSync("git", args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1024 * 1024 * 1024,
  });
  if (error !== undefined) throw new UsageError(`git cannot be run: ${error.message}`);
  return status === 0 ? stdout : undefined;
}

/**
 * The commit to compare with: where the work at hand has left the revision, so that what others have added there since is
 * not told as gone. Throws `UsageError` where it is none.
 */
export function baseOf(ref: string, root: string): string {
  const at = `${ref}^{commit}`;
  const commit = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", at)?.trim();
  if (ref === "" || commit === undefined) throw new UsageError(`${ref || '""'} is no git revision`);
  // A clone without its history knows none.
  return git(root, "merge-base", commit, "HEAD")?.trim() ?? commit;
}

const usualBases = ["origin/HEAD", "origin/main", "origin/master", "main", "master"];

/** The base branch of a repository, the remote's before the local one; undefined without one, or without git. */
export function usualBase(root: string): string | undefined {
  const isThere = (ref: string): boolean =>
    git(root, "rev-parse", "--verify", "--quiet", `${ref}^{commit}`) !== undefined;
  try {
    return usualBases.find(isThere);
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}
