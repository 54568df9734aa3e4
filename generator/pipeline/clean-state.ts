// The memory of a clean check: where registry, handlers and generated folder are all as they were
// then, there is nothing to do. Kept below node_modules/.cache; without it everything is done anew.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import type { Finding } from "../diagnostics/diagnostics.js";
import type { CheckedRegistry, Project } from "./generate.js";
import { maxFileBytes, projectEntry } from "../load/project-file.js";
import { folderContent } from "../load/project-folder.js";
import { buildIdentity } from "../project/package-root.js";

interface CleanState {
  readonly digest: string;
  /** Files outside the registry and generated folders that were read. */
  readonly modules: readonly string[];
  readonly operations: number;
  /** What is told each time. */
  readonly warnings: readonly Finding[];
}

/** The memory of a project where nothing has changed since it was last clean; else undefined. */
export function stillClean(
  project: Project,
): Pick<CleanState, "operations" | "warnings"> | undefined {
  const state = read(project);
  if (state === undefined) return undefined;
  return projectDigest(project, state.modules) === state.digest ? state : undefined;
}

/**
 * The present state of the registry folder: its files with their sizes and times. To be taken
 * before they are read.
 */
export function registryState({ root, paths }: Project): string {
  const entries = filesBelow(root, paths.registry).map((path) => {
    const stats = statsOf(join(root, path));
    return [path, stats?.ino, stats?.size, stats?.mtimeMs, stats?.ctimeMs];
  });
  return JSON.stringify(entries);
}

/** Undefined for what is gone, and for a link that leads to itself. */
function statsOf(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch {
    return undefined;
  }
}

/**
 * Remembers that the project is clean. `before` is how the registry was before it was read: where
 * the folder has changed since, nothing is remembered, because what is there now was not checked.
 */
export function rememberClean(
  project: Project,
  before: string,
  { modules, warnings, expanded }: Pick<CheckedRegistry, "modules" | "warnings" | "expanded">,
): void {
  if (!existsSync(join(project.root, "node_modules"))) return;
  if (registryState(project) !== before) return;
  const digest = projectDigest(project, modules);
  const operations = Object.keys(expanded.model.operations).length;
  const state: CleanState = { digest, modules, operations, warnings };
  const path = pathOf(project);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(state));
}

function pathOf({ root, paths, client }: Project): string {
  const settings = JSON.stringify([paths, client]);
  const name = createHash("sha256").update(settings).digest("hex").slice(0, 16);
  return join(root, "node_modules", ".cache", "opwright", `clean-${name}.json`);
}

function read(project: Project): CleanState | undefined {
  try {
    return JSON.parse(readFileSync(pathOf(project), "utf8")) as CleanState;
  } catch {
    return undefined;
  }
}

function projectDigest({ root, paths }: Project, modules: readonly string[]): string {
  return digestOf(root, [
    ...filesBelow(root, paths.registry),
    ...filesBelow(root, paths.out),
    ...modules,
  ]);
}

function filesBelow(root: string, folder: string): readonly string[] {
  const { files, folders, refused } = folderContent(root, folder);
  return [...files, ...folders, ...refused.map(({ path }) => path)];
}

/** A digest of this build of opwright and of the files. */
function digestOf(root: string, paths: readonly string[]): string {
  const hash = createHash("sha256").update(buildIdentity());
  for (const path of [...new Set(paths)].sort()) {
    const entry = projectEntry(root, path);
    hash.update(`\0${path}\0${entry.kind === "refused" ? entry.why : entry.kind}\0`);
    if (entry.kind !== "file") continue;
    const { size, mtimeMs } = statSync(entry.real);
    hash.update(`${size}\0`);
    // No registry is that large: such a file is told by when it was changed.
    hash.update(size > maxFileBytes ? String(mtimeMs) : readFileSync(entry.real));
  }
  return hash.digest("base64url");
}
