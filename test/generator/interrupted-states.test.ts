// What may have happened to a generated folder between an interrupted run and the next: edits, lost texts, another registry,
// another process (attack 181).
import { spawn } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { cli } from "./cli.js";
import {
  altered,
  begun,
  bin,
  generate,
  interrupted,
  newFolder,
  notes,
  prepared,
  snapshot,
  write,
  type Files,
  type Prepared,
} from "./interruptions.js";

let situation: Prepared;
beforeAll(async () => {
  situation = await prepared({
    name: "a generate that makes, changes and removes files, with a migration",
    prepare: async (root) => {
      write(root, begun);
      await generate(root);
      rmSync(join(root, "registry/old.yaml"));
      write(root, altered);
    },
    args: ["generate"],
  });
});

const isStaged = (path: string): boolean => path.endsWith(".staged");
const stagedIn = (root: string): readonly string[] => Object.keys(snapshot(root)).filter(isStaged);
const codesIn = (stdout: string): readonly string[] =>
  [...stdout.matchAll(/(\S+):\d+:\d+ (?:error|warning) (OPW\d+)/g)].map(
    ([, file, code]) => `${code} ${file}`,
  );

/** The project, killed at a change of the disk. */
function killedAt(moment: number): string {
  const project = newFolder();
  cpSync(situation.root, project, { recursive: true });
  expect(interrupted(project, ["generate"], { how: "kill", at: moment }).signal).toBe("SIGKILL");
  return project;
}

/** Killed when all texts are staged and some in their place, but not that of this file. */
function killedBefore(path: string): string {
  const moment = situation.changes.indexOf(`renameSync ${path}`) + 1;
  expect(moment).toBeGreaterThan(0);
  return killedAt(moment);
}

const pending = (root: string): boolean =>
  readFileSync(join(root, "generated/manifest.json"), "utf8").includes('"writer"');

describe("after an interrupted generate", () => {
  test.each([
    ["that was still to be written", "generated/types/notes.ts"],
    ["that was written already", "generated/client/api/notes.ts"],
    ["that stays as it is", "generated/client/options.ts"],
  ])("a file %s is found if it was edited since, and kept", async (_which, edited) => {
    const project = killedBefore("generated/types/notes.ts");
    write(project, { [edited]: "// mine\n" });
    expect(codesIn((await cli(project, "check")).stdout).toSorted()).toEqual([
      `OPW083 ${edited}`,
      "OPW094 generated/manifest.json",
    ]);
    const refused = await cli(project, "generate");
    expect([refused.code, codesIn(refused.stdout)]).toEqual([1, [`OPW083 ${edited}`]]);
    expect(snapshot(project)).toEqual({ ...situation.after, [edited]: "// mine\n" });
    expect(await cli(project, "generate", "--force")).toMatchObject({ code: 0 });
    expect(snapshot(project)).toEqual(situation.after);
  });

  test("a file that was to go is found if it was edited since, and kept", async () => {
    const path = "generated/types/old.ts";
    const project = killedBefore("generated/types/notes.ts");
    write(project, { [path]: "// mine\n" });
    expect(codesIn((await cli(project, "check")).stdout)).toContain(`OPW083 ${path}`);
    expect(codesIn((await cli(project, "generate")).stdout)).toEqual([`OPW083 ${path}`]);
    expect(snapshot(project)[path]).toBe("// mine\n");
    expect(await cli(project, "generate", "--force")).toMatchObject({ code: 0 });
    expect(snapshot(project)).toEqual(situation.after);
  });

  test("--dry-run writes nothing, and client pack packs nothing", async () => {
    const project = killedBefore("generated/types/notes.ts");
    const interruptedState = snapshot(project);
    for (const args of [
      ["generate", "--dry-run"],
      ["client", "pack"],
    ]) {
      const { code, stdout } = await cli(project, ...args);
      expect([code, stdout]).toEqual([1, expect.stringContaining("OPW094")]);
    }
    expect(snapshot(project)).toEqual(interruptedState);
  });

  test("a registry that has faults by now writes nothing of its own", async () => {
    const project = killedBefore("generated/types/notes.ts");
    const broken: Files = {
      "registry/notes.yaml": "registry: 1\ndocuments: {notes: {type: No}}\n",
    };
    write(project, broken);
    expect((await cli(project, "generate")).code).toBe(1);
    expect(snapshot(project)).toEqual({ ...situation.after, ...broken });
  });

  test.each([2, 30, 45])("a registry that is another by now is generated (%i)", async (moment) => {
    const project = killedAt(moment);
    write(project, { "registry/notes.yaml": notes("text: string, size: integer?, more: string?") });
    expect(await cli(project, "generate")).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("interrupted") as string,
    });
    expect(await cli(project, "check")).toMatchObject({ code: 0, stdout: "" });
  });

  test("files that a killed process has only staged are removed, even if there is nothing left to write", async () => {
    const project = killedAt(12);
    expect([pending(project), stagedIn(project).length]).toEqual([false, 11]);
    write(project, begun);
    expect(codesIn((await cli(project, "check")).stdout)).toEqual([
      "OPW094 generated/manifest.json",
    ]);
    expect(await cli(project, "generate")).toMatchObject({ code: 0, stdout: "" });
    expect(snapshot(project)).toEqual({ ...situation.before, ...begun });
  });

  test("staged texts that somebody has removed are printed anew", async () => {
    const project = killedBefore("generated/client/api/notes.ts");
    expect(pending(project)).toBe(true);
    for (const path of stagedIn(project)) rmSync(join(project, path));
    expect(await cli(project, "generate")).toMatchObject({ code: 0 });
    expect(snapshot(project)).toEqual(situation.after);
  });

  test("migrations of which some are lost are reported, until they are restored", async () => {
    const project = killedBefore("generated/migrations/storage.json");
    for (const path of stagedIn(project)) rmSync(join(project, path));
    const { code, stdout } = await cli(project, "generate");
    expect([code, codesIn(stdout)]).toEqual([1, ["OPW085 generated/migrations/storage.json"]]);
    expect((await cli(project, "generate", "--force")).code).toBe(1);
    rmSync(join(project, "generated"), { recursive: true });
    cpSync(join(situation.root, "generated"), join(project, "generated"), { recursive: true });
    expect(await cli(project, "generate")).toMatchObject({ code: 0 });
    expect(snapshot(project)).toEqual(situation.after);
  });
});

test("processes that generate at once end in one state, each with its own files or none", async () => {
  for (let round = 0; round < 3; round += 1) {
    const project = newFolder();
    cpSync(situation.root, project, { recursive: true });
    const codes = await Promise.all(
      [1, 2, 3].map(
        () =>
          new Promise((resolve) => {
            spawn(process.execPath, [bin, "generate"], { cwd: project }).on("exit", resolve);
          }),
      ),
    );
    expect(codes).toContain(0);
    expect(await cli(project, "generate")).toMatchObject({ code: 0 });
    expect(snapshot(project)).toEqual(situation.after);
    expect(existsSync(join(project, "generated/types/old.ts"))).toBe(false);
  }
});
