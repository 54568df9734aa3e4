// Commands that end at any change of the disk, killed or for lack of room: nothing is called edited by hand, the next run
// makes what an uninterrupted one would have made, and no file is ever half of one (attack 181).
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cli } from "./cli.js";
import {
  altered,
  begun,
  generate,
  git,
  interrupted,
  momentsOf,
  newFolder,
  notes,
  numbersOf,
  prepared,
  snapshot,
  write,
  type Situation,
} from "./interruptions.js";

const runs = Number(process.env["OPWRIGHT_TEST_INTERRUPTIONS"] ?? "8");
const seed = Number(process.env["OPWRIGHT_TEST_SEED"] ?? "1");

const situations: readonly Situation[] = [
  {
    name: "the first generate",
    prepare: async (root) => write(root, begun),
    args: ["generate"],
  },
  {
    name: "a generate that makes, changes and removes files, with a migration",
    prepare: async (root) => {
      write(root, begun);
      await generate(root);
      rmSync(join(root, "registry/old.yaml"));
      write(root, altered);
    },
    args: ["generate"],
  },
  {
    name: "generate --force over files that were edited",
    prepare: async (root) => {
      write(root, begun);
      await generate(root);
      write(root, altered);
      write(root, { "generated/routes/notes.ts": "// mine\n", "generated/tools.json": "{}\n" });
    },
    args: ["generate", "--force"],
  },
  {
    name: "migrations purge",
    prepare: async (root) => {
      write(root, begun);
      await generate(root);
      rmSync(join(root, "registry/old.yaml"));
      await generate(root);
    },
    args: ["migrations", "purge", "--force"],
  },
  {
    name: "migrations squash",
    prepare: async (root) => {
      write(root, begun);
      await generate(root);
      git(root, "init", "-q", "-b", "main");
      git(root, "add", "-A");
      git(root, "commit", "-q", "-m", "begun");
      git(root, "checkout", "-q", "-b", "work");
      write(root, { "registry/notes.yaml": notes("text: string", ", indexes: [[text]]") });
      await generate(root);
      write(root, altered);
      await generate(root);
      write(root, { ".data/demo.db": "rows" });
    },
    args: ["migrations", "squash", "--force"],
  },
];

describe.each(situations)("$name", (situation) => {
  const share = Math.ceil(runs / situations.length);
  const number = numbersOf(seed);

  test("killed at any change of the disk, it is said to be interrupted, and the next run finishes it", async () => {
    const { root, before, after, args, changes: all } = await prepared(situation);
    const changes = all.length;
    expect(changes).toBeGreaterThan(8);
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
      const check = await cli(project, "check");
      if (!args.includes("--force"))
        expect(check.stdout, hint).not.toMatch(/OPW083|OPW084|OPW085|OPW087/);
      const isBegun = JSON.stringify(snapshot(project)) !== JSON.stringify(before);
      if (isBegun) expect(check.stdout, hint).toContain("an earlier generate was interrupted");
      expect(await cli(project, ...args), hint).toMatchObject({ code: 0 });
      expect(snapshot(project), hint).toEqual(after);
      rmSync(project, { recursive: true, force: true });
    }
  });

  test("on a disk that is full from any moment on, it has done everything or nothing", async () => {
    const { root, before, after, args, changes: all } = await prepared(situation);
    const changes = all.length;
    const codes = new Set<number | null>();
    // Once all texts are staged, the disk has all that it needs.
    for (const moment of new Set([1, ...momentsOf(changes, share, number), changes])) {
      const hint = `change ${moment} of ${changes}`;
      const project = newFolder();
      cpSync(root, project, { recursive: true });
      const { code, stderr } = interrupted(project, args, { how: "full", at: moment });
      codes.add(code);
      if (code !== 0) expect([code, stderr], hint).toEqual([3, expect.stringContaining("ENOSPC")]);
      expect(snapshot(project), hint).toEqual(code === 0 ? after : before);
      expect(await cli(project, ...args), hint).toMatchObject({ code: 0 });
      expect(snapshot(project), hint).toEqual(after);
      rmSync(project, { recursive: true, force: true });
    }
    expect([...codes].sort()).toEqual([0, 3]);
  });
});
