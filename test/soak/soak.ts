// Minutes of mixed load on a compiled service: memory, descriptors and what waits in tables must be flat.
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { Client as Postgres } from "pg";
import { describe, expect, test } from "vitest";
import { engines } from "../support/engines.js";
import { isSuccess } from "../faults/load.js";
import { openDescriptors, processorSeconds, residentMebibytes } from "../faults/observe.js";
import { startSubject } from "../faults/subject.js";
import { startMixedLoad } from "./mixed-load.js";

const minutes = Number(process.env["SOAK_MINUTES"] ?? "10");
const samples = 12;

/** Tables in which work waits: what comes must go. */
const waiting = ["opwright_staged_signals", "opwright_outbox"];
/** Tables that keep something of each caller or device. */
const kept = ["opwright_cursors", "opwright_mailbox", "opwright_sessions", "opwright_idempotency"];

interface Sample {
  readonly requests: number;
  readonly failed: number;
  readonly mebibytes: number;
  readonly descriptors: number;
  readonly processor: number;
  readonly rows: Readonly<Record<string, number>>;
}

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    test(
      `${minutes} minutes`,
      async () => {
        const database = await engine.create();
        const subject = await startSubject({ DATABASE_URL: database.url });
        const load = startMixedLoad(subject.url, subject.client);
        const taken: Sample[] = [];
        for (let index = 0; index < samples; index += 1) {
          await sleep((minutes * 60_000) / samples);
          const outcomes = load.takeOutcomes();
          const failed = outcomes.filter(
            (outcome) => !isSuccess(outcome) && outcome.status !== 409,
          );
          for (const outcome of failed.slice(0, 10))
            process.stdout.write(`${JSON.stringify({ ...outcome, bytes: undefined })}\n`);
          const { child } = subject.process;
          taken.push({
            requests: outcomes.length,
            failed: failed.length,
            mebibytes: residentMebibytes(child),
            descriptors: openDescriptors(child),
            processor: processorSeconds(child),
            rows: await rowsOf(database.url, [...waiting, ...kept]),
          });
        }
        await load.stop();
        process.stdout.write(`\n${tableOf(engine.name, taken)}\n`);
        await sleep(3_000);
        const after = await rowsOf(database.url, waiting);
        await subject.stop();
        await subject.dispose();
        await database.drop();
        expect(taken.map(({ failed }) => failed)).toEqual(taken.map(() => 0));
        expect(after).toEqual(Object.fromEntries(waiting.map((name) => [name, 0])));
        // The first third warms up; from then on the last third is like the second.
        const third = (of: number, pick: (sample: Sample) => number): number =>
          median(taken.slice((of * samples) / 3, ((of + 1) * samples) / 3).map(pick));
        expect(third(2, ({ mebibytes }) => mebibytes)).toBeLessThan(
          third(1, ({ mebibytes }) => mebibytes) * 1.15 + 10,
        );
        expect(third(2, ({ descriptors }) => descriptors)).toBeLessThanOrEqual(
          third(1, ({ descriptors }) => descriptors) + 5,
        );
      },
      minutes * 60_000 + 120_000,
    );
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

/** The samples as a table in Markdown. */
function tableOf(name: string, taken: readonly Sample[]): string {
  const tables = [...waiting, ...kept];
  const head = ["minute", "requests/s", "failed", "MiB", "descriptors", "CPU s", ...tables];
  const seconds = (minutes * 60) / samples;
  const rows = taken.map(
    ({ requests, failed, mebibytes, descriptors, processor, rows: of }, index) => [
      (((index + 1) * minutes) / samples).toFixed(1),
      (requests / seconds).toFixed(0),
      failed,
      mebibytes.toFixed(0),
      descriptors,
      processor.toFixed(0),
      ...tables.map((table) => of[table] ?? 0),
    ],
  );
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;
  return [`${name}`, line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

async function rowsOf(
  url: string,
  tables: readonly string[],
): Promise<Readonly<Record<string, number>>> {
  const count = (table: string): string => `SELECT count(*) AS n FROM ${table}`;
  const counted: Record<string, number> = {};
  if (url.startsWith("sqlite:")) {
    // The driver of the service: another one would break its locks, were it in one process with it.
    const Database = createRequire(import.meta.url)("libsql") as new (path: string) => {
      prepare(text: string): { get(): { readonly n: number } };
      close(): void;
    };
    const database = new Database(url.slice("sqlite:".length));
    for (const table of tables) counted[table] = database.prepare(count(table)).get().n;
    database.close();
    return counted;
  }
  const client = new Postgres({ connectionString: url });
  await client.connect();
  for (const table of tables)
    counted[table] = Number((await client.query(count(table))).rows[0]?.["n"]);
  await client.end();
  return counted;
}
