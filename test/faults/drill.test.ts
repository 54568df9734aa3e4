// The drill of a machine that is lost: a service that is written to is killed at a random moment, with its backup or its
// restore, and all that it had is wiped. What was acknowledged before the last backup that was whole is there again, with its
// files, each round on top of the last one. OPWRIGHT_TEST_DRILLS says how often (`npm run test:long`: 100), OPWRIGHT_TEST_SEED
// which moments.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { keptFiles } from "../support/kept-files.js";
import { addNote, endVersion, startVersion } from "../support/kept-notes.js";
import { testProject, type TestProject } from "../support/project-service.js";
import { versionOf, type Version } from "../support/version-process.js";
import { missingOf, randomOf, writeOn, type Acknowledged } from "./drills.js";

const drills = Number(process.env["OPWRIGHT_TEST_DRILLS"] ?? 3);
const seed = Number(process.env["OPWRIGHT_TEST_SEED"] ?? 1);

let project: TestProject;
let version: Version;
const root = mkdtempSync(join(tmpdir(), "opwright-drill-"));
beforeAll(async () => {
  project = await testProject(keptFiles);
  version = await versionOf(project);
}, 120_000);
afterAll(() => {
  project.remove();
  rmSync(root, { recursive: true, force: true });
});

/** Writes notes and files. */
function writeBoth(url: string, acknowledged: Map<string, string>) {
  return async (at: number): Promise<void> => {
    const text = `${url} ${at}`;
    const note = await addNote(url, text);
    if (note === null) return;
    acknowledged.set(`/notes/${note}`, text);
    const form = new FormData();
    form.set("file", new File([text], "a.txt", { type: "text/plain" }));
    const stored = await fetch(`${url}/files/files`, { method: "POST", body: form });
    if (stored.status !== 201) return;
    acknowledged.set(`/files/files/${((await stored.json()) as { key: string }).key}`, text);
  };
}

test(
  "what was acknowledged before the last whole backup survives the loss of everything else",
  { timeout: drills * 30_000 },
  async () => {
    const random = randomOf(seed);
    const data = join(root, "data");
    /** The last backup that was whole, and what had been acknowledged when it began. */
    let last: { readonly folder: string; readonly acknowledged: Acknowledged } | undefined;
    const acknowledged = new Map<string, string>();
    const outcomes = { backups: 0, backupsKilled: 0, restores: 0, restoresKilled: 0 };
    for (let drill = 1; drill <= drills; drill += 1) {
      const about = `drill ${drill} of seed ${seed}`;
      const { url, process } = await startVersion(version, { DATA_DIR: data });
      const over = new AbortController();
      const writing = writeOn(writeBoth(url, acknowledged), over.signal);
      await sleep(100 + 200 * random());
      const folder = join(root, `backup-${drill}`);
      const before = new Map(acknowledged);
      const backup = version.spawn({ DATA_DIR: data }, "backup", folder);
      // A third of them ends, the others and the service are killed at any moment.
      const moment = 600 * random();
      const ended =
        random() < 1 / 3
          ? await backup.exited
          : await Promise.race([backup.exited, sleep(moment, "killed")]);
      await Promise.all([endVersion(process, "SIGKILL"), endVersion(backup, "SIGKILL")]);
      over.abort();
      await writing;
      // Only what is whole has the name, also if its process was killed right behind that.
      const isWhole = existsSync(folder);
      if (ended === 0) expect([about, isWhole]).toEqual([about, true]);
      if (isWhole) last = { folder, acknowledged: before };
      outcomes[isWhole ? "backups" : "backupsKilled"] += 1;
      rmSync(data, { recursive: true, force: true });
      acknowledged.clear();
      if (last === undefined) continue;
      for (const [path, text] of last.acknowledged) acknowledged.set(path, text);
      if (random() < 1 / 2) {
        const first = version.spawn({ DATA_DIR: data }, "restore", last.folder);
        // Once it has begun, at any moment of what it takes.
        while (first.child.exitCode === null && !existsSync(join(data, "service.db.restoring")))
          await sleep(1);
        await Promise.race([first.exited, sleep(60 * random())]);
        await endVersion(first, "SIGKILL");
      }
      // The database comes last: once it is there and nothing says otherwise, so is the rest.
      const isRestored =
        existsSync(join(data, "service.db")) && !existsSync(join(data, "service.db.restoring"));
      if (!isRestored) {
        if (existsSync(data)) outcomes.restoresKilled += 1;
        const { code, stderr } = version.run({ DATA_DIR: data }, "restore", last.folder);
        expect([about, code, stderr]).toEqual([about, 0, ""]);
      }
      outcomes.restores += 1;
      const again = await startVersion(version, { DATA_DIR: data });
      expect([about, await missingOf(again.url, last.acknowledged)]).toEqual([about, []]);
      await endVersion(again.process, "SIGKILL");
    }
    expect(outcomes.backups + outcomes.backupsKilled).toBe(drills);
    if (drills >= 20)
      for (const [what, times] of Object.entries(outcomes))
        expect([what, times > 0]).toEqual([what, true]);
    process.stdout.write(`${JSON.stringify(outcomes)}\n`);
  },
);
