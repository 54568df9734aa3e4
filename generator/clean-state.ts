// The memory of a clean check: where registry, handlers and generated folder are all as they were then, there is
// nothing to do. Kept below node_modules/.cache; without it everything is done anew.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { globSync } from "tinyglobby";
import type { Project } from "./generate.js";
import { buildIdentity } from "./package-root.js";

interface CleanState {
  readonly digest: string;
  /** Files outside the registry and generated folders that were read. */
  readonly modules: readonly string[];
  readonly operations: number;
}

/** How many operations the project has, where nothing has changed since it was last clean; else undefined. */
export function stillClean(project: Project): number | undefined {
  const state = read(project);
  if (state === undefined) return undefined;
  return digestOf(project, state.modules) === state.digest ? state.operations : undefined;
}

/** Remembers that the project is clean now. */
export function rememberClean(
  project: Project,
  modules: readonly string[],
  operations: number,
): void {
  if (!existsSync(join(project.root, "node_modules"))) return;
  const state: CleanState = { digest: digestOf(project, modules), modules, operations };
  const path = pathOf(project);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(state));
}

function pathOf({ root, paths }: Project): string {
  const name = createHash("sha256").update(JSON.stringify(paths)).digest("hex").slice(0, 16);
  return join(root, "node_modules", ".cache", "opwright", `clean-${name}.json`);
}

function read(project: Project): CleanState | undefined {
  try {
    return JSON.parse(readFileSync(pathOf(project), "utf8")) as CleanState;
  } catch {
    return undefined;
  }
}

/** A digest of this version, of every file of both folders, and of the modules. */
function digestOf({ root, paths }: Project, modules: readonly string[]): string {
  const inFolders = globSync([`${paths.registry}/**/*`, `${paths.out}/**/*`], {
    cwd: root,
    dot: true,
  });
  const hash = createHash("sha256").update(buildIdentity());
  for (const path of [...new Set([...inFolders, ...modules])].sort()) {
    const file = join(root, path);
    const text = existsSync(file) ? readFileSync(file) : undefined;
    hash.update(`\0${path}\0${text?.length ?? "none"}\0`);
    if (text !== undefined) hash.update(text);
  }
  return hash.digest("base64url");
}
