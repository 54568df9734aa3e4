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
  return projectDigest(project, state.modules) === state.digest ? state.operations : undefined;
}

/** A digest of the registry folder as it is now, taken before it is read. */
export function registryDigest({ root, paths }: Project): string {
  return digestOf(root, filesBelow(root, paths.registry));
}

/**
 * Remembers that the project is clean. `before` is the registry's digest from before it was read: where the folder has
 * changed since, nothing is remembered, for nobody has seen what is there now.
 */
export function rememberClean(
  project: Project,
  before: string,
  modules: readonly string[],
  operations: number,
): void {
  if (!existsSync(join(project.root, "node_modules"))) return;
  if (registryDigest(project) !== before) return;
  const state: CleanState = { digest: projectDigest(project, modules), modules, operations };
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
  return globSync("**/*", { cwd: join(root, folder), dot: true }).map(
    (name) => `${folder}/${name}`,
  );
}

/** A digest of this build of opwright and of the files. */
function digestOf(root: string, paths: readonly string[]): string {
  const hash = createHash("sha256").update(buildIdentity());
  for (const path of [...new Set(paths)].sort()) {
    const file = join(root, path);
    const text = existsSync(file) ? readFileSync(file) : undefined;
    hash.update(`\0${path}\0${text?.length ?? "none"}\0`);
    if (text !== undefined) hash.update(text);
  }
  return hash.digest("base64url");
}
