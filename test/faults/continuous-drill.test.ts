// The drill of a machine that is lost, with a continuous backup: a service that is written to is killed at a random moment, and
// all that it had is wiped. What it had said to be kept is there again, and the order in which notes were acknowledged tells
// that nothing in between is missing. Each round goes on with the last one's backup. OPWRIGHT_TEST_DRILLS says how often
// (`npm run test:long`: 100), OPWRIGHT_TEST_SEED which moments. What was lost is printed, and measured by `npm run bench -- backup`.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addNote, endVersion, keptNotes, keptUntil, startVersion } from "../support/kept-notes.js";
import { testProject, type TestProject } from "../support/project-service.js";
import { versionOf, type Version } from "../support/version-process.js";
import { missingOf, randomOf, writeOn } from "./drills.js";

const drills = Number(process.env["OPWRIGHT_TEST_DRILLS"] ?? 3);
const seed = Number(process.env["OPWRIGHT_TEST_SEED"] ?? 1);

let project: TestProject;
let version: Version;
const root = mkdtempSync(join(tmpdir(), "opwright-continuous-drill-"));
beforeAll(async () => {
  project = await testProject(keptNotes);
  version = await versionOf(project);
}, 120_000);
afterAll(() => {
  project.remove();
  rmSync(root, { recursive: true, force: true });
});

/** A note that was acknowledged, and when. */
interface Note {
  readonly path: string;
  readonly text: string;
  readonly at: number;
}

const asMap = (notes: readonly Note[]): ReadonlyMap<string, string> =>
  new Map(notes.map(({ path, text }) => [path, text]));

test(
  "what is kept survives the loss of everything else",
  { timeout: drills * 40_000 },
  async () => {
    const random = randomOf(seed);
    const data = join(root, "data");
    const environment = {
      DATA_DIR: data,
      BACKUP_URL: `file:${join(root, "backup")}`,
    };
    const outcomes = { restores: 0, restoresKilled: 0, writes: 0 };
    /** How long before its end each round's first lost write was acknowledged, in milliseconds. */
    const lost: number[] = [];
    let before: readonly Note[] = [];
    for (let drill = 1; drill <= drills; drill += 1) {
      const about = `drill ${drill} of seed ${seed}`;
      const { url, process } = await startVersion(version, environment);
      const written: Note[] = [];
      const over = new AbortController();
      const writing = writeOn(async (at) => {
        const text = `${drill} ${at} ${"x".repeat(5_000 * random())}`;
        const id = await addNote(url, text);
        if (id !== null) written.push({ path: `/notes/${id}`, text, at: Date.now() });
      }, over.signal);
      // The first one has to be there, so that there is something to bring back.
      if (drill === 1) while ((await keptUntil(url)) === 0) await sleep(10);
      let kept = 0;
      const endsAt = Date.now() + 3_000 * random();
      while (Date.now() < endsAt) {
        kept = Math.max(kept, (await keptUntil(url)) * 1_000);
        await sleep(20);
      }
      const killedAt = Date.now();
      await endVersion(process, "SIGKILL");
      over.abort();
      await writing;
      outcomes.writes += written.length;
      rmSync(data, { recursive: true, force: true });
      if (random() < 1 / 2) {
        const first = version.spawn(environment, "restore");
        // Once it has begun, at any moment of what it takes.
        while (first.child.exitCode === null && !existsSync(join(data, "service.db.restoring")))
          await sleep(1);
        await Promise.race([first.exited, sleep(60 * random())]);
        await endVersion(first, "SIGKILL");
        if (existsSync(join(data, "service.db.restoring"))) outcomes.restoresKilled += 1;
      }
      if (!existsSync(join(data, "service.db")) || existsSync(join(data, "service.db.restoring"))) {
        const { code, stderr } = version.run(environment, "restore");
        expect([about, code, stderr]).toEqual([about, 0, ""]);
      }
      outcomes.restores += 1;
      const again = await startVersion(version, environment);
      const sure = [...before, ...written.filter(({ at }) => at < kept)];
      expect([about, await missingOf(again.url, asMap(sure))]).toEqual([about, []]);
      const missing = new Set(await missingOf(again.url, asMap(written)));
      const there = written.filter(({ path }) => !missing.has(path));
      // What is there is what came first.
      expect([about, there]).toEqual([about, written.slice(0, there.length)]);
      lost.push(killedAt - (written[there.length]?.at ?? killedAt));
      await endVersion(again.process, "SIGKILL");
      before = [...before, ...there].slice(-300);
    }
    expect(outcomes.writes).toBeGreaterThan(drills);
    if (drills >= 20) expect(outcomes.restoresKilled).toBeGreaterThan(0);
    const ordered = lost.toSorted((one, other) => one - other);
    const at = (share: number): number => ordered[Math.floor(share * (ordered.length - 1))] ?? 0;
    process.stdout.write(
      `${JSON.stringify({ ...outcomes, lostMillis: { half: at(0.5), most: at(1) } })}\n`,
    );
  },
);
