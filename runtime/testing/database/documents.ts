// Documents: inserts, replacements, snapshots, marked rows.
import assert from "node:assert/strict";
import { documents } from "../../families/documents/operations.js";
import { document } from "../../ports/document-spec.js";
import { paramsWith, path, revision } from "../../operations/input.js";
import { operation } from "../../operations/operation.js";
import { invoke } from "../../operations/pipeline.js";
import { documentStore } from "../../ports/documents.js";
import type { TestApi } from "../test-api.js";
import {
  things,
  strictThings,
  contextOf,
  makeStored,
  all,
  firstPage,
  byId,
  write,
  acceptAnything,
  codeOf,
  type Thing,
  withDatabaseOf,
  type ContractHarness,
} from "./things.js";

/** Declares these cases of the database's contract. */
export function describeDocuments({ describe, test }: TestApi, harness: ContractHarness): void {
  const withDatabase = withDatabaseOf(harness);

  describe("documents", () => {
    test("what is inserted is read back, to the letter", () =>
      withDatabase(async (database, tenant) => {
        const document = makeStored({ name: "Zoë 😀 \u2028 'quoted' \"x\" \\ %_", size: 0.1 });
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
        const now = document<{ document: Thing }>({
          ...things,
          shape: { members: null, steps: [{ adds: { size: 7 }, drops: ["flag"] }] },
        });
        const documents = Array.from({ length: 5 }, (_, at) =>
          makeStored({ name: `n${at}`, flag: true }),
        );
        await write(database, async (transaction) => {
          const store = transaction.of(documentStore);
          for (const one of documents) await store.insert(things, tenant, one);
          await store.insert(now, tenant, makeStored({ name: "new", size: 1 }));
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
              transaction
                .of(documentStore)
                .renew(now, from, 2, (work) => transaction.attempt(work)),
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
        const document = makeStored({ name: "a" });
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
        const document = makeStored({ size: 0 });
        await write(database, (transaction) =>
          transaction.of(documentStore).insert(strictThings, tenant, document),
        );
        const update = operation({
          operationId: "things.update",
          input: paramsWith(
            { id: path.uuid, rev: revision.required },
            "patch",
            acceptAnything<Partial<Thing>>(),
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
        const first = makeStored({ size: 1 });
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
          await store.insert(things, tenant, makeStored({ name: "live" }));
          await store.insert(things, tenant, makeStored({ name: "gone" }, { isDeleted: true }));
        });
        const store = database.reader.of(documentStore);
        assert.equal(await store.count(things, tenant, all), 1);
        assert.equal(await store.count(things, tenant, { ...all, withDeleted: true }), 2);
      }));
  });
}
