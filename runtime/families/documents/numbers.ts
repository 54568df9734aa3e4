// Running numbers of new documents: without gaps, or taken in blocks by those that may have some.
import { createHash } from "node:crypto";
import { datePartsOf, printNumber } from "../../contract/running-numbers.js";
import type { ExecutionContext } from "../../operations/context.js";
import { counterStore } from "../../ports/counters.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import type { StoredDocument } from "../../ports/documents.js";
import type { NumberRule } from "../../ports/number-rules.js";
import { checkBody } from "./body-check.js";
import { keepLeft, sizeOfBlock, takeLeft } from "./number-blocks.js";

type Body = Readonly<Record<string, unknown>>;

/** A document that is about to be stored, and its body. */
interface Made {
  readonly stored: StoredDocument;
  readonly body: Body;
}

/** Longer keys are hashed: an index entry holds about 2 700 bytes. */
const maxKeyLength = 400;

/** The body with numbers that it could have, to be checked as a whole before it takes any. */
export function withSampleNumbers({ numbers }: AnyDocumentSpec, body: Body, now: string): Body {
  if (numbers === undefined) return body;
  const samples = numbers.map((rule) => [rule.member, valueOf(rule, rule.start, body, now)]);
  return { ...body, ...Object.fromEntries(samples) };
}

/**
 * New documents with their numbers, in their order. Whoever wants numbers of the same counter waits
 * for the end of this transaction, so take them last.
 */
export async function numbered<One extends Made>(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  made: readonly One[],
): Promise<readonly One[]> {
  if (spec.numbers === undefined) return made;
  let all = made;
  for (const rule of spec.numbers) {
    const keys = all.map(({ stored, body }) => keyOf(rule, body, stored.createdAt));
    const wanted = new Map<string, number>();
    for (const key of keys) wanted.set(key, (wanted.get(key) ?? 0) + 1);
    const given = new Map<string, number[]>();
    // In the order of keys, so that two that take several don't wait for each other.
    for (const [key, count] of [...wanted].sort(([one], [other]) => (one < other ? -1 : 1)))
      given.set(key, await take(spec, context, rule, key, count));
    all = all.map((one, at) => {
      const value = given.get(keys[at] ?? "")?.shift() ?? rule.start;
      const body = {
        ...one.body,
        [rule.member]: valueOf(rule, value, one.body, one.stored.createdAt),
      };
      // A text may have become longer than the sample was.
      checkBody(spec, body);
      return { ...one, body, stored: { ...one.stored, body: JSON.stringify(body) } };
    });
  }
  return all;
}

function valueOf(rule: NumberRule, value: number, body: Body, now: string): string | number {
  if (rule.format === null) return value;
  const fields = rule.per.flatMap((name) => {
    const given = body[name];
    return typeof given === "string" || typeof given === "number" || typeof given === "boolean"
      ? [[name, String(given)]]
      : [];
  });
  const values = { ...Object.fromEntries(fields), ...datePartsOf(now, rule.timezone) };
  return printNumber(rule.format, value, values);
}

/** What its numbers count within; days belong to their month, months to their year. */
function keyOf({ per, timezone }: NumberRule, body: Body, now: string): string {
  if (per.length === 0) return "";
  const { year, month, day } = datePartsOf(now, timezone);
  const parts: Body = { year, month: [year, month], day: [year, month, day] };
  const key = JSON.stringify(
    per.map((name) => (Object.hasOwn(parts, name) ? parts[name] : (body[name] ?? null))),
  );
  return key.length <= maxKeyLength ? key : createHash("sha256").update(key).digest("base64url");
}

async function take(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  { member, start, hasGaps }: NumberRule,
  key: string,
  count: number,
): Promise<number[]> {
  const name = `${spec.table}.${spec.shape.stored?.[member]?.name ?? member}`;
  const counter = { name, tenant: spec.tenant ? context.tenant : "", key };
  const store = context.transaction.of(counterStore);
  if (!hasGaps) return upTo(await store.take(counter, count, start), count);
  const left = takeLeft(context.resources, counter, count);
  const missing = count - left.length;
  if (missing === 0) return left;
  const wanted = missing + sizeOfBlock(context.resources, counter);
  const fresh = upTo(await store.take(counter, wanted, start), wanted);
  // Not before: if the transaction is undone, others take the same ones.
  context.follow(() => keepLeft(context.resources, counter, fresh.slice(missing)));
  return [...left, ...fresh.slice(0, missing)];
}

function upTo(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => first + at);
}
