// What is below a folder of a project: links are followed inside the project alone, and no file is
// opened (attack 87).
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { projectEntry } from "./project-file.js";

/** Paths relative to the project, with forward slashes, in order. */
export interface FolderContent {
  readonly files: readonly string[];
  readonly folders: readonly string[];
  readonly refused: readonly RefusedEntry[];
}

export interface RefusedEntry {
  readonly path: string;
  readonly why: string;
  /** Whether files would be below it. */
  readonly isFolder: boolean;
}

/**
 * All that is below a folder. Refused are links that lead out of the project, nowhere, or back to a
 * folder that they are in, and what is neither file nor folder. A folder that is not there is
 * empty.
 */
export function folderContent(root: string, folder: string): FolderContent {
  const files: string[] = [];
  const folders: string[] = [];
  const refused: RefusedEntry[] = [];
  const visit = (path: string, around: readonly string[]): void => {
    const entry = projectEntry(root, path);
    if (entry.kind === "file") files.push(path);
    if (entry.kind === "refused")
      refused.push({ path, why: entry.why, isFolder: leadsToFolder(join(root, path)) });
    if (entry.kind !== "folder") return;
    if (around.includes(entry.real)) {
      refused.push({ path, why: "is a link to a folder that it is in", isFolder: true });
      return;
    }
    folders.push(path);
    for (const inner of readdirSync(join(root, path), { withFileTypes: true })) {
      // The common case needs no further look.
      if (inner.isFile()) files.push(`${path}/${inner.name}`);
      else visit(`${path}/${inner.name}`, [...around, entry.real]);
    }
  };
  visit(folder, []);
  return {
    files: files.sort(),
    folders: folders.sort(),
    refused: refused.sort((left, right) => (left.path < right.path ? -1 : 1)),
  };
}

function leadsToFolder(file: string): boolean {
  try {
    return statSync(file).isDirectory();
  } catch {
    // It leads nowhere.
    return false;
  }
}
