// Deliveries that end their process: the outbox gives them up, says why, and loses nothing else (attack 129).
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { engines, type FreshDatabase } from "../support/engines.js";

/** Longer than a relay holds an event. */
const leaseMillis = 46_000;
const attempts = 3;
const staged = 12;

// oxlint-disable-next-line typescript/no-explicit-any -- lines of a process that tests look into
type Line = any;

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let database: FreshDatabase;
    let folder: string;
    const signing = randomBytes(32).toString("base64url");

    beforeEach(async () => {
      database = await engine.create();
      folder = mkdtempSync(join(tmpdir(), "opwright-deadly-"));
    });
    afterEach(async () => {
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    });

    /** Runs the process once; its clock is ahead by so many leases. */
    const run = async (death: string, leases: number) => {
      const argument = {
        environment: {
          DATABASE_URL: database.url,
          DATA_DIR: folder,
          PORT: "0",
          SECRETS_SIGNING: signing,
          OUTBOX_MAX_ATTEMPTS: String(attempts),
          SETTLE_SECONDS: "0",
          DRAIN_SECONDS: "1",
        },
        aheadMillis: leases * leaseMillis,
        death,
        staged: leases === 0 ? staged : 0,
      };
      const script = new URL("deadly-outbox.mjs", import.meta.url).pathname;
      const child = spawn(process.execPath, [script, JSON.stringify(argument)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const exited = new Promise<number | string>((resolve) => {
        child.on("exit", (code, signal) => resolve(code ?? signal ?? "gone"));
      });
      const lines: Line[] = (await text(child.stdout))
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line));
      return { code: await exited, lines };
    };

    test.each([
      ["exit", 7],
      ["abort", "SIGKILL"],
    ] as const)(
      "an event whose delivery ends the process by %s becomes a dead letter",
      async (death, code) => {
        const said: Line[] = [];
        const codes: (number | string)[] = [];
        for (let leases = 0; codes.at(-1) !== 0 && leases <= attempts + 2; leases += 1) {
          const ended = await run(death, leases);
          codes.push(ended.code);
          said.push(...ended.lines);
        }
        // One process died of each attempt, and the last one found nothing left to do.
        expect(codes).toEqual([...Array.from({ length: attempts }, () => code), 0]);
        expect(said.flatMap(({ fatal }) => fatal ?? [])).toEqual([1, 2, 3]);
        const fine = new Set(said.flatMap(({ fine: n }) => n ?? []));
        expect(fine.size).toBe(staged - 1);
        expect(said.filter(({ text: what }) => what?.includes("given up"))).toMatchObject([
          { event: "orders.fatal", attempt: 3, reason: "the process ended during delivery" },
        ]);
        expect(said.at(-1)).toMatchObject({ state: { pending: 0, dead: 1 } });
      },
      120_000,
    );
  });
}
