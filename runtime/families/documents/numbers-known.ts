// Counters of running numbers that go on behind numbers which documents bring along.
import type { NumberPart } from "../../contract/running-numbers.js";
import type { ExecutionContext } from "../../operations/context.js";
import { counterStore } from "../../ports/counters.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import type { StoredDocument } from "../../ports/documents.js";
import type { NumberRule } from "../../ports/number-rules.js";
import { valueAt } from "./field-value.js";
import { byKeys, counterName, keyOf } from "./numbers.js";

/** Has the counters of a type go on behind the numbers that these documents have. */
export async function raiseCounters(
  spec: AnyDocumentSpec,
  { tenant, transaction }: ExecutionContext,
  documents: readonly StoredDocument[],
): Promise<void> {
  for (const rule of spec.numbers ?? []) {
    const highest = new Map<string, number>();
    for (const { body: text, createdAt } of documents) {
      const body = JSON.parse(text) as Readonly<Record<string, unknown>>;
      const number = numberIn(rule, valueAt(body, rule.member));
      if (number === null) continue;
      const key = keyOf(spec, rule, body, createdAt);
      highest.set(key, Math.max(number, highest.get(key) ?? number));
    }
    const name = counterName(spec, rule);
    for (const [key, last] of byKeys(highest))
      await transaction
        .of(counterStore)
        .take({ name, tenant: spec.tenant ? tenant : "", key }, 0, last + 1);
  }
}

/** The number that a value has by a rule; null if it doesn't have the form of the rule. */
function numberIn({ format }: NumberRule, value: unknown): number | null {
  const digits =
    format === null ? value : patternOf(format).exec(String(value ?? ""))?.groups?.["number"];
  const number = Number(digits ?? NaN);
  return Number.isSafeInteger(number) && number >= 0 ? number : null;
}

/** A pattern of texts that a format has made. */
function patternOf(format: readonly NumberPart[]): RegExp {
  const parts = format.map((part) => {
    if ("text" in part) return part.text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
    return "name" in part ? ".*?" : String.raw`(?<number>\d+)`;
  });
  return new RegExp(`^${parts.join("")}$`, "su");
}
