// How far running numbers have been given away, as lines: numbers of documents that are gone are
// not given again.
import { importing, refuseLine, type DataSet } from "../../operations/data-set.js";
import type { ServiceAtWork } from "../../operations/family.js";
import { counterStore, type Counter } from "../../ports/counters.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import { membersOf } from "../../query/list-request.js";
import { numbersOf, tenantOf } from "./data-lines.js";
import { counterName } from "./numbers.js";

/** There have to be numbers left. */
const largest = 9_000_000_000_000_000;

/** A line of a counter. */
type CounterLine = Counter & { readonly last: number };

/** The counters of a type. */
export function numberSet(spec: AnyDocumentSpec, service: ServiceAtWork): DataSet<CounterLine> {
  const rules = spec.numbers ?? [];
  return {
    name: numbersOf(spec),
    async *lines() {
      for (const rule of rules) {
        const counters = await service.database.reader
          .of(counterStore)
          .list(counterName(spec, rule));
        const lines = counters.map(({ tenant, key, last }) =>
          JSON.stringify({
            ...(spec.tenant ? { tenant_id: tenant } : {}),
            field: rule.member,
            ...(key === "" ? {} : { per: key }),
            last,
          }),
        );
        yield* lines.toSorted();
      }
    },
    read(value, naming) {
      const line = membersOf(value, "", ["tenant_id", "field", "per", "last"]);
      const { field, per = "", last } = line;
      const rule = rules.find(({ member }) => member === field);
      if (rule === undefined) return refuseLine("/field", "enum", "must be a field with numbers");
      if (typeof per !== "string") return refuseLine("/per", "type", "must be string");
      if (!Number.isSafeInteger(last) || Math.abs(Number(last)) > largest)
        return refuseLine("/last", "type", `must be an integer up to ${largest}`);
      const tenant = tenantOf(spec, line["tenant_id"], naming);
      return { name: counterName(spec, rule), tenant, key: per, last: Number(last) };
    },
    async add(lines) {
      return service.write(importing, async ({ transaction }) => {
        const store = transaction.of(counterStore);
        let raised = 0;
        for (const { last, ...counter } of lines) {
          const next = await store.take(counter, 0, 1);
          if (next > last) continue;
          await store.take(counter, 0, last + 1);
          raised += 1;
        }
        return raised;
      });
    },
  };
}
