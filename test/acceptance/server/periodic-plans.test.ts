// What a service does again and again costs what it finds, not what there is: each statement of its periodic work uses an
// index, and each batch has an end (architecture.md "Work is bounded").
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { service as reference } from "../../../generated/service.js";
import { sqliteDialect } from "../../../runtime/engines/sqlite/dialect.js";
import { postgresDialect } from "../../../runtime/engines/postgres/dialect.js";
import { SqlTransaction } from "../../../runtime/engines/sql/stores.js";
import { withParts, type SqlSession } from "../../../runtime/engines/sql/session.js";
import { silentLog } from "../../../runtime/ports/log.js";
import { uuidv7 } from "../../../runtime/ports/uuid.js";
import { connect } from "../../../runtime/server/connect.js";
import { readSettings } from "../../../runtime/server/settings.js";
import { engines, type FreshDatabase, type TestEngine } from "../../support/engines.js";
import { benchOf, type Bench } from "../../support/bench-database.js";
import { generated } from "../../support/service.js";
import { apiKeyStore } from "../../../runtime/ports/api-keys.js";
import { objectIndex, type ObjectFilter } from "../../../runtime/ports/object-index.js";
import { outboxStore } from "../../../runtime/ports/outbox.js";
import { projectsSpec } from "../../../generated/documents/projects.js";
import { historyStore } from "../../../runtime/ports/document-history.js";
import { identityStore } from "../../../runtime/ports/identity.js";
import { mailboxStore } from "../../../runtime/ports/mailbox.js";
import { sqlStores } from "../../../runtime/families.js";

const now = 1_800_000_000_000;
const day = 86_400_000;
const batch = 1_000;
const principal = "00000000-0000-7000-8000-0000000000aa";

/** Rows of a table, numbered by `i`. */
function rowsOf(table: string, count: number, columns: Readonly<Record<string, string>>): string {
  const names = Object.keys(columns).map((column) => `"${column}"`);
  return (
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) ` +
    `INSERT INTO "${table}" (${names.join(", ")}) SELECT ${Object.values(columns).join(", ")} FROM n`
  );
}

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let database: FreshDatabase;
    let bench: Bench;
    beforeAll(async () => {
      database = await engine.create();
      const settings = readSettings(reference, { ...database.environment });
      const connection = await connect(reference, { settings, folder: generated, log: silentLog });
      await connection.close();
      bench = await benchOf(engine, database.url);
      for (const text of grown(engine)) await bench.query(text);
      if (engine.name === "postgres") await bench.query("VACUUM ANALYZE");
    }, 120_000);
    afterAll(async () => {
      await bench.close();
      await database.drop();
    });

    const dialect = engine.name === "sqlite" ? sqliteDialect : postgresDialect;
    /** Runs work on the stores, and returns its result with the plans of its statements. */
    const watched = async <T>(
      work: (stores: SqlTransaction) => Promise<T>,
    ): Promise<{ readonly result: T; readonly plans: readonly string[] }> => {
      const plans: string[] = [];
      const all: SqlSession["all"] = async (text, parameters) => {
        plans.push(`${text}\n${await bench.explain(text, parameters)}`);
        return bench.query(text, parameters);
      };
      const run: SqlSession["run"] = async (text, parameters) => {
        plans.push(`${text}\n${await bench.explain(text, parameters)}`);
        if (/RETURNING/.test(text)) return (await bench.query(text, parameters)).length;
        return (await bench.query(`${text} RETURNING 1`, parameters)).length;
      };
      const runPipelined: SqlSession["runPipelined"] = async (text, parameters) =>
        void (await all(text, parameters));
      const scan: SqlSession["scan"] = (text, parameters, columns) =>
        all(withParts(text, columns), parameters);
      const session = { dialect, all, run, runPipelined, scan };
      const result = await work(new SqlTransaction(session, sqlStores));
      for (const plan of plans) expect(scansOf(plan), plan).toEqual([]);
      return { result, plans };
    };

    const of = (prefix: string): ObjectFilter => ({ prefix, contentType: null, tags: {} });
    /** What stands before all documents. */
    const firstKey = dialect
      .rowKeys(projectsSpec)
      .map(({ type }) =>
        type === "integer" ? 0 : type === "uuid" ? principal.replace("aa", "00") : "",
      );
    const mailboxTrim = { before: now - 7 * day, most: 10_000 };
    test.each<[string, (stores: SqlTransaction) => Promise<unknown>, unknown]>([
      [
        "entries that are old",
        (transaction) => transaction.of(mailboxStore).trim(mailboxTrim.before, 10_000, batch),
        batch,
      ],
      [
        "mailboxes that are long",
        (transaction) => transaction.of(mailboxStore).trim(0, 10_000, batch),
        batch,
      ],
      [
        "signals that no mailbox has",
        (transaction) => transaction.of(mailboxStore).pruneSignals(now - 30 * day, batch),
        batch,
      ],
      [
        "cursors",
        (transaction) => transaction.of(mailboxStore).pruneCursors(now - 7 * day, now, batch),
        batch,
      ],
      [
        "shards with something staged",
        (transaction) => transaction.of(mailboxStore).stagedShards(),
        [3],
      ],
      ["how long signals wait", (transaction) => transaction.of(mailboxStore).stagedLag(0), 0],
      [
        "places in mailboxes",
        async (transaction) => (await transaction.of(mailboxStore).number([3], 500)).entries.length,
        500,
      ],
      [
        "an acknowledgement",
        (transaction) =>
          transaction
            .of(mailboxStore)
            .acknowledge({ tenant: "t", principalId: principal }, "new", 0, now, 100),
        0,
      ],
      [
        "what the relay polls",
        (transaction) => transaction.of(outboxStore).hasDue(["told", "other"], now),
        true,
      ],
      [
        "what the relay claims",
        async (transaction) =>
          (
            await transaction
              .of(outboxStore)
              .claim(["told", "other"], { now, leaseUntil: now + 1, limit: 16 })
          ).length,
        10,
      ],
      [
        "how far the relay is",
        (transaction) => transaction.of(outboxStore).state(now),
        { pending: 10, dead: 10_000, lagMillis: 10 },
      ],
      [
        "dead letters that are old",
        (transaction) => transaction.of(outboxStore).prune(now - 7 * day, batch),
        batch,
      ],
      [
        "dead letters again",
        (transaction) => transaction.of(outboxStore).redrive(null, now, batch),
        batch,
      ],
      ["idempotency records", ({ idempotency }) => idempotency.prune(now, batch), batch],
      [
        "sessions and their tokens",
        (transaction) => transaction.of(identityStore).prune(now - day, batch),
        true,
      ],
      ["API keys", (transaction) => transaction.of(apiKeyStore).prune(now - day, batch), batch],
      [
        "the sessions of a principal",
        (transaction) => transaction.of(identityStore).limitSessions(principal, 100),
        false,
      ],
      [
        "the API keys of a principal",
        (transaction) => transaction.of(apiKeyStore).limit(principal, now, 100),
        0,
      ],
      [
        "the used tokens of a session",
        (transaction) => transaction.of(identityStore).limitRefreshTokens(principal, 100),
        undefined,
      ],
      [
        "documents that have been deleted for long",
        async (transaction) =>
          (
            await transaction
              .of(historyStore)
              .deletedUntil(projectsSpec, "2026-06-01T00:00:00.000Z", null, batch)
          ).length,
        batch,
      ],
      [
        "those behind one of them",
        async (transaction) =>
          (
            await transaction
              .of(historyStore)
              .deletedUntil(
                projectsSpec,
                "2026-06-01T00:00:00.000Z",
                { lastUpdateAt: "2026-01-02T00:00:00.000Z", id: principal },
                batch,
              )
          ).length,
        batch,
      ],
      [
        "revisions that are more than are kept",
        async (transaction) =>
          (await transaction.of(historyStore).trim(projectsSpec, 5, firstKey, 100)).removed,
        100,
      ],
      [
        "a page of revisions",
        async (transaction) =>
          (await transaction.of(historyStore).revisions(projectsSpec, "t", principal, 15, 10))
            .length,
        10,
      ],
      [
        "a lease",
        async ({ leases }) => (await leases.take("work", "me", now, now + 1)) !== null,
        true,
      ],
      [
        "a page of objects",
        async (transaction) =>
          (
            await transaction
              .of(objectIndex)
              .select(of("files/t/a"), { after: "files/t/a050000", offset: 0, limit: 11 })
          ).map(({ key }) => key),
        Array.from({ length: 11 }, (_, at) => `files/t/a0500${String(at + 1).padStart(2, "0")}`),
      ],
      [
        "a first page of objects, counted to a hundred",
        async (transaction) => {
          const window = { offset: 0, limit: 11 };
          const page = await transaction.of(objectIndex).countedPage(of("files/t/"), window, 100);
          return [page.rows.length, page.count];
        },
        [11, 100],
      ],
      [
        "objects that a walk compares",
        async (transaction) =>
          (await transaction.of(objectIndex).known("files/", "files0", batch)).length,
        batch,
      ],
      [
        "objects that may have changed",
        async (transaction) => (await transaction.of(objectIndex).due(now, 100)).length,
        100,
      ],
      [
        "a change of an object",
        async (transaction) => {
          const index = transaction.of(objectIndex);
          await index.begin("change", ["files/t/a000007"], { now, dueAt: now });
          return index.settle("change", [{ key: "files/t/a000007", object: null }]);
        },
        [],
      ],
    ])("%s: found by an index, so many at a time", async (_what, work, expected) => {
      const { result } = await watched(work);
      expect(result).toEqual(expected);
    });

    test("a page of objects is one statement, whatever its filter, and so is one that is counted", async () => {
      const filter = { ...of("files/t/"), contentType: "text/*", tags: { stage: "draft" } };
      const window = { offset: 0, limit: 101 };
      const selected = await watched((transaction) =>
        transaction.of(objectIndex).select(filter, { ...window, after: null }),
      );
      expect([selected.plans.length, selected.result.length]).toEqual([1, 101]);
      const counted = await watched((transaction) =>
        transaction.of(objectIndex).countedPage(of("files/t/"), window, 1_000),
      );
      expect([counted.plans.length, counted.result.rows.length]).toEqual([1, 101]);
    });

    test("as many statements for one signal as for a thousand", async () => {
      const stage = (count: number) =>
        watched((transaction) => {
          const mailbox = transaction.of(mailboxStore);
          const principals = Array.from({ length: count }, () => uuidv7());
          const signal = {
            eventId: uuidv7(),
            name: "told",
            data: "{}",
            shape: null,
            traceparent: null,
          };
          return mailbox.stage("t", signal, principals, now);
        });
      // The signal, and its recipients.
      const inserts = dialect.insertBoth === null ? 2 : 1;
      expect((await stage(1)).plans).toHaveLength(inserts);
      expect((await stage(1_000)).plans).toHaveLength(inserts);
      const together = await watched((transaction) =>
        Promise.all(
          Array.from({ length: 100 }, (_, at) => {
            const signal = {
              eventId: uuidv7(),
              name: "told",
              data: String(at),
              shape: null,
              traceparent: null,
            };
            return transaction.of(mailboxStore).stage("t", signal, [principal], now);
          }),
        ),
      );
      expect(together.plans).toHaveLength(inserts);
      for (const limit of [1, 500])
        expect(
          (await watched((transaction) => transaction.of(mailboxStore).number([3], limit))).plans,
        ).toHaveLength(inserts === 1 ? 6 : 4);
    });

    test("an acknowledgement of a device that is known asks for nothing more", async () => {
      const owner = { tenant: "t", principalId: principal };
      const acknowledge = () =>
        watched((transaction) =>
          transaction.of(mailboxStore).acknowledge(owner, "known", 0, now, 100),
        );
      expect((await acknowledge()).plans).toHaveLength(4);
      expect((await acknowledge()).plans).toHaveLength(2);
    });
  });
}

/** Tables that have grown: what can go, and as much that cannot. */
function grown({ name }: TestEngine): readonly string[] {
  const isSqlite = name === "sqlite";
  const uuid = (number: string): string =>
    isSqlite
      ? `'00000000-0000-7000-8000-' || printf('%012x', ${number})`
      : `('00000000-0000-7000-8000-' || lpad(to_hex(${number}), 12, '0'))::uuid`;
  const half = (old: number, young: number): string =>
    `CASE WHEN i % 2 = 0 THEN ${old} ELSE ${young} END`;
  const old = now - 60 * day;
  const nothing = "NULL";
  return [
    // Ten entries in each of 5 000 mailboxes, half of them old; three that are long; signals without any entry.
    rowsOf("opwright_mailbox_heads", 5_000, {
      tenant_id: `'t'`,
      principal_id: uuid("i"),
      head: "10",
      floor: "0",
    }),
    rowsOf("opwright_mailbox_heads", 60_000, {
      tenant_id: `'other'`,
      principal_id: uuid("i"),
      head: "10",
      floor: "10",
    }),
    rowsOf("opwright_mailbox_heads", 3, {
      tenant_id: `'long'`,
      principal_id: uuid("i"),
      head: "20000",
      floor: "0",
    }),
    rowsOf("opwright_signals", 50_000, {
      id: uuid("i"),
      name: `'told'`,
      data: `'{}'`,
      created_at: `CASE WHEN (i - 1) % 10 < 5 THEN ${old} + i / 10 ELSE ${now} END`,
    }),
    rowsOf("opwright_signals", 20_000, {
      id: uuid("i + 100000"),
      name: `'told'`,
      data: `'{}'`,
      created_at: `${old} + 100000 + i`,
    }),
    rowsOf("opwright_mailbox", 50_000, {
      tenant_id: `'t'`,
      principal_id: uuid("1 + (i - 1) / 10"),
      position: "1 + (i - 1) % 10",
      signal_id: uuid("i"),
      created_at: `CASE WHEN (i - 1) % 10 < 5 THEN ${old} + i / 10 ELSE ${now} END`,
    }),
    ...[1, 2, 3].map((at) =>
      rowsOf("opwright_mailbox", 20_000, {
        tenant_id: `'long'`,
        principal_id: uuid(String(at)),
        position: "i",
        signal_id: uuid("1"),
        created_at: String(now),
      }),
    ),
    rowsOf("opwright_staged_signals", 20_000, {
      tenant_id: `'t'`,
      principal_id: uuid("1 + i % 5000"),
      signal_id: uuid("1 + i"),
      shard: "3",
    }),
    // A client that has named 10 000 devices, and 20 000 that are quiet.
    rowsOf("opwright_cursors", 10_000, {
      tenant_id: `'t'`,
      principal_id: uuid("1"),
      device: isSqlite ? `'d' || i` : `'d' || i::text`,
      position: "1",
      seen_at: String(old),
      check_at: String(old),
    }),
    rowsOf("opwright_cursors", 20_000, {
      tenant_id: `'t'`,
      principal_id: uuid("1 + i % 5000"),
      device: isSqlite ? `'q' || i` : `'q' || i::text`,
      position: "10",
      seen_at: String(old),
      check_at: `${now} + i`,
    }),
    // Half of the projects are deleted, some for long; a thousand of them have twenty revisions.
    rowsOf("projects", 20_000, {
      tenant_id: `'t'`,
      id: uuid("i"),
      rev: "20",
      created_at: isSqlite
        ? `'2026-01-01T00:00:00.000Z'`
        : `'2026-01-01T00:00:00.000Z'::timestamptz`,
      last_update_at: isSqlite
        ? `CASE WHEN i % 4 = 0 THEN '2026-01-02T00:00:00.000Z' ELSE '2026-12-01T00:00:00.000Z' END`
        : `(CASE WHEN i % 4 = 0 THEN '2026-01-02T00:00:00.000Z' ELSE '2026-12-01T00:00:00.000Z' END)::timestamptz`,
      is_deleted: "(i % 2 = 0)",
      body: isSqlite ? `'{}'` : `'{}'::jsonb`,
    }),
    rowsOf("projects_history", 20_000, {
      tenant_id: `'t'`,
      id: uuid("1 + i % 1000"),
      rev: "1 + (i - 1) / 1000",
      body: isSqlite ? `'{}'` : `'{}'::jsonb`,
    }),
    rowsOf("opwright_outbox", 200_000, {
      id: uuid("i"),
      name: `'told'`,
      payload: `'sealed'`,
      tenant_id: `'t'`,
      created_at: String(old),
      due_at: String(old),
      attempts: "10",
      dead_at: `${old} + i`,
    }),
    rowsOf("opwright_outbox", 10, {
      id: uuid("i + 300000"),
      name: `'told'`,
      payload: `'sealed'`,
      tenant_id: `'t'`,
      created_at: `${now} - i`,
      due_at: `${now} - i`,
      attempts: "0",
      dead_at: nothing,
    }),
    rowsOf("opwright_objects", 100_000, {
      key: isSqlite ? `'files/t/a' || printf('%06d', i)` : `'files/t/a' || lpad(i::text, 6, '0')`,
      size: "1",
      content_type: `'text/plain'`,
      etag: `'e'`,
      modified_at: String(now),
      filename: `'f'`,
      tags: isSqlite
        ? `char(10) || 'stage' || char(9) || 'draft' || char(10)`
        : `E'\\nstage\\tdraft\\n'`,
    }),
    rowsOf("opwright_object_marks", 20_000, {
      key: isSqlite ? `'files/t/b' || i` : `'files/t/b' || i::text`,
      change: `'c'`,
    }),
    rowsOf("opwright_object_changes", 20_000, {
      key: isSqlite ? `'files/t/b' || i` : `'files/t/b' || i::text`,
      id: `'expected'`,
      begun_at: String(old),
      due_at: `CASE WHEN i % 2 = 0 THEN ${old} + i ELSE ${now} + i END`,
      until: String(now + day),
    }),
    rowsOf("opwright_idempotency", 20_000, {
      scope: isSqlite ? `'s' || i` : `'s' || i::text`,
      fingerprint: `'f'`,
      status: "200",
      expires_at: half(old, now + day),
    }),
    rowsOf("opwright_sessions", 20_000, {
      id: uuid("i"),
      principal_id: uuid("i % 5000"),
      created_at: String(old),
      ended_at: half(old, 0).replace("ELSE 0", "ELSE NULL"),
    }),
    rowsOf("opwright_refresh_tokens", 40_000, {
      digest: isSqlite ? `'r' || i` : `'r' || i::text`,
      session_id: uuid("1 + i % 20000"),
      expires_at: half(old, now + day),
      used_at: nothing,
    }),
    rowsOf("opwright_reset_tokens", 20_000, {
      principal_id: uuid("i"),
      digest: isSqlite ? `'z' || i` : `'z' || i::text`,
      expires_at: half(old, now + day),
    }),
    rowsOf("opwright_sign_ups", 20_000, {
      login: isSqlite ? `'l' || i` : `'l' || i::text`,
      password_hash: `'h'`,
      profile: `'{}'`,
      digest: isSqlite ? `'z' || i` : `'z' || i::text`,
      expires_at: half(old, now + day),
    }),
    rowsOf("opwright_api_keys", 20_000, {
      id: uuid("i"),
      principal_id: uuid("i % 5000"),
      digest: isSqlite ? `'k' || i` : `'k' || i::text`,
      prefix: `'p'`,
      hint: `'h'`,
      created_at: String(old),
      expires_at: half(old, now + day),
      ended_at: `CASE WHEN i % 7 = 0 THEN ${old} END`,
    }),
  ];
}

/** The lines of a plan that read a table from end to end. */
function scansOf(plan: string): readonly string[] {
  return plan
    .split("\n")
    .filter(
      (line) =>
        /Seq Scan on (?:opwright_|projects)/.test(line) ||
        (line.startsWith("SCAN ") &&
          !/ USING |VIRTUAL TABLE|^SCAN (?:w|o|c|opwright_(?:page|count)|CONSTANT ROW|\(subquery)/.test(
            line,
          )),
    );
}
