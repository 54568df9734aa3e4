// Commands that end at any change of the disk, killed or for lack of room: nothing is called edited by hand, the next run
// makes what an uninterrupted one would have made, and no file is ever half of one (attacks 181, 182).
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { cli } from "./cli.js";

const bin = new URL("../../bin/opwright.mjs", import.meta.url).pathname;
const failingDisk = new URL("failing-disk.mjs", import.meta.url).href;

const runs = Number(process.env["OPWRIGHT_TEST_INTERRUPTIONS"] ?? "40");
const seed = Number(process.env["OPWRIGHT_TEST_SEED"] ?? "1");

const service =
  "registry: 1\nservice: {name: demo, title: Demo, version: 1.0.0}\npolicies: {open: []}\n";
const notes = (fields: string, more = ""): string =>
  `registry: 1\ndocuments:\n  notes: {type: {${fields}}, guard: open${more}}\n`;
const old = "registry: 1\ndocuments:\n  old: {type: {text: string}, guard: open}\n";

type Files = Readonly<Record<string, string>>;

/** A project in which a command is about to run. */
interface Situation {
  readonly name: string;
  /** Makes the project, in a folder that is empty. */
  readonly prepare: (root: string) => void;
  readonly args: readonly string[];
}

const generate = (root: string, ...flags: readonly string[]): void =>
  expect(cli(root, "generate", ...flags)).toMatchObject({ code: 0 });

function write(root: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

function git(root: string, ...args: readonly string[]): void {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.test"];
  expect(spawnSync("git", [...identity, ...args], { cwd: root }).status).toBe(0);
}

const begun: Files = {
  "registry/service.yaml": service,
  "registry/notes.yaml": notes("text: string"),
  "registry/old.yaml": old,
};
const altered: Files = {
  "registry/notes.yaml": notes("text: string, size: integer?", ", indexes: [[text], [size]]"),
};

const situations: readonly Situation[] = [
  {
    name: "the first generate",
    prepare: (root) => write(root, begun),
    args: ["generate"],
  },
  {
    name: "a generate that makes, changes and removes files, with a migration",
    prepare: (root) => {
      write(root, begun);
      generate(root);
      rmSync(join(root, "registry/old.yaml"));
      write(root, altered);
    },
    args: ["generate"],
  },
  {
    name: "generate --force over files that were edited",
    prepare: (root) => {
      write(root, begun);
      generate(root);
      write(root, altered);
      write(root, { "generated/routes/notes.ts": "// mine\n", "generated/tools.json": "{}\n" });
    },
    args: ["generate", "--force"],
  },
  {
    name: "migrations purge",
    prepare: (root) => {
      write(root, begun);
      generate(root);
      rmSync(join(root, "registry/old.yaml"));
      generate(root);
    },
    args: ["migrations", "purge", "--force"],
  },
  {
    name: "migrations squash",
    prepare: (root) => {
      write(root, begun);
      generate(root);
      git(root, "init", "-q", "-b", "main");
      git(root, "add", "-A");
      git(root, "commit", "-q", "-m", "begun");
      git(root, "checkout", "-q", "-b", "work");
      write(root, { "registry/notes.yaml": notes("text: string", ", indexes: [[text]]") });
      generate(root);
      write(root, altered);
      generate(root);
      write(root, { ".data/demo.db": "rows" });
    },
    args: ["migrations", "squash", "--force"],
  },
];

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "opwright-interrupted-"));
  folders.push(folder);
  return folder;
}

/** Runs a command on a disk that fails at a change (`failing-disk.mjs`). */
function interrupted(
  cwd: string,
  args: readonly string[],
  disk: { readonly how: string; readonly at?: number; readonly countTo?: string },
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
function snapshot(root: string): Files {
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => !path.startsWith(".git/"))
    .sort();
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(root, path), "utf8")]));
}

interface Prepared extends Situation {
  readonly root: string;
  readonly changes: number;
  readonly before: Files;
  readonly after: Files;
}

/** Makes the project of a situation once, and what an uninterrupted run makes of it. */
function prepared(situation: Situation): Prepared {
  const root = newFolder();
  situation.prepare(root);
  const done = newFolder();
  cpSync(root, done, { recursive: true });
  const countTo = join(newFolder(), "count");
  expect(interrupted(done, situation.args, { how: "count", countTo })).toMatchObject({ code: 0 });
  const [before, after] = [snapshot(root), snapshot(done)];
  expect(after).not.toEqual(before);
  return { ...situation, root, before, after, changes: Number(readFileSync(countTo, "utf8")) };
}

/** Numbers that look random, and are the same for a seed (mulberry32). */
function numbersOf(start: number): (below: number) => number {
  let state = start >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** As many moments of a command as asked for, spread over all of them, each another. */
function momentsOf(changes: number, wanted: number, number: (below: number) => number): number[] {
  const all = Array.from({ length: changes }, (_, index) => index + 1);
  if (wanted >= changes) return all;
  const step = changes / wanted;
  return Array.from({ length: wanted }, (_, index) =>
    Math.min(changes, 1 + Math.floor(index * step) + number(Math.max(1, Math.floor(step)))),
  );
}

describe.each(situations)("$name", (situation) => {
  const share = Math.ceil(runs / situations.length);
  const number = numbersOf(seed);

  test("killed at any change of the disk, it is said to be interrupted, and the next run finishes it", () => {
    const { root, before, after, args, changes } = prepared(situation);
    expect(changes).toBeGreaterThan(10);
    for (const moment of momentsOf(changes, share, number)) {
      const how = number(2) === 0 ? "kill" : "kill in it";
      const hint = `change ${moment} of ${changes}, ${how}`;
      const project = newFolder();
      cpSync(root, project, { recursive: true });
      expect(interrupted(project, args, { how, at: moment }).signal, hint).toBe("SIGKILL");
      // A file is what it was or what it becomes; others are staged.
      for (const [path, text] of Object.entries(snapshot(project)))
        if (!/(?:^|\/)\.[^/]+\.staged$|generated\/manifest\.json$/.test(path))
          expect([before[path], after[path]], `${hint}: ${path}`).toContain(text);
      const check = cli(project, "check");
      if (!args.includes("--force"))
        expect(check.stdout, hint).not.toMatch(/OPW083|OPW084|OPW085|OPW087/);
      const isBegun = JSON.stringify(snapshot(project)) !== JSON.stringify(before);
      if (isBegun) expect(check.stdout, hint).toContain("an earlier generate was interrupted");
      expect(cli(project, ...args), hint).toMatchObject({ code: 0 });
      expect(snapshot(project), hint).toEqual(after);
      rmSync(project, { recursive: true, force: true });
    }
  });
});
