// The schedules find what they are there for: a runtime that numbers before the commit, and one that reads before it
// listens, lose signals under them.
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { startWorld } from "../../support/no-loss.js";

const root = new URL("../../..", import.meta.url).pathname;
const postgres = engines.find(({ name }) => name === "postgres");
const isAvailable =
  postgres?.isAvailable === true && process.env["OPWRIGHT_TEST_REDIS"] !== undefined;
const mostSeeds = 60;

/** A text of the compiled runtime, and what stands in its place. */
interface Change {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** A copy of the compiled package with changes in it. */
function mutant(changes: readonly Change[]): string {
  const folder = mkdtempSync(join(tmpdir(), "opwright-mutant-"));
  cpSync(join(root, "dist"), join(folder, "dist"), { recursive: true });
  // The runtime as it was compiled: its bundle knows of no change.
  const manifest = readFileSync(join(root, "package.json"), "utf8");
  writeFileSync(join(folder, "package.json"), manifest.replaceAll('"unbundled": ', '"node": '));
  mkdirSync(join(folder, "test"));
  cpSync(join(root, "test/tools"), join(folder, "test/tools"), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  for (const { file, from, to } of changes) {
    const path = join(folder, "dist/runtime", file);
    const text = readFileSync(path, "utf8");
    expect(text.split(from).length, `${file} has ${from} once`).toBe(2);
    writeFileSync(
      path,
      text.replace(from, () => to),
    );
  }
  return folder;
}

/** Runs schedules until one of them loses a signal; resolves with the seeds that it took, null where none did. */
async function firstLoss(changes: readonly Change[]): Promise<number | null> {
  const folder = mutant(changes);
  const world = await startWorld(folder);
  try {
    for (let seed = 1; seed <= mostSeeds; seed += 1) {
      const found = await world.run(seed).then(
        () => "",
        (error: unknown) => String(error),
      );
      if (found.includes("never heard")) return seed;
    }
    return null;
  } finally {
    await world.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

describe.skipIf(!isAvailable).concurrent("a mutation is found", () => {
  test("places that are taken when a signal is staged, and not after the commit", async () => {
    const file = "engines/sql/mailbox-numbering.js";
    const seeds = await firstLoss([
      {
        file,
        from: '"principal_id", count(*), 0 FROM',
        to: '"principal_id", max("sequence"), 0 FROM',
      },
      {
        file,
        from: '"opwright_mailbox_heads"."head" + excluded."head"',
        to: 'GREATEST("opwright_mailbox_heads"."head", excluded."head")',
      },
      {
        file,
        from: '${position}, q."signal_id"',
        to: 'q."sequence", q."signal_id"',
      },
    ]);
    expect(seeds).not.toBeNull();
  }, 300_000);

  test("reading a mailbox before listening to what comes", async () => {
    const file = "families/realtime/admitted.js";
    const seeds = await firstLoss([
      { file, from: "hub.join(this);", to: "" },
      {
        file,
        from: "void this.#pump.start();",
        // As much later as asking a bus takes, so that few schedules are enough.
        to: "void this.#pump.start().then(() => setTimeout(() => { if (admitted.has(this)) this.#admission.hub.join(this); }, 5));",
      },
      // Looking again every ten seconds would hide it.
      {
        file: "families/realtime/plane.js",
        from: "const healMillis = 10_000;",
        to: "const healMillis = 1e9;",
      },
    ]);
    expect(seeds).not.toBeNull();
  }, 300_000);
});
