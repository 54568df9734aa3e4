// The contract of the database port: what every SQL engine must pass (architecture.md, idea 3).
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { ServiceError } from "../contract/errors.js";
import type { Validator } from "../contract/validation.js";
import type { DocumentQuery, StoredDocument, Window } from "../ports/documents.js";
import { documents } from "../families/documents/operations.js";
import { document } from "../ports/document-spec.js";
import type { MigrationTarget } from "../engines/sql/migrations.js";
import { AnswerBudget } from "../operations/answer-budget.js";
import { ExecutionContext } from "../operations/context.js";
import type { Database, Transaction } from "../ports/database.js";
import { json, paramsWith, path, revision } from "../operations/input.js";
import { outputValue } from "../operations/json-text.js";
import { systemClock } from "../ports/clock.js";
import { silentObserver } from "../ports/observer.js";
import { Lifetime } from "../ports/lifetime.js";
import { silentLog } from "../ports/log.js";
import { operation } from "../operations/operation.js";
import { invoke } from "../operations/pipeline.js";
import { memoryRateLimiter } from "../engines/memory/rate-limiter.js";
import { nothingKept } from "../operations/kept-values.js";
import { aesSealer } from "../operations/sealer.js";
import { hmacSigner } from "../operations/hmac-signer.js";
import { uuidv7 } from "../ports/uuid.js";
import { everything, type Filter, type SortKey } from "../query/ast.js";
import { historyStore } from "../ports/document-history.js";
import { documentStore } from "../ports/documents.js";
import { monotonicMillis, sleep } from "../ports/ambient.js";

/** The functions of a test runner that the suites need. */
export interface TestApi {
  describe(name: string, body: () => void): void;
  test(name: string, body: () => Promise<void>): void;
}

export interface ContractHarness {
  /** Opens a database in which `prepareContractTables` has run. It may be shared by all cases. */
  open(): Promise<Database>;
}

interface Thing {
  readonly name: string | null;
  readonly size: number | null;
  readonly flag: boolean | null;
  readonly at: string | null;
}

const things = document<Thing, Partial<Thing>, Partial<Thing>>({
  name: "things",
  table: "contract_things",
  tenant: true,
  softDelete: true,
  listDeleted: true,
  history: 3,
  defaults: { name: null, size: null, flag: null, at: null },
  nullable: ["name", "size", "flag", "at"],
  canonical: { at: "date-time" },
  shape: { members: null, steps: [] },
  fields: { name: "string", size: "number", flag: "boolean", at: "date-time" },
});

/** The same table without merging: stale revisions are refused. */
const strictThings = document<Thing, Partial<Thing>, Partial<Thing>>({ ...things, history: 0 });

/** Creates the tables that the suite works on. */
export async function prepareContractTables(target: MigrationTarget): Promise<void> {
  const isSqlite = target.engine === "sqlite";
  const [uuid, time, flag, body] = isSqlite
    ? ["TEXT", "TEXT", "INTEGER", "TEXT"]
    : ["uuid", "timestamptz(3)", "boolean", "jsonb"];
  await target.migrate(({ transaction }) =>
    transaction(async ({ exec }) => {
      await exec(`
      CREATE TABLE "contract_things" (
        "tenant_id" TEXT NOT NULL, "id" ${uuid} NOT NULL, "rev" INTEGER NOT NULL, "created_at" ${time} NOT NULL,
        "last_update_at" ${time} NOT NULL, "is_deleted" ${flag} NOT NULL, "owner_id" TEXT,
        "shape" INTEGER NOT NULL DEFAULT 1, "body" ${body} NOT NULL,
        PRIMARY KEY ("tenant_id", "id"));
      CREATE TABLE "contract_things_history" (
        "tenant_id" TEXT NOT NULL, "id" ${uuid} NOT NULL, "rev" INTEGER NOT NULL,
        "shape" INTEGER NOT NULL DEFAULT 1, "body" ${body} NOT NULL,
        "changed_at" ${time}, "changed_by" TEXT, "is_deleted" ${flag},
        PRIMARY KEY ("tenant_id", "id", "rev"));
      CREATE TABLE IF NOT EXISTS "opwright_idempotency" (
        "scope" TEXT PRIMARY KEY, "fingerprint" TEXT NOT NULL, "status" INTEGER NOT NULL, "body" TEXT, "shape" TEXT, "etag" TEXT,
        "expires_at" BIGINT NOT NULL);`);
    }),
  );
}

const signer = hmacSigner([Buffer.alloc(32, 7)]);
const limiter = memoryRateLimiter();

function contextOf(
  database: Database,
  fields: { readonly tenant: string; readonly key?: string; readonly lifetime?: Lifetime },
): ExecutionContext {
  return new ExecutionContext(
    {
      clock: systemClock,
      database,
      log: silentLog,
      signer,
      kept: nothingKept,
      sealer: aesSealer([Buffer.alloc(32, 9)], "outbox"),
      limiter,
      publicUrl: () => "http://localhost",
      of: ({ name }) => {
        throw new Error(`no ${name} here`);
      },
      deadlineSeconds: 30,
      queryBudgets: { callers: null, anonymous: null },
      answers: new AnswerBudget(1024 ** 3),
      readLimits: { documents: null, pages: null },
      wake: () => undefined,
      familySettings: {},
      staged: async () => undefined,
      departed: async () => undefined,
      observer: silentObserver,
      signals: {
        wake: () => undefined,
        credentialsEnded: () => undefined,
        publish: () => undefined,
      },
    },
    {
      operationId: "things.test",
      metadata: { requestId: "r", correlationId: "r", causationId: "r", traceparent: undefined },
      tenant: fields.tenant,
      idempotencyKey: fields.key,
      lifetime: fields.lifetime ?? Lifetime.unlimited(),
    },
  );
}

function stored(body: Partial<Thing>, fields: Partial<StoredDocument> = {}): StoredDocument {
  const now = new Date().toISOString();
  return {
    id: uuidv7(),
    rev: 1,
    createdAt: now,
    lastUpdateAt: now,
    isDeleted: false,
    ownerId: null,
    body: JSON.stringify(body),
    ...fields,
  };
}

const all: DocumentQuery = { filter: everything, sorts: [], withDeleted: false };
const firstPage: Window = { limit: 100, offset: 0, after: undefined };

const field = (name: keyof Thing) => ({
  path: name,
  type: things.fields[name] ?? "string",
  isColumn: false,
});
const id = { path: "id", type: "uuid", isColumn: true } as const;
const byId: SortKey = { field: id, direction: "asc", nulls: "first" };

/** Declares the suite with the functions of a test runner. */
export function databaseContract({ describe, test }: TestApi, harness: ContractHarness): void {
  /** Each case has its own tenant, so that cases don't affect each other. */
  const withDatabase = async (
    body: (database: Database, tenant: string) => Promise<void>,
  ): Promise<void> => {
    const database = await harness.open();
    try {
      await body(database, uuidv7());
    } finally {
      await database.close();
    }
  };
  const write = <T>(
    database: Database,
    work: (transaction: Transaction) => Promise<T>,
  ): Promise<T> => database.write({ lifetime: Lifetime.unlimited() }, work);

  describe("documents", () => {
    test("what is inserted is read back, to the letter", () =>
      withDatabase(async (database, tenant) => {
        const document = stored({ name: "Zoë 😀 \u2028 'quoted' \"x\" \\ %_", size: 0.1 });
        await write(database, (transaction) =>
          transaction.of(documentStore).insert(things, tenant, document),
        );
        const found = await database.reader.of(documentStore).get(things, tenant, document.id);
        assert.deepEqual(
          { ...found, body: JSON.parse(found?.body ?? "null") as unknown },
          { ...document, body: JSON.parse(document.body) as unknown },
        );
      }));

    test("rows of an older shape are brought up where they are read, and stored anew in portions", () =>
      withDatabase(async (database, tenant) => {
        const now = document<Thing>({
          ...things,
          shape: { members: null, steps: [{ adds: { size: 7 }, drops: ["flag"] }] },
        });
        const documents = Array.from({ length: 5 }, (_, at) =>
          stored({ name: `n${at}`, flag: true }),
        );
        await write(database, async (transaction) => {
          const store = transaction.of(documentStore);
          for (const one of documents) await store.insert(things, tenant, one);
          await store.insert(now, tenant, stored({ name: "new", size: 1 }));
        });
        const bodies = async (): Promise<readonly unknown[]> => {
          const rows = await database.reader
            .of(documentStore)
            .select(now, tenant, { ...all, sorts: [byId] }, firstPage);
          return rows.map(({ rev, body }) => [rev, JSON.parse(body) as unknown]);
        };
        const { flag: _flag, ...kept } = JSON.parse(documents[0]?.body ?? "{}") as Thing;
        const first = (await bodies())[0];
        assert.deepEqual(first, [1, { ...kept, size: 7 }]);
        const before = await bodies();

        const counted: number[] = [];
        const walk = async (): Promise<number> => {
          let renewed = 0;
          for (let after: readonly (string | number)[] | null = []; after !== null;) {
            const from: readonly (string | number)[] = after;
            const step = await write(database, (transaction) =>
              transaction.of(documentStore).renew(now, from, 2),
            );
            renewed += step.renewed;
            after = step.next;
          }
          return renewed;
        };
        counted.push(await walk(), await walk());
        assert.ok((counted[0] ?? 0) >= documents.length);
        assert.equal(counted[1], 0);
        assert.deepEqual(await bodies(), before);
      }));

    test("a replacement at a stale revision changes nothing", () =>
      withDatabase(async (database, tenant) => {
        const document = stored({ name: "a" });
        await write(database, (transaction) =>
          transaction.of(documentStore).insert(things, tenant, document),
        );
        const next = { ...document, rev: 2, body: `{"name":"b"}` };
        assert.equal(
          await write(database, (tx) => tx.of(documentStore).replace(things, tenant, 1, next)),
          true,
        );
        assert.equal(
          await write(database, (tx) => tx.of(documentStore).replace(things, tenant, 1, next)),
          false,
        );
        assert.equal(
          (await database.reader.of(documentStore).get(things, tenant, document.id))?.rev,
          2,
        );
      }));

    test("of 50 parallel updates of one revision exactly one wins", () =>
      withDatabase(async (database, tenant) => {
        const document = stored({ size: 0 });
        await write(database, (transaction) =>
          transaction.of(documentStore).insert(strictThings, tenant, document),
        );
        const update = operation({
          operationId: "things.update",
          input: paramsWith(
            { id: path.uuid, rev: revision.required },
            "patch",
            anything<Partial<Thing>>(),
          ),
          transaction: "write",
          run: documents.update(strictThings),
        });
        const outcomes = await Promise.allSettled(
          Array.from({ length: 50 }, (_, index) =>
            invoke(
              update,
              { id: document.id, rev: 1, patch: { size: index + 1 } },
              contextOf(database, { tenant }),
            ),
          ),
        );
        const won = outcomes.filter(({ status }) => status === "fulfilled");
        const refused = outcomes.filter(
          (outcome) =>
            outcome.status === "rejected" && codeOf(outcome.reason) === "revision_mismatch",
        );
        assert.deepEqual([won.length, refused.length], [1, 49]);
        assert.equal(
          (await database.reader.of(documentStore).get(things, tenant, document.id))?.rev,
          2,
        );
      }));

    test("snapshots are kept up to the limit and go with their document", () =>
      withDatabase(async (database, tenant) => {
        const first = stored({ size: 1 });
        await write(database, (transaction) =>
          transaction.of(documentStore).insert(things, tenant, first),
        );
        for (let rev = 2; rev <= 5; rev += 1) {
          const next = { ...first, rev, body: `{"size":${rev}}` };
          await write(database, (transaction) =>
            transaction.of(documentStore).replace(things, tenant, rev - 1, next),
          );
        }
        const snapshots = await Promise.all(
          [1, 2, 3, 4, 5].map((rev) =>
            database.reader.of(documentStore).snapshot(things, tenant, first.id, rev),
          ),
        );
        assert.deepEqual(
          snapshots.map((text) => (text === null ? null : (JSON.parse(text) as unknown))),
          [null, null, { size: 3 }, { size: 4 }, { size: 5 }],
        );
        assert.equal(
          await write(database, (tx) => tx.of(documentStore).remove(things, tenant, first.id, 4)),
          false,
        );
        assert.equal(
          await write(database, (tx) => tx.of(documentStore).remove(things, tenant, first.id, 5)),
          true,
        );
        assert.equal(
          await database.reader.of(documentStore).snapshot(things, tenant, first.id, 5),
          null,
        );
      }));

    test("deleted rows are hidden unless they are asked for", () =>
      withDatabase(async (database, tenant) => {
        await write(database, async (transaction) => {
          const store = transaction.of(documentStore);
          await store.insert(things, tenant, stored({ name: "live" }));
          await store.insert(things, tenant, stored({ name: "gone" }, { isDeleted: true }));
        });
        const store = database.reader.of(documentStore);
        assert.equal(await store.count(things, tenant, all), 1);
        assert.equal(await store.count(things, tenant, { ...all, withDeleted: true }), 2);
      }));
  });

  describe("tenants", () => {
    test("another tenant's rows do not exist, for any method", () =>
      withDatabase(async (database, tenant) => {
        const other = uuidv7();
        const document = stored({ name: "mine" });
        await write(database, (transaction) =>
          transaction.of(documentStore).insert(things, tenant, document),
        );
        const store = database.reader.of(documentStore);
        assert.equal(await store.get(things, other, document.id), null);
        assert.equal(await store.count(things, other, all), 0);
        assert.deepEqual(
          await store.select(things, other, { ...all, sorts: [byId] }, firstPage),
          [],
        );
        assert.equal(await store.snapshot(things, other, document.id, 1), null);
        const next = { ...document, rev: 2 };
        assert.equal(
          await write(database, (tx) => tx.of(documentStore).replace(things, other, 1, next)),
          false,
        );
        assert.equal(
          await write(database, (tx) => tx.of(documentStore).remove(things, other, document.id, 1)),
          false,
        );
        assert.equal((await store.get(things, tenant, document.id))?.rev, 1);
      }));

    test("many are written together, as one by one, with their snapshots", () =>
      withDatabase(async (database, tenant) => {
        const documents = ["a", "b", "c"].map((name) => stored({ name }));
        const [a, b, c] = documents;
        assert(a !== undefined && b !== undefined && c !== undefined);
        const next = (document: StoredDocument): StoredDocument => ({ ...document, rev: 2 });
        await write(database, async (transaction) => {
          const store = transaction.of(documentStore);
          await store.insertMany(things, tenant, documents);
          assert.deepEqual(await store.holdMany(things, tenant, [a.id, uuidv7()]), new Set([a.id]));
          const changes = [
            { expectedRev: 1, document: next(a) },
            { expectedRev: 7, document: next(b) },
          ];
          assert.deepEqual(await store.replaceMany(things, tenant, changes), new Set([a.id]));
          const gone = [
            { id: b.id, expectedRev: 1 },
            { id: c.id, expectedRev: 2 },
          ];
          assert.deepEqual(await store.removeMany(things, tenant, gone), new Set([b.id]));
        });
        const store = database.reader.of(documentStore);
        assert.equal((await store.get(things, tenant, a.id))?.rev, 2);
        assert.notEqual(await store.snapshot(things, tenant, a.id, 1), null);
        assert.equal(await store.get(things, tenant, b.id), null);
        assert.equal(await store.snapshot(things, tenant, b.id, 1), null);
        const ids = documents.map(({ id }) => id);
        const asked = { spec: things, ids, filter: all.filter };
        const [named] = await store.named([asked], tenant, 1_000_000);
        assert.deepEqual(named?.map(({ id }) => id).sort(), [a.id, c.id].sort());
        // The row that exceeds the bytes is still returned, and those after it are left out.
        assert.equal((await store.named([asked], tenant, 1))[0]?.length, 1);
      }));

    test("another tenant's rows do not exist for what names or writes many", () =>
      withDatabase(async (database, tenant) => {
        const other = uuidv7();
        const document = stored({ name: "mine" });
        const { id } = document;
        await write(database, async (transaction) => {
          const store = transaction.of(documentStore);
          await store.insertMany(things, tenant, [document]);
          const change = { expectedRev: 1, document: { ...document, rev: 2 } };
          const asked = { spec: things, ids: [id], filter: all.filter };
          assert.deepEqual(await store.named([asked], other, 1_000_000), [[]]);
          assert.deepEqual(await store.holdMany(things, other, [id]), new Set());
          assert.deepEqual(await store.replaceMany(things, other, [change]), new Set());
          assert.deepEqual(
            await store.removeMany(things, other, [{ id, expectedRev: 1 }]),
            new Set(),
          );
        });
        assert.equal((await database.reader.of(documentStore).get(things, tenant, id))?.rev, 1);
      }));

    test("another tenant's revisions do not exist, and those of a document say when and by whom", () =>
      withDatabase(async (database, tenant) => {
        const document = stored({ name: "mine" }, { changedBy: "somebody" });
        await write(database, (transaction) =>
          transaction.of(documentStore).insert(things, tenant, document),
        );
        const history = database.reader.of(historyStore);
        const { id, lastUpdateAt: changedAt } = document;
        assert.deepEqual(await history.revisions(things, tenant, id, null, 10), [
          { rev: 1, changedAt, changedBy: "somebody", isDeleted: false },
        ]);
        assert.deepEqual(await history.revisions(things, tenant, id, 1, 10), []);
        assert.equal((await history.revision(things, tenant, id, 1))?.changedBy, "somebody");
        assert.equal(await history.revision(things, tenant, id, 2), null);
        const other = uuidv7();
        assert.deepEqual(await history.revisions(things, other, id, null, 10), []);
        assert.equal(await history.revision(things, other, id, 1), null);
      }));
  });

  describe("queries", () => {
    const rows: readonly Partial<Thing>[] = [
      { name: "b", size: 2, flag: true, at: "2026-01-01T00:00:00.000Z" },
      { name: "a", size: 10, flag: false, at: "2025-01-01T00:00:00.000Z" },
      { name: "ä", size: null, flag: null, at: null },
      { name: null, size: -1.5, flag: true, at: "2026-01-01T00:00:00.001Z" },
      { name: "B", size: 2, flag: false, at: "1999-12-31T23:59:59.999Z" },
    ];
    const fill = async (database: Database, tenant: string): Promise<void> => {
      await write(database, async (transaction) => {
        const store = transaction.of(documentStore);
        for (const row of rows) await store.insert(things, tenant, stored(row));
      });
    };
    const names = async (
      database: Database,
      tenant: string,
      query: DocumentQuery,
      window = firstPage,
    ) => {
      const found = await database.reader.of(documentStore).select(things, tenant, query, window);
      return found.map(({ body }) => (JSON.parse(body) as Thing).name);
    };

    const filters: readonly (readonly [string, Filter, readonly (string | null)[]])[] = [
      [
        "text equality",
        { kind: "compare", operator: "$eq", field: field("name"), value: "b" },
        ["b"],
      ],
      [
        "number equality",
        { kind: "compare", operator: "$eq", field: field("size"), value: 2 },
        ["b", "B"],
      ],
      [
        "boolean equality",
        { kind: "compare", operator: "$eq", field: field("flag"), value: true },
        ["b", null],
      ],
      [
        "date equality",
        { kind: "compare", operator: "$eq", field: field("at"), value: "2026-01-01T00:00:00.001Z" },
        [null],
      ],
      [
        "membership",
        { kind: "in", isNegated: false, field: field("name"), values: ["a", "B", "zz"] },
        ["a", "B"],
      ],
      [
        "number membership",
        { kind: "in", isNegated: false, field: field("size"), values: [10, -1.5] },
        ["a", null],
      ],
      ["empty membership", { kind: "in", isNegated: false, field: field("name"), values: [] }, []],
      ["null", { kind: "null", field: field("size"), isNull: true }, ["ä"]],
    ];
    for (const [what, filter, expected] of filters) {
      test(`${what} finds exactly its rows`, () =>
        withDatabase(async (database, tenant) => {
          await fill(database, tenant);
          const query = { filter, sorts: [byId], withDeleted: false };
          assert.deepEqual(await names(database, tenant, query), expected);
          assert.equal(
            await database.reader.of(documentStore).count(things, tenant, query),
            expected.length,
          );
        }));
    }

    test("numbers are found and walked to the last bit", () =>
      withDatabase(async (database, tenant) => {
        const sizes = [
          182.2506545083492, 0.1, 1e21, 123456789.12345679, 5e-324, -7.000000000000001,
        ];
        await write(database, async (transaction) => {
          const store = transaction.of(documentStore);
          for (const size of sizes) await store.insert(things, tenant, stored({ size }));
        });
        const sorts: readonly SortKey[] = [
          { field: field("size"), direction: "asc", nulls: "first" },
          byId,
        ];
        const store = database.reader.of(documentStore);
        for (const value of sizes) {
          const filter: Filter = { kind: "compare", operator: "$eq", field: field("size"), value };
          assert.equal(await store.count(things, tenant, { ...all, filter }), 1, String(value));
        }
        const walked: number[] = [];
        let after: Window["after"];
        while (walked.length <= sizes.length) {
          const [row] = await store.select(
            things,
            tenant,
            { ...all, sorts },
            { limit: 1, offset: 0, after },
          );
          if (row === undefined) break;
          const size = (JSON.parse(row.body) as Thing).size ?? 0;
          walked.push(size);
          after = [size, row.id];
        }
        assert.deepEqual(
          walked,
          [...sizes].sort((left, right) => left - right),
        );
      }));

    test("an array that is null counts as null", () =>
      withDatabase(async (database, tenant) => {
        await write(database, async (transaction) => {
          const store = transaction.of(documentStore);
          const body = JSON.stringify({ tags: null });
          await store.insert(things, tenant, stored({}, { body }));
          await store.insert(things, tenant, stored({}, { body: JSON.stringify({ tags: [] }) }));
        });
        const tags = { path: "tags", type: "string[]", isColumn: false } as const;
        const filter: Filter = { kind: "null", field: tags, isNull: true };
        assert.equal(
          await database.reader.of(documentStore).count(things, tenant, { ...all, filter }),
          1,
        );
      }));

    const sorts: readonly (readonly [string, SortKey, readonly (string | null)[]])[] = [
      [
        "text ascends by code point",
        { field: field("name"), direction: "asc", nulls: "first" },
        [null, "B", "a", "b", "ä"],
      ],
      [
        "text descends",
        { field: field("name"), direction: "desc", nulls: "last" },
        ["ä", "b", "a", "B", null],
      ],
      [
        "numbers ascend, nulls last",
        { field: field("size"), direction: "asc", nulls: "last" },
        [null, "b", "B", "a", "ä"],
      ],
      [
        "booleans descend, nulls first",
        { field: field("flag"), direction: "desc", nulls: "first" },
        ["ä", "b", null, "a", "B"],
      ],
      [
        "dates ascend",
        { field: field("at"), direction: "asc", nulls: "first" },
        ["ä", "B", "a", "b", null],
      ],
    ];
    for (const [what, sort, expected] of sorts) {
      test(`${what}, whole and page by page`, () =>
        withDatabase(async (database, tenant) => {
          await fill(database, tenant);
          const query = { filter: everything, sorts: [sort, byId], withDeleted: false };
          assert.deepEqual(await names(database, tenant, query), expected);
          const walked: (string | null)[] = [];
          let after: Window["after"];
          for (;;) {
            const [row] = await database.reader.of(documentStore).select(things, tenant, query, {
              limit: 1,
              offset: 0,
              after,
            });
            if (row === undefined) break;
            const body = JSON.parse(row.body) as Thing;
            walked.push(body.name);
            after = [body[sort.field.path as keyof Thing] ?? null, row.id];
          }
          assert.deepEqual(walked, expected);
        }));
    }
  });

  describe("transactions", () => {
    test("nothing commits where the work throws", () =>
      withDatabase(async (database, tenant) => {
        const document = stored({});
        await assert.rejects(
          write(database, async (transaction) => {
            const store = transaction.of(documentStore);
            await store.insert(things, tenant, document);
            throw new Error("no");
          }),
          /no/,
        );
        assert.equal(
          await database.reader.of(documentStore).get(things, tenant, document.id),
          null,
        );
      }));

    test("an attempt that throws undoes its own writes alone", () =>
      withDatabase(async (database, tenant) => {
        const [kept, undone] = [stored({}), stored({})];
        await write(database, async (transaction) => {
          await transaction.of(documentStore).insert(things, tenant, kept);
          await assert.rejects(
            transaction.attempt(async () => {
              await transaction.of(documentStore).insert(things, tenant, undone);
              throw new Error("no");
            }),
          );
        });
        assert.equal(await database.reader.of(documentStore).count(things, tenant, all), 1);
      }));

    test("an attempt undoes what was written before and within one that failed inside it", () =>
      withDatabase(async (database, tenant) => {
        const insert = (transaction: Transaction): Promise<void> =>
          transaction.of(documentStore).insert(things, tenant, stored({}));
        await write(database, async (transaction) => {
          await insert(transaction);
          const outer = transaction.attempt(async () => {
            await insert(transaction);
            await transaction.attempt(async () => {
              await insert(transaction);
              throw new Error("no");
            });
          });
          await assert.rejects(outer);
          await insert(transaction);
        });
        assert.equal(await database.reader.of(documentStore).count(things, tenant, all), 2);
      }));

    test("attempts within attempts keep what none of those around it has undone", () =>
      withDatabase(async (database, tenant) => {
        const expected = new Set<string>();
        for (let seed = 1; seed <= 40; seed += 1) {
          let state = seed;
          const draw = (below: number): number =>
            (state = (state * 48_271) % 2_147_483_647) % below;
          const inside = async (transaction: Transaction, depth: number): Promise<string[]> => {
            const kept: string[] = [];
            for (let step = draw(4); step > 0; step -= 1) {
              const store = transaction.of(documentStore);
              const kind = draw(3);
              if (kind === 0) await store.count(things, tenant, all);
              if (kind === 1) {
                const document = stored({});
                await store.insert(things, tenant, document);
                kept.push(document.id);
              }
              if (kind === 2 && depth < 4) {
                const fate = draw(3);
                const within = transaction.attempt(async () => {
                  const made = await inside(transaction, depth + 1);
                  if (fate === 1) throw new Error("no");
                  // The statement itself fails, after which PostgreSQL refuses all others up to the attempt's savepoint.
                  const [first] = made;
                  if (fate === 2 && first !== undefined)
                    await store.insert(things, tenant, { ...stored({}), id: first });
                  return made;
                });
                kept.push(...(await within.catch(() => [])));
              }
            }
            return kept;
          };
          for (const id of await write(database, (transaction) => inside(transaction, 0)))
            expected.add(id);
          const query = { ...all, sorts: [byId] };
          const found = await database.reader
            .of(documentStore)
            .select(things, tenant, query, { limit: 1_000, offset: 0, after: undefined });
          assert.deepEqual(new Set(found.map(({ id }) => id)), expected, `seed ${seed}`);
        }
      }));

    test("one faulty transaction does not harm those beside it", () =>
      withDatabase(async (database, tenant) => {
        const twice = stored({});
        const outcomes = await Promise.allSettled([
          write(database, (tx) => tx.of(documentStore).insert(things, tenant, twice)),
          ...Array.from({ length: 8 }, () =>
            write(database, (tx) => tx.of(documentStore).insert(things, tenant, stored({}))),
          ),
          write(database, (tx) => tx.of(documentStore).insert(things, tenant, twice)),
        ]);
        assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 9);
        assert.equal(await database.reader.of(documentStore).count(things, tenant, all), 9);
      }));

    test("work that ignores its deadline is refused and never commits", () =>
      withDatabase(async (database, tenant) => {
        const document = stored({});
        // Enough time for the work to begin, even on a busy machine.
        const lifetime = new Lifetime(monotonicMillis() + 500, { isGone: () => false });
        const late: Promise<unknown>[] = [];
        const refused = database.write({ lifetime }, async (transaction) => {
          const store = transaction.of(documentStore);
          await store.insert(things, tenant, document);
          await sleep(600);
          late.push(store.insert(things, tenant, stored({})));
          await late[0];
        });
        await assert.rejects(refused, (error) => codeOf(error) === "deadline_exceeded");
        while (late.length === 0) await sleep(10);
        await assert.rejects(Promise.all(late));
        assert.equal(await database.reader.of(documentStore).count(things, tenant, all), 0);
      }));

    test("nothing commits for a caller who has gone", () =>
      withDatabase(async (database, tenant) => {
        let gone = false;
        const lifetime = new Lifetime(Infinity, { isGone: () => gone });
        const refused = database.write({ lifetime }, async (transaction) => {
          const store = transaction.of(documentStore);
          await store.insert(things, tenant, stored({}));
          gone = true;
        });
        await assert.rejects(refused);
        assert.equal(await database.reader.of(documentStore).count(things, tenant, all), 0);
      }));

    test("a transaction whose statement failed does not commit, whatever its work returns", () =>
      withDatabase(async (database, tenant) => {
        const twice = stored({});
        const outcome = await Promise.allSettled([
          write(database, async (transaction) => {
            const store = transaction.of(documentStore);
            await store.insert(things, tenant, twice);
            await store.insert(things, tenant, twice).catch(() => undefined);
          }),
        ]);
        const found = await database.reader.of(documentStore).count(things, tenant, all);
        // An engine may commit the first row or refuse the whole transaction, but its outcome must say which.
        assert.equal(found, outcome[0]?.status === "fulfilled" ? 1 : 0);
      }));

    test("an attempt after the end of its transaction is refused and touches no other", () =>
      withDatabase(async (database, tenant) => {
        // Enough time for the work to begin, even on a busy machine.
        const lifetime = new Lifetime(monotonicMillis() + 500, { isGone: () => false });
        const late: Promise<unknown>[] = [];
        const overdue = database.write({ lifetime }, async (transaction) => {
          await sleep(560);
          const insert = (): Promise<void> =>
            transaction.of(documentStore).insert(things, tenant, stored({}));
          late.push(transaction.attempt(insert));
          await late[0];
        });
        await assert.rejects(overdue, (error) => codeOf(error) === "deadline_exceeded");
        const undone = write(database, (transaction) =>
          transaction.attempt(async () => {
            await transaction.of(documentStore).insert(things, tenant, stored({}));
            await sleep(500);
            throw new Error("no");
          }),
        );
        await assert.rejects(undone, /no/);
        while (late.length === 0) await sleep(10);
        await assert.rejects(Promise.all(late));
        assert.equal(await database.reader.of(documentStore).count(things, tenant, all), 0);
      }));

    test("an attempt that fails after the end of its transaction undoes nothing of the next one", () =>
      withDatabase(async (database, tenant) => {
        const [early, late] = [stored({}), stored({})];
        const events = new EventEmitter();
        const forgotten: Promise<unknown>[] = [];
        await write(database, async (transaction) => {
          const begun = once(events, "begun");
          const over = once(events, "over");
          const attempt = transaction.attempt(async () => {
            await transaction.of(documentStore).insert(things, tenant, early);
            events.emit("begun");
            await over;
            throw new Error("no");
          });
          forgotten.push(attempt.catch((error: unknown) => error));
          await begun;
        });
        await write(database, (transaction) =>
          transaction.attempt(async () => {
            await transaction.of(documentStore).insert(things, tenant, late);
            events.emit("over");
            await Promise.all(forgotten);
          }),
        );
        const found = await database.reader.of(documentStore).get(things, tenant, late.id);
        assert.equal(found?.id, late.id);
      }));

    test("a caller is told 504 only where nothing commits", () =>
      withDatabase(async (database, tenant) => {
        const create = operation({
          operationId: "things.create",
          input: json(anything<Partial<Thing>>()),
          transaction: "write",
          run: documents.create(things),
        });
        const lifetime = new Lifetime(monotonicMillis() + 60, { isGone: () => false });
        const quick = lifetime.race(invoke(create, {}, contextOf(database, { tenant, lifetime })));
        const slow = write(database, () => sleep(200));
        const [told] = await Promise.allSettled([quick, slow]);
        const found = await database.reader.of(documentStore).count(things, tenant, all);
        assert.equal(found, told?.status === "fulfilled" ? 1 : 0);
      }));

    test("the reader does not write", () =>
      withDatabase(async (database, tenant) => {
        await assert.rejects(database.reader.of(documentStore).insert(things, tenant, stored({})));
        assert.equal(await database.reader.of(documentStore).count(things, tenant, all), 0);
      }));

    test("closing waits for what runs", async () => {
      const database = await harness.open();
      const tenant = uuidv7();
      const running = write(database, async (transaction) => {
        const store = transaction.of(documentStore);
        await sleep(50);
        await store.insert(things, tenant, stored({}));
      });
      await sleep(5);
      await Promise.all([database.close(), running]);
    });
  });

  describe("idempotency", () => {
    test("of 50 parallel requests with one key one runs; the rest replay it or are told to wait", () =>
      withDatabase(async (database, tenant) => {
        let runs = 0;
        const create = operation({
          operationId: "things.create",
          input: json(anything<Partial<Thing>>()),
          transaction: "write",
          idempotencyKey: true,
          run: async (payload: Partial<Thing>, context: ExecutionContext) => {
            runs += 1;
            return documents.create(things)(payload, context);
          },
        });
        const send = () =>
          invoke(create, { name: "once" }, contextOf(database, { tenant, key: "k" }));
        const outcomes = await Promise.allSettled(Array.from({ length: 50 }, send));
        const refused = outcomes.filter((outcome) => outcome.status === "rejected");
        assert.deepEqual(
          refused
            .map(({ reason }) => codeOf(reason))
            .filter((code) => code !== "idempotency_in_flight"),
          [],
        );
        assert.equal(runs, 1);
        assert.equal(await database.reader.of(documentStore).count(things, tenant, all), 1);
        const again = await send();
        const ids = outcomes.flatMap((outcome) =>
          outcome.status === "fulfilled"
            ? [(outputValue(outcome.value.output) as { readonly id?: string }).id]
            : [],
        );
        assert.equal(again.replayed, true);
        assert.deepEqual(
          new Set(ids),
          new Set([(outputValue(again.output) as { readonly id?: string }).id]),
        );
      }));

    test("an exclusive name is refused while it is held and free afterwards", () =>
      withDatabase(async (database) => {
        const exclusive = uuidv7();
        const lifetime = Lifetime.unlimited();
        let release: (() => void) | undefined;
        const held = new Promise<void>((resolve) => (release = resolve));
        let began: (() => void) | undefined;
        const running = new Promise<void>((resolve) => (began = resolve));
        const first = database.write({ lifetime, exclusive }, async () => {
          began?.();
          await held;
        });
        await running;
        const second = database.write({ lifetime, exclusive }, async () => undefined);
        const refused = assert.rejects(
          second,
          (error) => codeOf(error) === "idempotency_in_flight",
        );
        await refused;
        release?.();
        await first;
        await database.write({ lifetime, exclusive }, async () => undefined);
      }));

    test("a record is found until it expires, and pruned afterwards", () =>
      withDatabase(async (database) => {
        const record = {
          scope: uuidv7(),
          fingerprint: "f",
          status: 200,
          body: `{"a":1}`,
          shape: "8e1f notes:3",
          etag: null,
          expiresAt: 1_000,
        };
        await write(database, ({ idempotency }) => idempotency.save(record));
        const { idempotency } = database.reader;
        assert.deepEqual(await idempotency.find(record.scope, 999), record);
        assert.equal(await idempotency.find(record.scope, 1_000), null);
        assert.ok((await write(database, (tx) => tx.idempotency.prune(1_000, 1_000))) >= 1);
        assert.equal(await idempotency.find(record.scope, 999), null);
      }));
  });
}

/** A validator that lets everything pass: the suite calls operations with sound input. */
function anything<T>(): Validator<T> {
  return () => null;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof ServiceError ? error.code : undefined;
}
