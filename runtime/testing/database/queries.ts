// Queries: filters, sorts, pages and cursors, alike on every engine.
import assert from "node:assert/strict";
import { type DocumentQuery, type Window, documentStore } from "../../ports/documents.js";
import type { Database } from "../../ports/database.js";
import { everything, type Filter, type SortKey } from "../../query/ast.js";
import type { TestApi } from "../test-api.js";
import {
  all,
  things,
  makeStored,
  firstPage,
  field,
  byId,
  write,
  type Thing,
  withDatabaseOf,
  type ContractHarness,
} from "./things.js";

/** Declares these cases of the database's contract. */
export function describeQueries({ describe, test }: TestApi, harness: ContractHarness): void {
  const withDatabase = withDatabaseOf(harness);

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
        for (const row of rows) await store.insert(things, tenant, makeStored(row));
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
          for (const size of sizes) await store.insert(things, tenant, makeStored({ size }));
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
          await store.insert(things, tenant, makeStored({}, { body }));
          await store.insert(
            things,
            tenant,
            makeStored({}, { body: JSON.stringify({ tags: [] }) }),
          );
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
}
