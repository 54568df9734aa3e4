// Git's view of a project: commits, and the files in them.
import { spawnSync } from "node:child_process";
import { UsageError } from "./io.js";

/** Git's output; undefined if it fails. Throws `UsageError` without git. */
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
 * The texts of objects such as `main:./generated/registry.json`, undefined for those that don't
 * exist, by one process for all of them. Throws `UsageError` without git.
 */
export function textsOf(root: string, names: readonly string[]): readonly (string | undefined)[] {
  if (names.length === 0) return [];
  const { status, stdout, error } = spawnSync("git", ["cat-file", "--batch"], {
    cwd: root,
    input: names.map((name) => `${name}\n`).join(""),
    maxBuffer: 1024 * 1024 * 1024,
  });
  if (error !== undefined) throw new UsageError(`git cannot be run: ${error.message}`);
  if (status !== 0) return names.map(() => undefined);
  let at = 0;
  return names.map(() => {
    const end = stdout.indexOf("\n", at);
    const size = /^[0-9a-f]+ blob (\d+)$/.exec(stdout.toString("utf8", at, end))?.[1];
    at = end + 1;
    if (size === undefined) return undefined;
    const text = stdout.toString("utf8", at, at + Number(size));
    at += Number(size) + 1;
    return text;
  });
}

/** The commit that a revision names. Throws `UsageError` if it doesn't exist. */
export function commitOf(ref: string, root: string): string {
  const at = `${ref}^{commit}`;
  const commit = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", at)?.trim();
  if (ref === "" || commit === undefined) throw new UsageError(`${ref || '""'} is no git revision`);
  return commit;
}

const usualBases = ["origin/HEAD", "origin/main", "origin/master", "main", "master"];

/**
 * The base branch of a repository, the remote's before the local one; undefined without one, or
 * without git.
 */
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
