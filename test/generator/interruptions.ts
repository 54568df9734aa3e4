// Projects in the middle of a command: what they are before it, and running it on a disk that fails.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect } from "vitest";
import { cli } from "./cli.js";

export const bin = new URL("../../bin/opwright.mjs", import.meta.url).pathname;
const failingDisk = new URL("failing-disk.mjs", import.meta.url).href;

export const service =
  "registry: 1\nservice: {name: demo, title: Demo, version: 1.0.0}\npolicies: {open: [{rate_limit: 600/1m}]}\n";
export const notes = (fields: string, more = ""): string =>
  `registry: 1\ndocuments:\n  notes: {type: {${fields}}, guard: open${more}}\n`;
const old = "registry: 1\ndocuments:\n  old: {type: {text: string}, guard: open}\n";

export type Files = Readonly<Record<string, string>>;

/** A project in which a command is about to run. */
export interface Situation {
  readonly name: string;
  /** Makes the project, in a folder that is empty. */
  readonly prepare: (root: string) => Promise<void>;
  readonly args: readonly string[];
}

export const generate = async (root: string, ...flags: readonly string[]): Promise<void> =>
  expect(await cli(root, "generate", ...flags)).toMatchObject({ code: 0 });

export function write(root: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

export function git(root: string, ...args: readonly string[]): void {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.test"];
  expect(spawnSync("git", [...identity, ...args], { cwd: root }).status).toBe(0);
}

export const begun: Files = {
  "registry/service.yaml": service,
  "registry/notes.yaml": notes("text: string"),
  "registry/old.yaml": old,
};
export const altered: Files = {
  "registry/notes.yaml": notes("text: string, size: integer?", ", indexes: [[text], [size]]"),
};

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "opwright-interrupted-"));
  folders.push(folder);
  return folder;
}

/** Runs a command on a disk that fails at a change (`failing-disk.mjs`). */
export function interrupted(
  cwd: string,
  args: readonly string[],
  disk: { readonly how: string; readonly at?: number; readonly listTo?: string },
): { readonly code: number | null; readonly signal: string | null; readonly stderr: string } {
  const { status, signal, stderr } = spawnSync(
    process.execPath,
    ["--import", failingDisk, bin, ...args],
    {
      cwd,
      env: {
        PATH: process.env["PATH"],
        HOME: process.env["HOME"],
        OPWRIGHT_FAILING_DISK: JSON.stringify(disk),
      },
      encoding: "utf8",
    },
  );
  return { code: status, signal, stderr };
}

/** Every file of a project besides git's, with its text. */
export function snapshot(root: string): Files {
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => !path.startsWith(".git/"))
    .sort();
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(root, path), "utf8")]));
}

export interface Prepared extends Situation {
  readonly root: string;
  /** What an uninterrupted run changes on the disk, one after the other. */
  readonly changes: readonly string[];
  readonly before: Files;
  readonly after: Files;
}

/** Makes the project of a situation once, and what an uninterrupted run makes of it. */
export async function prepared(situation: Situation): Promise<Prepared> {
  const root = newFolder();
  await situation.prepare(root);
  const done = newFolder();
  cpSync(root, done, { recursive: true });
  const listTo = join(newFolder(), "list");
  expect(interrupted(done, situation.args, { how: "list", listTo })).toMatchObject({ code: 0 });
  const [before, after] = [snapshot(root), snapshot(done)];
  expect(after).not.toEqual(before);
  return {
    ...situation,
    root,
    before,
    after,
    changes: JSON.parse(readFileSync(listTo, "utf8")) as readonly string[],
  };
}

/** Numbers that look random, and are the same for a seed (mulberry32). */
export function numbersOf(start: number): (below: number) => number {
  let state = start >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** As many moments of a command as asked for, spread over all of them, each another. */
export function momentsOf(
  changes: number,
  wanted: number,
  number: (below: number) => number,
): number[] {
  const all = Array.from({ length: changes }, (_, index) => index + 1);
  if (wanted >= changes) return all;
  const step = changes / wanted;
  return Array.from({ length: wanted }, (_, index) =>
    Math.min(changes, 1 + Math.floor(index * step) + number(Math.max(1, Math.floor(step)))),
  );
}
