// Idempotency records and exclusive names.
import assert from "node:assert/strict";
import { documents } from "../../families/documents/operations.js";
import { ExecutionContext } from "../../operations/context.js";
import { json } from "../../operations/input.js";
import { outputValue } from "../../operations/json-text.js";
import { Lifetime } from "../../ports/lifetime.js";
import { operation } from "../../operations/operation.js";
import { invoke } from "../../operations/pipeline.js";
import { uuidv7 } from "../../ports/uuid.js";
import { documentStore } from "../../ports/documents.js";
import type { TestApi } from "../test-api.js";
import {
  things,
  contextOf,
  all,
  write,
  acceptAnything,
  codeOf,
  type Thing,
  withDatabaseOf,
  type ContractHarness,
} from "./things.js";

/** Declares these cases of the database's contract. */
export function describeIdempotency({ describe, test }: TestApi, harness: ContractHarness): void {
  const withDatabase = withDatabaseOf(harness);

  describe("idempotency", () => {
    test("of 50 parallel requests with one key one runs; the rest replay it or are told to wait", () =>
      withDatabase(async (database, tenant) => {
        let runs = 0;
        const create = operation({
          operationId: "things.create",
          input: json(acceptAnything<Partial<Thing>>()),
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
