// Numbers that this process has taken and not given to a document yet: what is left when it ends is
// a gap.
import type { Counter } from "../../ports/counters.js";

/** How many counters have numbers left at most; those filled longest ago lose theirs. */
const maxCounters = 10_000;
/** How many numbers are taken beyond those that are needed, at most. */
const maxBlock = 64;

interface Block {
  readonly left: number[];
  /** How many numbers to take next time: more for each time that they did not last. */
  readonly size: number;
}

/** What is left, by the service that has taken it. */
const blocks = new WeakMap<object, Map<string, Block>>();

/** Takes up to `count` numbers that are left of a counter. */
export function takeLeft(service: object, counter: Counter, count: number): number[] {
  return blockOf(service, counter)?.left.splice(0, count) ?? [];
}

/** How many numbers to take beyond those that are needed. */
export function sizeOfBlock(service: object, counter: Counter): number {
  return blockOf(service, counter)?.size ?? 1;
}

/** Keeps numbers that nobody else will be given. */
export function keepLeft(service: object, counter: Counter, numbers: readonly number[]): void {
  const known = blocks.get(service) ?? new Map<string, Block>();
  blocks.set(service, known);
  const key = keyOf(counter);
  const { left = [], size = 1 } = known.get(key) ?? {};
  known.delete(key);
  known.set(key, { left: [...left, ...numbers], size: Math.min(maxBlock, size * 2) });
  const [oldest] = known.keys();
  if (known.size > maxCounters && oldest !== undefined) known.delete(oldest);
}

function blockOf(service: object, counter: Counter): Block | undefined {
  return blocks.get(service)?.get(keyOf(counter));
}

function keyOf({ name, tenant, key }: Counter): string {
  return JSON.stringify([name, tenant, key]);
}
