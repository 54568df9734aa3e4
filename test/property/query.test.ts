// Both engines answer what the reference evaluator says, order included, for random documents, filters, sorts, pages
// and cursors. A case that fails prints how to run it again; `npm run test:long` tries others, and more of them.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { documents } from "../../runtime/families/documents/operations.js";
import type { ExecutionContext } from "../../runtime/operations/context.js";
import { outputValue } from "../../runtime/operations/json-text.js";
import { uuidv7 } from "../../runtime/ports/uuid.js";
import { parseCursorRequest, parsePageRequest } from "../../runtime/query/list-request.js";
import { engines } from "../support/engines.js";
import { select } from "./evaluator.js";
import {
  body,
  deepFilter,
  filter,
  openThings,
  sorts,
  things,
  type Row,
  type Things,
} from "./things.js";

const runs = Number(process.env["OPWRIGHT_QUERY_RUNS"] ?? 1_000);
const firstSeed = Number(process.env["OPWRIGHT_TEST_SEED"] ?? 1);

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let opened: Things;
    beforeAll(async () => {
      opened = await openThings(engine);
    });
    afterAll(() => opened.close());

    const idsOf = (hits: readonly unknown[]): readonly string[] =>
      hits.map((hit) => (hit as Row).id);
    const rules = { fields: things.fieldSet, mayListDeleted: true, isRaw: false };

    const page = async (context: ExecutionContext, request: object) => {
      const answer = await documents.list(things)(parsePageRequest(request, rules), context);
      return outputValue(answer);
    };
    const walk = async (context: ExecutionContext, request: object) => {
      const forward: string[] = [];
      let after: string | null = null;
      let last: string | null = null;
      do {
        const asked = parseCursorRequest(
          { ...request, ...(after === null ? {} : { after }) },
          rules,
        );
        const answer = outputValue(await documents.listCursor(things)(asked, context));
        forward.push(...idsOf(answer.hits));
        last = answer.prev_cursor;
        after = answer.next_cursor;
      } while (after !== null);
      // Back again from the last page to the first row.
      const backward: string[] = [];
      for (let before = last; before !== null;) {
        const answer = outputValue(
          await documents.listCursor(things)(
            parseCursorRequest({ ...request, before }, rules),
            context,
          ),
        );
        backward.unshift(...idsOf(answer.hits));
        before = answer.prev_cursor;
      }
      return { forward, backward };
    };

    test(`${runs} random queries over random rows`, async () => {
      const perSet = 250;
      for (let set = 0; set * perSet < runs; set += 1) {
        const [bodies] = fc.sample(fc.array(body, { minLength: 40, maxLength: 40 }), {
          numRuns: 1,
          seed: firstSeed + set,
        });
        const tenant = uuidv7();
        const rows = await opened.store(tenant, bodies ?? []);
        const context = opened.connection.context("things.list", tenant);
        const query = fc.record({
          filter: fc.oneof({ weight: 9, arbitrary: filter }, { weight: 1, arbitrary: deepFilter }),
          sorts,
          size: fc.constantFrom(3, 7, 100),
          byCursor: fc.integer({ min: 0, max: 9 }),
        });
        await fc.assert(
          fc.asyncProperty(query, async ({ filter: filters, sorts: order_, size, byCursor }) => {
            const expected = idsOf(select(rows, filters, order_));
            const request = { filters, sorts: order_, with_deleted: true };
            if (byCursor === 0) {
              const { forward, backward } = await walk(context, { ...request, size });
              expect(forward).toEqual(expected);
              const lastPage = expected.length % size === 0 ? size : expected.length % size;
              expect(backward).toEqual(expected.slice(0, Math.max(0, expected.length - lastPage)));
              return;
            }
            const first = await page(context, { ...request, size });
            expect([idsOf(first.hits), first.count]).toEqual([
              expected.slice(0, size),
              expected.length,
            ]);
          }),
          { numRuns: Math.min(perSet, runs - set * perSet), seed: firstSeed + set },
        );
      }
    }, 600_000);
  });
}
