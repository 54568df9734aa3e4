// The generated folder after a merge, or after somebody has removed it: git knows its migrations, and who wrote its files.
import { brokenSuccession } from "../database/succession.js";
import { databasePath } from "../database/schema.js";
import type { MigrationHistory } from "../emit/migrations.js";
import type { Project } from "../generate.js";
import { hasConflict } from "../load/conflict-marks.js";
import { GeneratedFolder } from "../output/folder.js";
import { hashOf, manifestName, mergedOwnership, type Ownership } from "../output/manifest.js";
import { readOwnership } from "../output/manifest.js";
import { historyIn, migrationPath, type FolderTexts } from "../output/migration-history.js";
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
 * The project as it is, unless its generated folder was merged or has lost its migrations. After a merge, the migrations of the
 * base branch stay, and one follows for all else. Removed ones come back from HEAD. Where a migration was edited by hand, or
 * there is no git, nothing is mended, and findings say what is wrong.
 */
export function mendedProject(project: Project): MendedProject {
  if (project.base !== undefined) return { project };
  try {
    const folder = new GeneratedFolder(project.root, project.paths.out);
    const operation = operationIn(project.root);
    if (!operation.isUnderWay && isWhole(folder.texts())) return { project };
    return mended(project, folder.texts(), operation);
  } catch (error) {
    if (error instanceof UsageError) return { project };
    throw error;
  }
}

function mended(project: Project, here: FolderTexts, operation: GitOperation): MendedProject {
  const { root, paths } = project;
  if (git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") === undefined)
    return { project };
  const parents = parentsOf(root, operation);
  const restored = withTextsOf(here, folderAt("HEAD", root, paths.out));
  const isMerge =
    operation.isUnderWay || (!isWhole(restored) && (parents.length > 1 || isMixed(restored)));
  const ref = isMerge ? usualBase(root) : undefined;
  const owned = ownedBy([...parents, ...(ref === undefined ? [] : [ref])], here, project);
  const own = isMerge
    ? { ...project, owned: ownedInMerge(owned, parents, here, project) }
    : project;
  if (ref === undefined || isEditedIn(here, owned)) {
    if (isWhole(here) || !isWhole(restored)) return { project: own };
    const note = "the migrations of HEAD are taken, because they were removed here";
    return { project: { ...own, base: historyIn(restored, () => undefined) }, note };
  }
  const kept = migrationsKept(ref, project);
  if (
    isWhole(here) &&
    follows(
      historyIn(here, () => undefined),
      kept,
    )
  )
    return { project: own };
  const note = `a merge: the migrations of ${ref} stay, and one follows them for all that it does not have`;
  return { project: { ...own, base: kept }, note };
}

/** Whether there are migrations, and nothing is wrong with any of them. */
function isWhole(folder: FolderTexts): boolean {
  let losses = 0;
  const { files } = historyIn(folder, () => (losses += 1));
  return losses === 0 && files.length > 0 && !hasConflict(folder.read(manifestName) ?? "");
}

/** Whether two histories have met in the folder: conflicts, numbers that two migrations have, migrations of another manifest. */
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

/** The owned files, and texts that git made of them when it merged: they are in the index or in HEAD, and in no parent. */
function ownedInMerge(
  owned: Ownership,
  parents: readonly string[],
  here: FolderTexts,
  { root, paths: { out } }: Project,
): Ownership {
  const isMade = (path: string, text: string): boolean => {
    const has = (commit: string): boolean => textAt(commit, root, `${out}/${path}`) === text;
    const others = parents.length > 1 ? parents : ["HEAD^"];
    return (has(":0") || has("HEAD")) && !others.some(has);
  };
  const made = here.paths.flatMap((path) => {
    const hashes = owned.get(path);
    const text = here.read(path);
    if (hashes === undefined || text === undefined || hashes.has(hashOf(text))) return [];
    return isMade(path, text) ? [[path, new Set([hashOf(text)])] as const] : [];
  });
  return mergedOwnership([owned, new Map(made)]);
}
