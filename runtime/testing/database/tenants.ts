// Tenants: another tenant's rows do not exist, for any method.
import assert from "node:assert/strict";
import { type StoredDocument, documentStore } from "../../ports/documents.js";
import { uuidv7 } from "../../ports/uuid.js";
import { historyStore } from "../../ports/document-history.js";
import type { TestApi } from "../test-api.js";
import {
  things,
  makeStored,
  all,
  firstPage,
  byId,
  write,
  withDatabaseOf,
  type ContractHarness,
} from "./things.js";

/** Declares these cases of the database's contract. */
export function describeTenants({ describe, test }: TestApi, harness: ContractHarness): void {
  const withDatabase = withDatabaseOf(harness);

  describe("tenants", () => {
    test("another tenant's rows do not exist, for any method", () =>
      withDatabase(async (database, tenant) => {
        const other = uuidv7();
        const document = makeStored({ name: "mine" });
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
        const documents = ["a", "b", "c"].map((name) => makeStored({ name }));
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
        const document = makeStored({ name: "mine" });
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
        const document = makeStored({ name: "mine" }, { changedBy: "somebody" });
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
}
