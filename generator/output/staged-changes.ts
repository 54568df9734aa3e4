// Changing the generated folder in a way that can be interrupted at any moment (decisions.md "An
// interrupted generate").
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, posix, sep } from "node:path";
import type { EmittedFile } from "../print/file.js";
import { hashOf, manifestName, pendingManifestOf } from "./manifest.js";
import { isRemoval, type FileChange } from "./plan.js";

/** What a generated folder is to become. */
export interface IntendedChanges {
  readonly changes: readonly FileChange[];
  /** The manifest afterwards. */
  readonly manifest: EmittedFile;
  /** The manifest from which the changes were derived. */
  readonly earlier: string | undefined;
}

/** Changes of which only renaming and removing is left, which take no room on the disk. */
export interface StagedChanges {
  /**
   * Makes the changes. Returns false, and makes none, if another process has written other files
   * meanwhile.
   */
  readonly commit: () => boolean;
}

/**
 * The name under which a process writes a file of the folder before it is renamed. Tools overlook
 * it, as it has a dot.
 */
export function stagedName(path: string, writer: number): string {
  return posix.join(posix.dirname(path), `.${posix.basename(path)}.${writer}.staged`);
}

/** The id of the process that wrote a file under a staged name; undefined for other names. */
export function stagedBy(path: string): number | undefined {
  const [, writer] = /^\..+\.([1-9]\d{0,8})\.staged$/.exec(posix.basename(path)) ?? [];
  return writer === undefined ? undefined : Number(writer);
}

/**
 * Writes every text beside its place. If that fails, nothing has changed, and nothing is left
 * behind.
 */
export function stageChanges(root: string, intended: IntendedChanges): StagedChanges {
  const { changes, manifest, earlier } = intended;
  const writer = process.pid;
  const others = changes.filter(({ path }) => path !== manifestName);
  const texts = others.flatMap((change): readonly EmittedFile[] =>
    isRemoval(change) || change.kind === "stale" || change.text === undefined
      ? []
      : [{ path: change.path, text: change.text }],
  );
  const before = others.map(
    (change) =>
      [change.path, change.kind === "missing" ? undefined : hashOf(change.before)] as const,
  );
  const pending = pendingManifestOf(manifest, writer, new Map(before));
  const pendingName = stagedName(`pending-${manifestName}`, writer);
  const staged: string[] = [];
  const discard = (): void => {
    for (const path of staged) removeIn(root, path);
  };
  const made = new Set<string>();
  const stage = (name: string, text: string): void => {
    const file = fileIn(root, name);
    const folder = dirname(file);
    staged.push(name);
    if (!made.has(folder)) mkdirSync(folder, { recursive: true });
    made.add(folder);
    writeFileSync(file, text);
  };
  try {
    for (const { path, text } of texts) stage(stagedName(path, writer), text);
    stage(stagedName(manifestName, writer), manifest.text);
    stage(pendingName, pending.text);
  } catch (error) {
    discard();
    throw error;
  }
  const commit = (): boolean => {
    const current = textOf(join(root, manifestName));
    if (current !== earlier) {
      discard();
      return current === manifest.text;
    }
    renameSync(fileIn(root, pendingName), join(root, manifestName));
    for (const change of others) {
      if (isRemoval(change)) removeIn(root, change.path);
      else if (!unstage(root, change.path, writer)) return true;
    }
    unstage(root, manifestName, writer);
    return true;
  };
  return { commit };
}

/**
 * Puts a staged file in its place. Returns false if it is gone, because another process has put it
 * there.
 */
export function unstage(root: string, path: string, writer: number): boolean {
  const staged = fileIn(root, stagedName(path, writer));
  try {
    renameSync(staged, fileIn(root, path));
    return true;
  } catch (error) {
    if (existsSync(staged)) throw error;
    return false;
  }
}

/** Writes a file under a staged name, then renames it. */
export function replaceIn(root: string, { path, text }: EmittedFile): void {
  const staged = stagedName(path, process.pid);
  try {
    writeFileSync(fileIn(root, staged), text);
  } catch (error) {
    removeIn(root, staged);
    throw error;
  }
  unstage(root, path, process.pid);
}

/** Removes a file, and the folders that it leaves empty. */
export function removeIn(root: string, path: string): void {
  const file = fileIn(root, path);
  rmSync(file, { force: true });
  for (let folder = dirname(file); folder !== root; folder = dirname(folder)) {
    if (!existsSync(folder)) continue;
    if (readdirSync(folder).length > 0) return;
    rmdirSync(folder);
  }
}

/** The absolute path. Throws if it leaves the folder, which is a bug of an emitter. */
export function fileIn(root: string, path: string): string {
  const file = join(root, path);
  if (!file.startsWith(root + sep)) throw new Error(`${path} leaves the generated folder`);
  return file;
}

/** With LF alone, as `GeneratedFolder` reads it. */
function textOf(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8").replaceAll("\r\n", "\n") : undefined;
}
