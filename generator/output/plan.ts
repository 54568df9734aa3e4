// What generating would change: compares emitted files with those on disk. Writes nothing.
import type { EmittedFile } from "../print/file.js";
import { hasConflict } from "../load/conflict-marks.js";
import { hashOf, type Ownership } from "./manifest.js";

/** One file that differs from what should be there. */
export type FileChange =
  | { readonly kind: "missing"; readonly path: string; readonly text: string }
  /** Ours, and out of date. */
  | {
      readonly kind: "changed";
      readonly path: string;
      readonly text: string;
      readonly before: string;
    }
  /** Ours, and no longer part of the output. */
  | { readonly kind: "stale"; readonly path: string; readonly before: string }
  /**
   * Ours, but changed by someone else since. Without a text it is no longer part of the output
   * either.
   */
  | {
      readonly kind: "edited";
      readonly path: string;
      readonly text: string | undefined;
      readonly before: string;
    }
  /** Not ours, but where one of our files belongs. */
  | {
      readonly kind: "foreign";
      readonly path: string;
      readonly text: string;
      readonly before: string;
    };

/** A file of the output, and the text that is on disk in its place, if any. */
export interface Compared extends EmittedFile {
  readonly hash: string;
  readonly before: string | undefined;
}

/**
 * Adds to each file its hash and the text on disk. `read` gives the text of a path, or undefined.
 */
export function compareFiles(
  files: readonly EmittedFile[],
  read: (path: string) => string | undefined,
): readonly Compared[] {
  return files.map((file) => ({ ...file, hash: hashOf(file.text), before: read(file.path) }));
}

/** Whether the change removes the file. */
export function isRemoval(change: FileChange): boolean {
  return change.kind === "stale" || (change.kind === "edited" && change.text === undefined);
}

/**
 * The changes that turn the folder into `files`, by path. `read` gives the text of a path, or
 * undefined.
 */
export function planOutput(
  files: readonly Compared[],
  ownership: Ownership,
  read: (path: string) => string | undefined,
): readonly FileChange[] {
  // A file with conflict marks is rewritten rather than treated as edited.
  const isOurs = (before: string, hashes: ReadonlySet<string>): boolean =>
    hashes.has(hashOf(before)) || hasConflict(before);
  const wanted = new Set(files.map(({ path }) => path));
  const present = files.flatMap(({ path, text, before }): readonly FileChange[] => {
    if (before === undefined) return [{ kind: "missing", path, text }];
    if (before === text) return [];
    const hashes = ownership.get(path);
    if (hashes === undefined) return [{ kind: "foreign", path, text, before }];
    return [{ kind: isOurs(before, hashes) ? "changed" : "edited", path, text, before }];
  });
  const gone = [...ownership].flatMap(([path, hashes]): readonly FileChange[] => {
    if (wanted.has(path)) return [];
    const before = read(path);
    if (before === undefined) return [];
    return [
      isOurs(before, hashes)
        ? { kind: "stale", path, before }
        : { kind: "edited", path, text: undefined, before },
    ];
  });
  return [...present, ...gone].sort((left, right) => (left.path < right.path ? -1 : 1));
}
