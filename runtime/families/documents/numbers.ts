// Running numbers of new documents: without gaps, or taken in blocks by those that may have some.
import { createHash } from "node:crypto";
import { datePartsOf, printNumber } from "../../contract/running-numbers.js";
import { storedName, storedValue } from "../../contract/stored-members.js";
import { ServiceError } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { counterStore } from "../../ports/counters.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import type { StoredDocument } from "../../ports/documents.js";
import type { NumberRule } from "../../ports/number-rules.js";
import { checkBody } from "./body-check.js";
import { valueAt } from "./field-value.js";
import { keepLeft, sizeOfBlock, takeLeft } from "./number-blocks.js";

type Body = Readonly<Record<string, unknown>>;

/** A document that is about to be stored, and its body. */
export interface UnstoredDocument {
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
export async function giveNumbers<One extends UnstoredDocument>(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  made: readonly One[],
  passed: Passed = nonePassed,
): Promise<readonly One[]> {
  if (spec.numbers === undefined) return made;
  let all = made;
  for (const rule of spec.numbers) {
    const keys = keysOf(spec, rule, all);
    const given = new Map<string, number[]>();
    for (const [key, count] of countKeys(keys))
      given.set(key, await take(spec, context, rule, key, count, passed.get(rule.member)));
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

/** How many numbers of members are passed over. */
type Passed = ReadonlyMap<string, number>;

const nonePassed: Passed = new Map();

/** How many numbers that other documents have are passed over for a new document. */
const maxPassed = 100;

/**
 * Creates a document, and again with the next number while another document has the number: nobody
 * else could mend that, since the number would be given again each time.
 */
export async function passTaken<T>(
  { numbers = [] }: AnyDocumentSpec,
  create: (passed: Passed) => Promise<T>,
): Promise<T> {
  const passed = new Map<string, number>();
  for (;;) {
    try {
      return await create(passed);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "unique_violation") throw error;
      const members: unknown = error.context["members"];
      const taken = numbers.find(
        ({ member }) => Array.isArray(members) && members.includes(member),
      )?.member;
      const count = taken === undefined ? maxPassed : (passed.get(taken) ?? 0);
      if (taken === undefined || count >= maxPassed) throw error;
      passed.set(taken, count + 1);
    }
  }
}

/**
 * Holds the counters of new documents before these are written one by one. Those that may have
 * gaps are held by nobody for long.
 */
export async function holdCounters(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  made: readonly UnstoredDocument[],
): Promise<void> {
  for (const rule of spec.numbers ?? [])
    if (!rule.hasGaps)
      for (const [key] of countKeys(keysOf(spec, rule, made)))
        await take(spec, context, rule, key, 0);
}

function keysOf(
  spec: AnyDocumentSpec,
  rule: NumberRule,
  made: readonly UnstoredDocument[],
): readonly string[] {
  return made.map(({ stored, body }) => keyOf(spec, rule, body, stored.createdAt));
}

/** How often each key is there, in the order in which they are taken. */
function countKeys(keys: readonly string[]): readonly (readonly [key: string, count: number])[] {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return byKeys(counts);
}

/** What is taken of keys, in one order: two that take several must not deadlock. */
export function byKeys(
  counts: ReadonlyMap<string, number>,
): readonly (readonly [key: string, number: number])[] {
  return [...counts].toSorted(([one], [other]) => (one < other ? -1 : 1));
}

function valueOf(rule: NumberRule, value: number, body: Body, now: string): string | number {
  if (rule.format === null) return value;
  const fields = rule.per.flatMap((name) => {
    const given = valueAt(body, name);
    return typeof given === "string" || typeof given === "number" || typeof given === "boolean"
      ? [[name, String(given)]]
      : [];
  });
  const values = { ...Object.fromEntries(fields), ...datePartsOf(now, rule.timezone) };
  return printNumber(rule.format, value, values);
}

/** The name of a rule's counters. */
export function counterName({ table, shape }: AnyDocumentSpec, { member }: NumberRule): string {
  return `${table}.${storedName(shape, member)}`;
}

/** What its numbers count within; days belong to their month, months to their year. */
export function keyOf(
  { shape }: AnyDocumentSpec,
  { per, timezone }: NumberRule,
  body: Body,
  now: string,
): string {
  if (per.length === 0) return "";
  const { year, month, day } = datePartsOf(now, timezone);
  const parts: Body = { year, month: [year, month], day: [year, month, day] };
  const key = JSON.stringify(
    per.map((name) =>
      Object.hasOwn(parts, name) ? parts[name] : storedValue(shape, name, valueAt(body, name)),
    ),
  );
  return key.length <= maxKeyLength ? key : createHash("sha256").update(key).digest("base64url");
}

async function take(
  spec: AnyDocumentSpec,
  context: ExecutionContext,
  rule: NumberRule,
  key: string,
  count: number,
  passed = 0,
): Promise<number[]> {
  const { start, hasGaps } = rule;
  const name = counterName(spec, rule);
  const counter = { name, tenant: spec.tenant ? context.tenant : "", key };
  const store = context.transaction.of(counterStore);
  if (!hasGaps)
    return upTo(await store.take(counter, passed + count, start), passed + count).slice(passed);
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
