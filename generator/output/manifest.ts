// The manifest: which files of the generated folder are ours, each with the hash of the text that we wrote.
import { hash } from "node:crypto";
import type { EmittedFile } from "../print/file.js";
import { jsonFile } from "../print/file.js";

export const manifestName = "manifest.json";

/** Hashes by path. After a merge with conflicts a path can have two: the text of either side is ours. */
export type Ownership = ReadonlyMap<string, ReadonlySet<string>>;

/** What several manifests list. */
export function mergedOwnership(all: readonly Ownership[]): Ownership {
  const owned = new Map<string, Set<string>>();
  for (const [path, hashes] of all.flatMap((one) => [...one]))
    owned.set(path, new Set([...(owned.get(path) ?? []), ...hashes]));
  return owned;
}

/** The SHA-256 of a text, in hexadecimal. */
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

/** Reads a manifest line by line rather than as JSON, so that one with conflict markers still works. */
export function readOwnership(text: string | undefined): Ownership {
  const owned = new Map<string, Set<string>>();
  for (const [, path = "", hash = ""] of (text ?? "").matchAll(
    /^\s*"([^"\n]+)": "([0-9a-f]{64})",?\r?$/gm,
  )) {
    owned.set(path, (owned.get(path) ?? new Set()).add(hash));
  }
  return owned;
}
