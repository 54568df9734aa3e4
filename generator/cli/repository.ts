// Where a project is in its repository: what reads annotations and SARIF counts from the
// repository's root.
import { existsSync, realpathSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/**
 * The path of a project in its git repository with a slash behind it, such as `services/shop/`;
 * empty at the root, or without one.
 */
export function repositoryPrefix(project: string): string {
  const start = realpathSync(project);
  for (let folder = start; ; folder = dirname(folder)) {
    // A folder, or a file in a worktree.
    if (existsSync(join(folder, ".git"))) {
      const path = relative(folder, start).replaceAll("\\", "/");
      return path === "" ? "" : `${path}/`;
    }
    if (folder === dirname(folder)) return "";
  }
}
