// What is set for the role or the database changes no answer: each session has the settings that our statements count on.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPostgresBus } from "../../../runtime/engines/postgres/bus.js";
import { silentLog } from "../../../runtime/ports/log.js";
import { engines, databaseAt, type FreshDatabase } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const postgres = engines.find(({ name }) => name === "postgres");

/** Each is a setting of its own that changes how PostgreSQL reads, writes or runs our statements, if it gets through. */
const odd: readonly string[] = [
  "datestyle = 'German'",
  "datestyle = 'SQL, DMY'",
  "timezone = 'Pacific/Chatham'",
  "intervalstyle = 'iso_8601'",
  "extra_float_digits = -15",
  "bytea_output = 'escape'",
  "standard_conforming_strings = off",
  "default_transaction_isolation = 'serializable'",
  "default_transaction_deferrable = on",
  "lock_timeout = '1ms'",
  "statement_timeout = '1ms'",
  "idle_in_transaction_session_timeout = '1ms'",
  "array_nulls = off",
  "transform_null_equals = on",
  "quote_all_identifiers = on",
  "row_security = off",
  "gin_fuzzy_search_limit = 1",
  "client_encoding = 'LATIN1'",
  "xmlbinary = 'hex'",
  "enable_seqscan = off",
  "jit = on",
];

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  sales:
    type: {title: string, day: {type: string, format: date}, at: date-time, price: number, tags: "string[]", note: string?}
    guard: open
    history: true
    unique: [[title]]
    bulk: {max: 10}
    indexes: [[day]]
search:
  sale_search: {of: sales, text: {title: 2, note: 1}, guard: open, mount: {at: /search/sales}}
operations:
  sales.settings: {post: /settings, out: {session: "string[]"}, run: registry/handlers.ts#settings, guard: open}
  sales.own: {post: /own, out: {title: string, price: number, day: string}, run: registry/handlers.ts#own, guard: open}
`,
  "registry/handlers.ts": `import { column, sql } from "opwright/runtime";
import { salesSpec } from "../generated/documents/sales.js";
const [title, price, at] = ["title", "price", "at"].map((name) => column(salesSpec, name));
export const own = async (_input, context) => (await sql(context, { title: "string", price: "number", day: "string" })
  \`SELECT \${title} AS title, sum(\${price}) AS price, min(\${at}) AS day FROM \${salesSpec} AS s
    WHERE \${title} LIKE 'a\\\\\\\\\\\\\\\\_b%' GROUP BY 1\`)[0] ?? { title: "", price: 0, day: "" };
const set = async (context) => {
  const [row] = await sql(context, { commit: "string", idle: "string", transaction: "string" })
    \`SELECT current_setting('synchronous_commit') AS "commit", current_setting('idle_session_timeout', true) AS "idle", current_setting('transaction_timeout', true) AS "transaction"\`;
  return [row.commit, row.idle ?? "0", row.transaction ?? "0"];
};
export const settings = async (_input, context) => ({ session: await set(context) });
`,
};

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project?.remove());

/** Creates, changes and asks for documents; resolves with every answer, without what differs from run to run. */
async function round(service: TestService): Promise<readonly unknown[]> {
  const answers: unknown[] = [];
  const ask = async (path: string, body: object, method = "POST") => {
    const answer = await service.call(method, path, method === "GET" ? {} : { body });
    answers.push([path.replace(/[0-9a-f-]{36}/, "ID"), answer.status, plain(answer.body)]);
    return answer.body;
  };
  const sales = [
    [String.raw`a\_b'c "Ä" 1`, "2026-03-02", "2026-03-01T23:30:00.5Z", 0.1, ["x", "NULL"], null],
    [String.raw`a_b\n 2`, "2026-12-11", "2026-12-11T10:00:00+02:00", 0.2, [], "vehicle é"],
    ["NULL 3", "1999-01-31", "1999-01-31T00:00:00Z", 1234567.123456789, ["y"], "vehicles"],
  ] as const;
  const made: { id: string; rev: number }[] = [];
  for (const [title, day, at, price, tags, note] of sales)
    made.push(await ask("/sales", { title, day, at, price, tags, note }));
  const [first] = made;
  await ask(`/sales/${first?.id}?rev=${first?.rev}`, { note: "changed" }, "PATCH");
  await ask("/sales/create_many", {
    items: [
      { title: "4", day: "2026-03-02", at: "2026-03-01T23:30:00Z", price: 3, tags: [], note: null },
    ],
  });
  await ask(`/sales/${first?.id}`, {}, "GET");
  const list = (filters: object) =>
    ask("/sales/list", { filters: { $values: filters }, sorts: { at: "desc", title: "asc" } });
  await list({ day: { $gte: "2026-02-03", $lt: "2026-12-12" } });
  await list({ at: { $gt: "2026-03-01T23:30:00Z" } });
  await list({ created_at: { $gt: "2020-01-01T00:00:00Z" }, note: { $null: false } });
  await list({ title: { $like: String.raw`a\_b%` } });
  await list({ title: { $like: String.raw`a\\%` } });
  await list({ title: ["NULL 3", "4"] });
  await list({ price: [0.1, 0.2, 1234567.123456789] });
  await list({ tags: { $overlaps: ["NULL"] } });
  await ask("/sales/agg_list", {
    aggregates: {
      $groups: { week: { $trunc: { field: "at", unit: "week", timezone: "Europe/Berlin" } } },
      $computed: {
        sum: { $sum: "price" },
        mean: { $avg: "price" },
        middle: { $median: "price" },
        spread: { $stddev_pop: "price" },
      },
    },
  });
  await ask("/search/sales/typed", { query: "vehicle" });
  await ask("/own", {});
  // Writers of one key wait for each other instead of failing.
  const many = await Promise.all(
    Array.from({ length: 8 }, (_none, at) =>
      service.post("/sales", {
        title: `many ${at}`,
        day: "2026-01-01",
        at: "2026-01-01T00:00:00Z",
        price: at,
        tags: [],
        note: null,
      }),
    ),
  );
  answers.push(many.map(({ status }) => status));
  return answers;
}

/** Replaces what the service makes: ids, times and scores. */
function plain(body: unknown): unknown {
  const text = JSON.stringify(body ?? null, (key, value: unknown) =>
    ["id", "created_at", "last_update_at", "request_id", "next", "cursor"].includes(key)
      ? typeof value
      : value,
  );
  return JSON.parse(text);
}

describe.skipIf(postgres?.isAvailable !== true)("on PostgreSQL", () => {
  let expected: readonly unknown[];
  let role: string;
  const dropped: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    if (postgres === undefined) return;
    const service = await project.start(postgres);
    expected = await round(service);
    await service.stop();
    role = `opwright_test_${randomBytes(6).toString("hex")}`;
  });
  afterAll(async () => {
    for (const drop of dropped.toReversed()) await drop();
  });

  /** A database with its own role, and these settings for it. */
  const withSettings = async (settings: readonly string[], of: "ROLE" | "DATABASE") => {
    const database = await postgres?.create();
    if (database === undefined) throw new Error("there is no PostgreSQL");
    const admin = new Client({ connectionString: database.url });
    await admin.connect();
    const name = new URL(database.url).pathname.slice(1);
    if (of === "ROLE") {
      await admin.query(`CREATE ROLE ${role} LOGIN SUPERUSER`);
      dropped.push(() => onServer(`DROP ROLE ${role}`));
    }
    const whom = of === "ROLE" ? role : name;
    for (const setting of settings) await admin.query(`ALTER ${of} ${whom} SET ${setting}`);
    await admin.end();
    const url = new URL(database.url);
    if (of === "ROLE") url.username = role;
    return databaseAt(url.href, database.drop);
  };

  const answersOn = async (database: FreshDatabase): Promise<readonly unknown[]> => {
    if (postgres === undefined) throw new Error("there is no PostgreSQL");
    const service = await project.start({ ...postgres, create: async () => database });
    const answers = await round(service);
    expect((await service.call("GET", "/readyz")).status).toBe(200);
    await service.stop();
    return answers;
  };

  test("the round works on a plain database", () => {
    expect(expected.filter((answer) => Array.isArray(answer) && answer[1] >= 300)).toEqual([]);
  });

  test("a database with every setting gives the same answers", async () => {
    // The last one of a name counts; `German` is tried with the role.
    expect(await answersOn(await withSettings(odd, "DATABASE"))).toEqual(expected);
  });

  test("a role with every setting gives the same answers", async () => {
    expect(await answersOn(await withSettings(odd.toReversed(), "ROLE"))).toEqual(expected);
  });

  test.each([
    ["off", "on"],
    ["on", "on"],
    ["local", "local"],
    ["remote_apply", "remote_apply"],
  ])("synchronous_commit = %s: commits wait as with %s", async (set, used) => {
    if (postgres === undefined) return;
    const settings = [`synchronous_commit = ${set}`, "idle_session_timeout = '700ms'"];
    const database = await withSettings(settings, "DATABASE");
    const service = await project.start({ ...postgres, create: async () => database });
    const session = [used, "0", "0"];
    const { body } = await service.call("POST", "/settings", { body: {} });
    expect(body).toEqual({ session });
    await service.stop();
  });

  test("synchronous_commit = off in the URL's options doesn't count either", async () => {
    if (postgres === undefined) return;
    const database = await withSettings([], "DATABASE");
    const url = new URL(database.url);
    url.searchParams.set("options", "-c synchronous_commit=off -c idle_session_timeout=1s");
    const create = async () => databaseAt(url.href, database.drop);
    const service = await project.start({ ...postgres, create });
    const session = ["on", "0", "0"];
    const { body } = await service.call("POST", "/settings", { body: {} });
    expect(body).toEqual({ session });
    await service.stop();
  });

  test("idle_session_timeout doesn't end the connection on which signals arrive", async () => {
    if (postgres === undefined) return;
    const database = await withSettings(["idle_session_timeout = '700ms'"], "DATABASE");
    const bus = await openPostgresBus(database.url, silentLog);
    const listeners = async (): Promise<unknown> => {
      const statement = `SELECT pid FROM pg_stat_activity WHERE application_name = 'opwright bus' AND datname = current_database()`;
      return (await onUrl(database.url, statement)).rows;
    };
    await expect.poll(listeners).toHaveLength(1);
    const before = await listeners();
    await sleep(1_500);
    expect(await listeners()).toEqual(before);
    await bus.close();
    await database.drop();
  });

  test("the schema is the operator's: of the database, and before it of the URL", async () => {
    const database = await withSettings(["search_path = app"], "DATABASE");
    const tablesOf = async (schema: string): Promise<number> => {
      const { rows } = await onUrl(
        database.url,
        `SELECT count(*)::int AS n FROM pg_tables WHERE schemaname = '${schema}'`,
      );
      return Number(rows[0]?.n);
    };
    await onUrl(database.url, "CREATE SCHEMA app; CREATE SCHEMA other");
    const kept = { ...database, drop: async () => undefined };
    await answersOn(kept);
    expect([(await tablesOf("app")) > 0, await tablesOf("public")]).toEqual([true, 0]);
    const url = new URL(database.url);
    url.searchParams.set("options", "-c search_path=other -c datestyle=German");
    expect(await answersOn(databaseAt(url.href, database.drop))).toEqual(expected);
  });
});

async function onUrl(connectionString: string, statement: string) {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return await client.query<Readonly<Record<string, unknown>>>(statement);
  } finally {
    await client.end();
  }
}

const onServer = (statement: string) =>
  onUrl(process.env["OPWRIGHT_TEST_POSTGRES"] ?? "", statement);
