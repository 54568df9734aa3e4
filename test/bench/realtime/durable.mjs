// Durable signals a second, from the transactions that stage them to their places in mailboxes: two processes on one
// PostgreSQL, on the loopback and with a round trip of two milliseconds.
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { onEngine } from "../engines.mjs";
import { amount, ending, table } from "../tools.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const writers = 18;
const pool = 24;
/** As many, or a hundredth of them. */
const sized = (number) => Math.ceil(number / amount(1, 100));
const cases = [
  { name: "one signal to one principal", waits: 0, commits: 4_000, signals: 1, recipients: 1 },
  { name: "one signal to ten", waits: 0, commits: 2_000, signals: 1, recipients: 10 },
  { name: "ten signals to one each", waits: 0, commits: 500, signals: 10, recipients: 1 },
  { name: "one signal to 200", waits: 0, commits: 200, signals: 1, recipients: 200 },
  {
    name: `nothing; ${sized(40_000)} signals wait already`,
    waits: 40_000,
    commits: 0,
    signals: 0,
    recipients: 0,
  },
];

export async function durable() {
  const rows = [];
  for (const millis of [0, 1])
    await onEngine("postgres", async (url, data) => {
      rows.push(...(await measured(new URL(url), millis, data)));
    });
  process.stdout.write(
    `two processes, ${writers} writers and a pool of ${pool} connections each, PostgreSQL\n\n`,
  );
  table(["a transaction stages", "round trip, ms", "signals a second"], rows);
}

async function measured(url, millis, data) {
  const watch = new pg.Client({ connectionString: url.href });
  const children = [];
  try {
    const one = await started(url, millis, data, children);
    const two = await started(url, millis, data, children);
    await watch.connect();
    const rows = [await writtenByHand([one, two], watch)];
    for (const { name: what, ...all } of cases) {
      const [waits, commits] = [sized(all.waits), sized(all.commits)];
      const work = { ...all, commits };
      const before = await placed(watch);
      const wanted = before + waits + 2 * commits * work.signals * work.recipients;
      if (waits > 0) await backlog(watch, waits);
      const begun = performance.now();
      await Promise.all([one, two].map(({ ask }) => ask({ ...work, writers })));
      const deadline = Date.now() + 120_000;
      while ((await placed(watch)) < wanted) {
        if (Date.now() > deadline) throw new Error(`not all signals of "${what}" have places`);
        await sleep(5);
      }
      const seconds = (performance.now() - begun) / 1000;
      rows.push([what, one.roundTrip.toFixed(1), ((wanted - before) / seconds).toFixed(0)]);
    }
    return rows;
  } finally {
    for (const child of children) child.kill("SIGKILL");
    await watch.end();
  }
}

/** What PostgreSQL and its driver take, if nobody numbers: the limit for one signal to one principal. */
async function writtenByHand(processes, watch) {
  const commits = sized(4_000);
  const begun = performance.now();
  await Promise.all(processes.map(({ ask }) => ask({ isByHand: true, commits, writers })));
  const seconds = (performance.now() - begun) / 1000;
  await watch.query(`DELETE FROM opwright_staged_signals WHERE tenant_id = 'by hand'`);
  return [
    "by hand: one signal to one principal, which nobody numbers",
    processes[0].roundTrip.toFixed(1),
    ((2 * commits) / seconds).toFixed(0),
  ];
}

/** Signals that were staged while nobody numbered, each for one of 1 000 principals. */
async function backlog(client, count) {
  const uuid = (expression) =>
    `('01890000-0000-7000-8000-' || lpad(to_hex(${expression}), 12, '0'))::uuid`;
  await client.query(
    `WITH s AS (INSERT INTO opwright_signals (id, name, data, created_at)
      SELECT gen_random_uuid(), 'bench.kept', '{"text":"' || repeat('x', 140) || '"}', ${Date.now()}
      FROM generate_series(1, ${count}) RETURNING id)
    INSERT INTO opwright_staged_signals (tenant_id, principal_id, signal_id, shard)
    SELECT 'default', ${uuid("n % 1000")}, id, n % 1000 % 16 FROM (SELECT id, row_number() OVER () AS n FROM s) x`,
  );
}

/** Signals that have their places. */
async function placed(client) {
  const { rows } = await client.query(
    `SELECT coalesce(sum(head), 0) AS "placed" FROM opwright_mailbox_heads`,
  );
  return Number(rows[0].placed);
}

/** A process of the service whose database is so many milliseconds away, each way. */
async function started(url, millis, data, children) {
  const own = new URL(url);
  if (millis > 0) {
    const args = [url.hostname, url.port || "5432", String(millis)];
    const proxy = ending(fork(join(here, "delay.mjs"), args));
    children.push(proxy);
    const [{ port }] = await once(proxy, "message");
    own.hostname = "127.0.0.1";
    own.port = String(port);
  }
  const env = {
    ...process.env,
    PORT: "0",
    DATA_DIR: data,
    DATABASE_URL: own.href,
    DATABASE_POOL: String(pool),
  };
  const child = ending(fork(join(here, "writer.mjs"), { env }));
  children.push(child);
  const [{ roundTrip }] = await once(child, "message");
  return {
    roundTrip,
    async ask(work) {
      child.send(work);
      await once(child, "message");
    },
  };
}
