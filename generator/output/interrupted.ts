// Finishing what an interrupted run of generate had decided to write. It is decided once the
// pending manifest is in its place: all texts are on the disk by then, so what is left can be done
// without knowing the registry.
import { isOfMigrations } from "../database/schema.js";
import { own } from "../model/records.js";
import { hashOf, manifestOf, type PendingManifest } from "./manifest.js";
import { removeIn, replaceIn, stagedBy, stagedName, unstage } from "./staged-changes.js";

/** A generated folder whose writing was interrupted. */
export interface InterruptedFolder {
  /** Undefined where nothing was decided yet. */
  readonly pending: PendingManifest | undefined;
  /** All its files. */
  readonly paths: readonly string[];
  /** The text of a path, or undefined. */
  readonly read: (path: string) => string | undefined;
}

/**
 * What can be done for a path whose text is to change, and the hash that the manifest is to have
 * for it.
 */
interface Step {
  readonly path: string;
  readonly act: "put" | "remove" | "leave";
  readonly hash: string | undefined;
  /** Whether the file is, or can be made, what it was to become. */
  readonly isReached: boolean;
}

/** Staged files that no running process will put in their place. */
export function leftBehind(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => {
    const writer = stagedBy(path);
    return writer !== undefined && !isRunning(writer);
  });
}

/**
 * Writes and removes what is left to be, but keeps files that were edited since. Returns whether
 * there was anything to do.
 */
export function finishChanges(root: string, folder: InterruptedFolder): boolean {
  const { pending, paths } = folder;
  const left = leftBehind(paths);
  if (pending === undefined) {
    for (const path of left) removeIn(root, path);
    return left.length > 0;
  }
  const { generator, writer, files, before } = pending;
  const steps = Object.keys({ ...before, ...files })
    .filter((path) => own(before, path) !== own(files, path))
    .map((path) => stepOf(folder, pending, path));
  const hashes = new Map(Object.entries(files));
  for (const { path, act, hash } of migrationsTogether(folder, pending, steps)) {
    if (act === "put") unstage(root, path, writer);
    if (act === "remove") removeIn(root, path);
    if (hash === undefined) hashes.delete(path);
    else hashes.set(path, hash);
  }
  const sorted = [...hashes]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, hash]) => ({ path, hash }));
  replaceIn(root, manifestOf(sorted, generator));
  const ofWriter = paths.filter((path) => stagedBy(path) === writer);
  for (const path of new Set([...left, ...ofWriter])) removeIn(root, path);
  return true;
}

function stepOf(
  { read, paths }: InterruptedFolder,
  { writer, files, before }: PendingManifest,
  path: string,
): Step {
  const [earlier, wanted] = [own(before, path), own(files, path)];
  const current = hashAt(read, path);
  const leave = (hash: string | undefined, isReached: boolean): Step => ({
    path,
    act: "leave",
    hash,
    isReached,
  });
  if (current === wanted) return leave(wanted, true);
  // Deleted or edited since: what the manifest says of it, `generate` compares with what is there.
  if (wanted === undefined)
    return current === undefined || current === earlier
      ? { path, act: "remove", hash: undefined, isReached: true }
      : leave(earlier, false);
  if (current !== undefined && current !== earlier) return leave(wanted, false);
  const staged = stagedName(path, writer);
  if (paths.includes(staged) && hashAt(read, staged) === wanted)
    return { path, act: "put", hash: wanted, isReached: true };
  // Somebody has removed the staged text. The next comparison prints it anew.
  return leave(current ?? wanted, false);
}

/**
 * The steps, where migrations and the tables that they lead to stay as they were if one of them
 * can't become what it was to be. If some already have, they are reported as lost.
 */
function migrationsTogether(
  { read }: InterruptedFolder,
  { before, files }: PendingManifest,
  steps: readonly Step[],
): readonly Step[] {
  const migrations = steps.filter(({ path }) => isOfMigrations(path));
  if (migrations.every(({ isReached }) => isReached)) return steps;
  const isUntouched = migrations.every(({ path }) => hashAt(read, path) === own(before, path));
  return steps.map((step): Step => {
    if (!isOfMigrations(step.path)) return step;
    const { path } = step;
    return { ...step, act: "leave", hash: own(isUntouched ? before : files, path) };
  });
}

function hashAt(read: InterruptedFolder["read"], path: string): string | undefined {
  const text = read(path);
  return text === undefined ? undefined : hashOf(text);
}

/** A process that has this process's id is no other: in containers each may have the same. */
function isRunning(id: number): boolean {
  if (id === process.pid) return false;
  try {
    return process.kill(id, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
