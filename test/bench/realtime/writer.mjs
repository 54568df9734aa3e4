// The reference service with one more event, of which it stages as many signals as its parent asks for, by writers that each
// commit one after the other; or the same rows written by hand, which nobody numbers. Usage: fork; the settings come from the
// environment.
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { readSettings, silentLog, stagingOf, start } from "opwright/runtime";
import { service as reference } from "../../../dist/service/generated/service.js";

/** @type {Record<string, import("../../../dist/runtime/families/realtime/spec.js").SignalDeclaration>} */
const events = {
  "bench.kept": { delivery: "durable", audience: ["principal"], validate: () => null },
};
const service = { ...reference, realtime: { ...reference.realtime, events } };
const running = await start(service, {
  settings: readSettings(service),
  folder: fileURLToPath(new URL("../../../generated", import.meta.url)),
  log: silentLog,
});
const { write } = running.connection;
const stage = stagingOf(events);
const people = Array.from(
  { length: 1_000 },
  (_, at) => `01890000-0000-7000-8000-${at.toString(16).padStart(12, "0")}`,
);
const text = "x".repeat(140);

/** One signal to one principal, as somebody would write it who knows the tables: three statements, and one wait. */
const byHand = {
  name: "by-hand",
  text: `WITH s AS (INSERT INTO opwright_signals (id, name, data, created_at) VALUES ($1, 'bench.kept', $2, $3))
    INSERT INTO opwright_staged_signals (tenant_id, principal_id, signal_id, shard) VALUES ('by hand', $4, $1, -1)`,
};
const end = { name: "end", text: "COMMIT" };
const begin = { name: "begin", text: "BEGIN" };

async function writeByHand(commits, writers) {
  let left = commits;
  const data = JSON.stringify({ text });
  const writer = async () => {
    const client = new pg.Client({ connectionString: process.env.DATABASE_URL, pipeline: true });
    await client.connect();
    while (left > 0) {
      left -= 1;
      const values = [randomUUID(), data, Date.now(), people[left % people.length]];
      await Promise.all([
        client.query(begin),
        client.query({ ...byHand, values }),
        client.query(end),
      ]);
    }
    await client.end();
  };
  await Promise.all(Array.from({ length: writers }, writer));
}

process.on("message", async ({ commits, recipients, signals, writers, isByHand }) => {
  if (isByHand) {
    await writeByHand(commits, writers);
    process.send({ done: true });
    return;
  }
  let left = commits;
  let next = Math.floor(Math.random() * people.length);
  const writer = async () => {
    while (left > 0) {
      left -= 1;
      await write("bench.stage", async (context) => {
        const principals = () =>
          Array.from({ length: recipients }, () => {
            next = (next + 1) % people.length;
            return people[next];
          });
        await Promise.all(
          Array.from({ length: signals }, () =>
            stage(context, "bench.kept", { text }, { principals: principals() }),
          ),
        );
      });
    }
  };
  await Promise.all(Array.from({ length: writers }, writer));
  // What somebody else has put there is found at once.
  running.connection.signals.wake();
  process.send({ done: true });
});

const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
await client.connect();
const before = performance.now();
for (let round = 0; round < 20; round += 1) await client.query("SELECT 1");
const roundTrip = (performance.now() - before) / 20;
await client.end();
process.send({ roundTrip });
