// The generated folder after a merge, or after somebody has removed it: git knows its migrations,
// and who wrote its files.
import { brokenSuccession } from "../database/succession.js";
import { databasePath } from "../database/schema.js";
import type { MigrationHistory } from "../emit/migrations.js";
import type { Project } from "../pipeline/generate.js";
import { hasConflict } from "../load/conflict-marks.js";
import { GeneratedFolder } from "../output/folder.js";
import { hashOf, manifestName, mergedOwnership, type Ownership } from "../output/manifest.js";
import { readOwnership } from "../output/manifest.js";
import { historyIn, type FolderTexts } from "../output/migration-history.js";
import { migrationPath } from "../database/schema.js";
import { folderAt, textAt } from "./base-migrations.js";
import { git, usualBase } from "./git.js";
import { operationIn, type GitOperation } from "./git-operation.js";
import { UsageError } from "./io.js";
import { migrationsKept } from "./kept-migrations.js";

/** A project with what git adds to its generated folder, and what is to be told about that. */
export interface MendedProject {
  readonly project: Project;
  readonly note?: string;
}

/**
 * The project as it is, unless its generated folder was merged or has lost its migrations. After a
 * merge, the migrations of the base branch stay, and one follows for all else. Removed ones come
 * back from HEAD. Where a migration was edited by hand, or there is no git, nothing is mended, and
 * findings say what is wrong. Throws `UsageError` where migrations that HEAD has would be made
 * anew.
 */
export function mendedProject(project: Project): MendedProject {
  if (project.base !== undefined) return { project };
  const here = new GeneratedFolder(project.root, project.paths.out).texts();
  const operation = operationOf(project.root);
  if (operation === undefined || (!operation.isUnderWay && isWhole(here))) return { project };
  return mendMerge(project, here, operation);
}

function mendMerge(project: Project, here: FolderTexts, operation: GitOperation): MendedProject {
  const { root, paths } = project;
  const parents = parentsOf(root, operation);
  const head = folderAt("HEAD", root, paths.out);
  const restored = withTextsOf(here, head);
  const isMerge =
    operation.isUnderWay || (!isWhole(restored) && (parents.length > 1 || isMixed(restored)));
  const ref = isMerge ? usualBase(root) : undefined;
  const commits = [...parents, ...(ref === undefined ? [] : [ref])];
  if (ref !== undefined && !isEditedIn(here, ownedBy(commits, here, project))) {
    const kept = migrationsKept(ref, project);
    if (isWhole(here) && follows(historyOf(here), kept)) return { project };
    const note = `a merge: the migrations of ${ref} stay, and one follows them for all that it does not have`;
    return { project: { ...project, base: kept }, note };
  }
  if (isWhole(here)) return { project };
  if (!isMerge && isWhole(restored)) {
    const note = "the migrations of HEAD are taken, because they were removed here";
    return { project: { ...project, base: historyOf(restored) }, note };
  }
  const hasMigrations = (folder: FolderTexts): boolean =>
    folder.paths.some((path) => migrationPath.test(path));
  // Migrations that are here and not whole are findings.
  if (!hasMigrations(restored) || hasMigrations(here)) return { project };
  throw new UsageError(
    `${paths.out} has no migrations, and git doesn't tell which stay: restore them (git checkout HEAD -- ${paths.out}), or run \`opwright migrations squash --base REF\``,
  );
}

/** What git is in the middle of; undefined without git, or without a commit. */
function operationOf(root: string): GitOperation | undefined {
  try {
    const operation = operationIn(root);
    const head = git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}");
    return head === undefined ? undefined : operation;
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}

function historyOf(folder: FolderTexts): MigrationHistory {
  return historyIn(folder, () => undefined);
}

/** Whether there are migrations, and nothing is wrong with any of them. */
function isWhole(folder: FolderTexts): boolean {
  let losses = 0;
  const { files } = historyIn(folder, () => (losses += 1));
  return losses === 0 && files.length > 0 && !hasConflict(folder.read(manifestName) ?? "");
}

/**
 * Whether two histories have met in the folder: conflicts, numbers that two migrations have,
 * migrations of another manifest.
 */
function isMixed(folder: FolderTexts): boolean {
  const isCut = [manifestName, databasePath].some((path) => hasConflict(folder.read(path) ?? ""));
  let isMet = isCut;
  historyIn(folder, (_path, what) => {
    if (what !== "is missing" && what !== "was edited") isMet = true;
  });
  return isMet;
}

function follows(here: MigrationHistory, kept: MigrationHistory): boolean {
  const texts = new Map(here.files.map(({ path, text }) => [path, text]));
  return (
    kept.files.every(({ path, text }) => texts.get(path) === text) &&
    brokenSuccession(kept.database, here.database).length === 0
  );
}

/** The commits that a merge joins: the one under way, or the last one. */
function parentsOf(root: string, { isUnderWay, merged, picked }: GitOperation): readonly string[] {
  if (isUnderWay) return ["HEAD", ...merged, ...picked];
  const parents = (git(root, "rev-parse", "HEAD^@") ?? "").split("\n").filter(Boolean);
  return parents.length > 1 ? parents : [];
}

/** What is here, and what of another folder is missing here. */
function withTextsOf(here: FolderTexts, other: FolderTexts): FolderTexts {
  const isOfMigrations = (path: string): boolean =>
    path === manifestName || path === databasePath || migrationPath.test(path);
  return {
    paths: [...new Set([...here.paths, ...other.paths.filter(isOfMigrations)])],
    read: (path) => here.read(path) ?? (isOfMigrations(path) ? other.read(path) : undefined),
  };
}

/** The files that the manifest here, or that of a commit, lists. */
function ownedBy(
  commits: readonly string[],
  here: FolderTexts,
  { root, paths: { out } }: Project,
): Ownership {
  const manifests = commits.map((commit) => textAt(commit, root, `${out}/${manifestName}`));
  return mergedOwnership([here.read(manifestName), ...manifests].map(readOwnership));
}

/** Whether a migration has a text that no manifest lists, and that no merge left. */
function isEditedIn(here: FolderTexts, owned: Ownership): boolean {
  return here.paths
    .filter((path) => migrationPath.test(path))
    .map((path) => ({ path, text: here.read(path) ?? "" }))
    .some(({ path, text }) => !hasConflict(text) && owned.get(path)?.has(hashOf(text)) !== true);
}

/**
 * Files that are ours after a merge, whichever manifest was chosen: those that the manifest of
 * either side lists, and texts that git made when it merged: they are in the index or in HEAD, and
 * in no parent. Undefined if nothing was merged.
 */
export function ownedAfterMerge(project: Project): Ownership | undefined {
  const { root, paths } = project;
  const operation = operationOf(root);
  if (operation === undefined) return undefined;
  const parents = parentsOf(root, operation);
  const here = new GeneratedFolder(root, paths.out).texts();
  if (parents.length < 2 && !isMixed(here)) return undefined;
  const base = usualBase(root);
  const owned = ownedBy([...parents, ...(base === undefined ? [] : [base])], here, project);
  return mergedOwnership([owned, mergedTexts(owned, parents, here, project)]);
}

function mergedTexts(
  owned: Ownership,
  parents: readonly string[],
  here: FolderTexts,
  { root, paths: { out } }: Project,
): Ownership {
  const others = parents.length > 1 ? parents : ["HEAD^"];
  const isMade = (path: string, text: string): boolean => {
    const has = (commit: string): boolean => textAt(commit, root, `${out}/${path}`) === text;
    return (has(":0") || has("HEAD")) && !others.some(has);
  };
  return new Map(
    here.paths.flatMap((path) => {
      const hashes = owned.get(path);
      const text = here.read(path);
      if (hashes === undefined || text === undefined || hashes.has(hashOf(text))) return [];
      return isMade(path, text) ? [[path, new Set([hashOf(text)])] as const] : [];
    }),
  );
}
