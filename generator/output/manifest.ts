// The manifest: which files of the generated folder are ours, each with the hash of the text that
// we wrote. While files are being written, it says what both were and will be.
import { hash } from "node:crypto";
import type { EmittedFile } from "../print/file.js";
import { jsonFile } from "../print/file.js";

export const manifestName = "manifest.json";

/**
 * Hashes by path. After a merge with conflicts a path can have two: the text of either side is
 * ours.
 */
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
  generator: string,
): EmittedFile {
  return jsonFile(manifestName, {
    generator,
    files: Object.fromEntries(files.map((file) => [file.path, file.hash])),
  });
}

/**
 * Reads a manifest line by line rather than as JSON, so that one with conflict markers still works.
 */
export function readOwnership(text: string | undefined): Ownership {
  const owned = new Map<string, Set<string>>();
  for (const [, path = "", hash = ""] of (text ?? "").matchAll(
    /^\s*"([^"\n]+)": "([0-9a-f]{64})",?\r?$/gm,
  )) {
    owned.set(path, (owned.get(path) ?? new Set()).add(hash));
  }
  return owned;
}

/**
 * The manifest of a folder that is being written: each of its files has the text of before, or that
 * of afterwards.
 */
export interface PendingManifest {
  readonly generator: string;
  /** The process that writes: its id is part of the names of staged files. */
  readonly writer: number;
  /** Hashes of all files before, by path. */
  readonly before: Readonly<Record<string, string>>;
  /** Hashes of all files afterwards. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * What stands in the manifest's place until all is written. `changed` has the hash before of each
 * file that changes, undefined for a new one. `readOwnership` finds both hashes of a path in it.
 */
export function pendingManifestOf(
  manifest: EmittedFile,
  writer: number,
  changed: ReadonlyMap<string, string | undefined>,
): EmittedFile {
  // `manifestOf` has printed it.
  const { generator, files } = JSON.parse(manifest.text) as Omit<PendingManifest, "writer">;
  const before = [...new Map([...Object.entries(files), ...changed])].filter(
    ([, hash]) => hash !== undefined,
  );
  return jsonFile(manifestName, { generator, writer, before: Object.fromEntries(before), files });
}

/**
 * The manifest of a folder that is being written, or whose writing was interrupted; undefined for
 * any other text.
 */
export function readPending(text: string | undefined): PendingManifest | undefined {
  if (text === undefined || !text.includes('"writer"')) return undefined;
  try {
    const { generator, writer, before, files } = JSON.parse(text) as Record<string, unknown>;
    if (typeof generator !== "string" || typeof writer !== "number") return undefined;
    return hasHashes(before) && hasHashes(files) ? { generator, writer, before, files } : undefined;
  } catch {
    // Conflict markers: what is ours is still known line by line.
    return undefined;
  }
}

function hasHashes(value: unknown): value is Readonly<Record<string, string>> {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every((one) => typeof one === "string")
  );
}
