// Work is bounded: prices and purses, shares, deadlines that end statements at the engine, callers who leave.
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { collection, defineService, nothing, route } from "../../../runtime/index.js";
import { uuidv7 } from "../../../runtime/ports/uuid.js";
import { engines } from "../../support/engines.js";
import { startTestService, type TestService } from "../../support/service.js";
import { documentStore } from "../../../runtime/ports/documents.js";

const rows = 30_000;

/** A filter of so many patterns, each of which every row is held against. */
const patterns = (count: number): object => ({
  $or: Array.from({ length: count }, (_, at) => ({
    $values: { name: { $like: `%${at}%q%x%z%${"ab%".repeat(60)}` } },
  })),
});

describe.each(engines.filter(({ isAvailable }) => isAvailable))("$name", (engine) => {
  let service: TestService;
  let generous: TestService;

  const places = async ({ running }: TestService): Promise<void> => {
    const spec = (await import("../../../generated/documents/places.js")).placesSpec;
    for (let from = 0; from < rows; from += 5_000)
      await running.connection.write("test.places", async ({ transaction }) => {
        const now = new Date().toISOString();
        for (let at = from; at < from + 5_000; at += 1)
          await transaction.of(documentStore).insert(spec, "", {
            id: uuidv7(),
            rev: 1,
            createdAt: now,
            lastUpdateAt: now,
            isDeleted: false,
            ownerId: null,
            body: JSON.stringify({
              name: `place ${at} ${"abc".repeat(20)}`,
              country: "XX",
              admin1: "1",
              lat: at,
              lng: -at,
            }),
          });
      });
  };

  let url = "";

  beforeAll(async () => {
    ({ url } = await engine.create());
    service = await startTestService(engine, {
      environment: { DATABASE_URL: url, QUERY_BUDGET_ANONYMOUS: "2000000" },
    });
    await places(service);
    generous = await startTestService(engine, {
      environment: {
        DATABASE_URL: url,
        QUERY_BUDGET: "none",
        QUERY_BUDGET_ANONYMOUS: "none",
      },
    });
  }, 120_000);
  afterAll(async () => {
    await service.stop();
    await generous.stop();
  });

  const list = (to: TestService, body: object, headers: Readonly<Record<string, string>> = {}) =>
    to.post("/places/list", body, headers);
  const anonymous = { authorization: "" };

  test("a query that costs more than its caller may spend is refused, and told what is dear", async () => {
    const refused = await list(service, { filters: patterns(32) }, anonymous);
    expect([refused.status, refused.body.code]).toEqual([422, "query_too_complex"]);
    const { cost, budget, dear } = refused.body.context;
    expect([budget, cost > budget, dear[0].what]).toEqual([2_000_000, true, "name $like"]);
    const medians = Object.fromEntries(
      Array.from({ length: 16 }, (_, at) => [`m${at}`, { $median: { field: "lat" } }]),
    );
    const aggregated = await service.post(
      "/places/agg_list",
      { aggregates: { $computed: medians } },
      anonymous,
    );
    expect([aggregated.status, aggregated.body.context.dear[0].what]).toEqual([
      422,
      "$median of lat",
    ]);
  });

  test("signed-in callers have a larger budget, and a page by an index costs next to nothing", async () => {
    const body = { filters: patterns(4) };
    expect((await list(service, body, anonymous)).status).toBe(422);
    expect((await list(service, body)).status).toBe(200);
    const page = { filters: { $values: { country: "XX" } }, sorts: { name: "asc" }, size: 20 };
    expect((await list(service, page, anonymous)).status).toBe(200);
  });

  test("at its deadline a query is answered 504, and its statement ends; a caller who leaves ends it too", async () => {
    const dear = { filters: patterns(256) };
    const late = await list(generous, dear, { ...anonymous, "x-deadline-budget": "0.3" });
    expect([late.status, late.body.code]).toEqual([504, "deadline_exceeded"]);
    const leaving = request(`${generous.url}/places/list`, {
      method: "POST",
      headers: { "content-type": "application/json" },
    });
    leaving.on("error", () => undefined);
    leaving.end(JSON.stringify(dear));
    const { database } = generous.running.connection;
    await expect.poll(() => database.state().reading.running).toBe(1);
    leaving.destroy();
    await expect.poll(() => database.state().reading.running).toBe(0);
    if (engine.name === "postgres") expect(await statements(url)).toEqual([]);
  });

  test("one caller's dear queries take his share alone: others are answered meanwhile, and probes too", async () => {
    const dear = { filters: patterns(256) };
    const attacks = Array.from({ length: 12 }, () =>
      list(generous, dear, { ...anonymous, "x-deadline-budget": "3" }),
    );
    const { database } = generous.running.connection;
    await expect.poll(() => database.state().reading.waiting).toBeGreaterThan(4);
    const page = { filters: { $values: { country: "XX" } }, sorts: { name: "asc" }, size: 20 };
    // Signed in, so another payer than the address.
    expect((await list(generous, page)).status).toBe(200);
    expect((await generous.call("GET", "/readyz")).status).toBe(200);
    const created = await generous.post("/projects", { name: "P", key: "PP" });
    expect(created.status).toBe(201);
    expect(database.state().reading.waiting).toBeGreaterThan(0);
    const statuses = (await Promise.all(attacks)).map(({ status }) => status);
    expect(statuses.every((status) => [200, 504].includes(status))).toBe(true);
  });

  test("an operation without a deadline has the service's", async () => {
    const definition = defineService({
      name: "tracker",
      title: "T",
      version: "1.0.0",
      deadlineSeconds: 0.2,
      routes: [
        route({
          operationId: "slow.wait",
          method: "GET",
          path: "/wait",
          status: 200,
          input: nothing,
          transaction: "read",
          run: async () => {
            await sleep(60_000, undefined, { ref: false });
            return {};
          },
        }),
      ],
    });
    const slow = await startTestService(engine, { definition });
    const answer = await slow.call("GET", "/wait");
    expect([answer.status, answer.body.code]).toEqual([504, "deadline_exceeded"]);
    await slow.stop();
  });

  test("large answers beyond what the process may hold are 503, and the next one fits again", async () => {
    const held = await startTestService(engine, {
      environment: {
        DATABASE_URL: url,
        ANSWER_BYTES: "2000000",
        QUERY_BUDGET: "none",
      },
    });
    // A page of ten thousand takes more than half of it.
    const refused = await list(held, { size: 10_000 });
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect((await list(held, { size: 1_000 })).status).toBe(200);
    expect(held.running.connection.answers.state).toMatchObject({ refused: 1 });
    await expect.poll(() => held.running.connection.answers.state.bytes).toBe(0);
    // What the service reads for itself is nobody's answer: there is no end of one that would give the room back.
    const { placesSpec } = await import("../../../generated/documents/places.js");
    for (let reading = 0; reading < 3; reading += 1) {
      const context = held.running.connection.context("outbox.place_seen");
      const { hits } = await collection(placesSpec, context).page({ size: 10_000 });
      expect(hits).toHaveLength(10_000);
    }
    expect(held.running.connection.answers.state.bytes).toBe(0);
    await held.stop();
  });
});

/** Statements of callers that run at the server. */
async function statements(url: string): Promise<readonly string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: found } = await client.query<{ query: string }>(
      `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query LIKE '%places%' AND pid <> pg_backend_pid()`,
    );
    return found.map((row) => row.query);
  } finally {
    await client.end();
  }
}
