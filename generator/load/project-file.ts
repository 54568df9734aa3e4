// The one door to files that a project names: regular, of a bounded size, and inside the project
// even through links (attack 87).
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
} from "node:fs";
import { dirname, isAbsolute, join, relative } from "node:path";
import type { Finding } from "../diagnostics/diagnostics.js";

/** The largest file of a registry that is read. */
export const maxFileBytes = 4 * 1024 * 1024;

/** What stands at a path. What is refused says why, as a predicate of the path. */
export type ProjectEntry =
  | { readonly kind: "file"; readonly real: string }
  | { readonly kind: "folder"; readonly real: string }
  | { readonly kind: "absent" }
  | { readonly kind: "refused"; readonly why: string };

/** The text of a file, or why there is none. */
export type ProjectText =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "absent" }
  | { readonly kind: "refused"; readonly why: string };

/**
 * What stands at a path of a project; where nothing does, something may be made there. Opens
 * nothing.
 */
export function projectEntry(root: string, path: string): ProjectEntry {
  const file = join(root, path);
  if (isOutside(root, file)) return refuseFile("is outside the project");
  let real: string;
  try {
    real = realpathSync.native(file);
  } catch {
    const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    if (isLink) return refuseFile("is a link that leads nowhere");
    // What is made here is made where the folder above leads.
    const above = relative(root, dirname(file));
    const folder = above === "" ? undefined : projectEntry(root, above);
    return folder?.kind === "refused"
      ? refuseFile("is below a link out of the project")
      : { kind: "absent" };
  }
  if (isOutside(realpathSync.native(root), real)) return refuseFile("is a link out of the project");
  const stats = statSync(real);
  if (stats.isDirectory()) return { kind: "folder", real };
  return stats.isFile() ? { kind: "file", real } : refuseFile("is not a regular file");
}

/** Reads a file of a project. What is refused is not opened, or closed without being read. */
export function readProjectText(
  root: string,
  path: string,
  maxBytes: number = maxFileBytes,
): ProjectText {
  const entry = projectEntry(root, path);
  if (entry.kind === "folder") return refuseFile("is a folder, not a file");
  if (entry.kind !== "file") return entry;
  // Had it become a FIFO or a link meanwhile, opening would wait for ever or lead elsewhere.
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  const descriptor = openSync(entry.real, O_RDONLY | (O_NONBLOCK ?? 0) | (O_NOFOLLOW ?? 0));
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return refuseFile("is not a regular file");
    if (stats.size > maxBytes) return refuseFile(`is larger than ${maxBytes / 1024 ** 2} MiB`);
    return { kind: "text", text: readFileSync(descriptor, "utf8") };
  } finally {
    closeSync(descriptor);
  }
}

/** A file or folder of a project that is not read, and of which nothing is shown. */
export function notRead(path: string, why: string): Finding {
  return { code: "OPW008", message: `${path} ${why}`, at: { file: path, path: [] } };
}

function isOutside(root: string, file: string): boolean {
  const path = relative(root, file);
  return isAbsolute(path) || /^\.\.(?:[\\/]|$)/.test(path);
}

function refuseFile(why: string): { readonly kind: "refused"; readonly why: string } {
  return { kind: "refused", why };
}

/** The text of a file of the project, or undefined if it is none that may be read. */
export function textOfFile(root: string, file: string): string | undefined {
  const read = readProjectText(root, file);
  return read.kind === "text" ? read.text : undefined;
}
