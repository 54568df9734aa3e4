// The manifest: which files of the generated folder are ours, each with the hash that we gave it.
import { hash } from "node:crypto";
import type { EmittedFile } from "../print/file.js";
import { jsonFile } from "../print/file.js";

export const manifestName = "manifest.json";

/** Hashes by path. After a merge with conflicts a path can have two: either side's text is ours. */
export type Ownership = ReadonlyMap<string, ReadonlySet<string>>;

export function hashOf(text: string): string {
  return hash("sha256", text, "hex");
}

/** The manifest of files, given the hash of each. */
export function manifestOf(
  files: readonly { readonly path: string; readonly hash: string }[],
  version: string,
): EmittedFile {
  return jsonFile(manifestName, {
    generator: `opwright ${version}`,
    files: Object.fromEntries(files.map((file) => [file.path, file.hash])),
  });
}

/** Reads who owns what, line by line, so that a manifest with conflict markers still tells. */
export function readOwnership(text: string | undefined): Ownership {
  const owned = new Map<string, Set<string>>();
  for (const [, path = "", hash = ""] of (text ?? "").matchAll(
    /^\s*"([^"\n]+)": "([0-9a-f]{64})",?\r?$/gm,
  )) {
    owned.set(path, (owned.get(path) ?? new Set()).add(hash));
  }
  return owned;
}
