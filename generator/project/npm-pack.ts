// What npm makes of a package's folder.
import { spawnSync } from "node:child_process";

/** A package as npm packs it. */
export interface PackedByNpm {
  /** The name of its tarball. */
  readonly filename: string;
  /** What is in it, by path in the folder. */
  readonly files: readonly { readonly path: string }[];
}

/**
 * Runs `npm pack` in a folder, without scripts; `isTrial` writes nothing. Throws an error that says
 * why it failed.
 */
export function packByNpm(folder: string, isTrial = false): PackedByNpm {
  const options = ["--ignore-scripts", "--json", ...(isTrial ? ["--dry-run"] : [])];
  const { status, stdout, stderr } = spawnSync("npm", ["pack", ...options], {
    cwd: folder,
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error(`npm pack failed in ${folder}: ${stderr}`);
  const told = JSON.parse(stdout) as Readonly<Record<string, unknown>> | readonly unknown[];
  // An array up to npm 11, by the package's name from 12 on.
  const [first] = Object.values(told) as readonly PackedByNpm[];
  if (first === undefined) throw new Error(`npm pack told of no tarball: ${stdout}`);
  return first;
}
