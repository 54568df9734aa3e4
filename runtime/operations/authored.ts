// Which steps of operations are the author's functions: in a trace each is a part of its own.
import { endWith, type TraceSpan } from "../ports/tracer.js";

const authored = new WeakSet<object>();

/** A hook or a handler is the author's. */
export function noteAuthored(step: object): void {
  authored.add(step);
}

/** It is a part of its own for another reason. */
export function forgetAuthored(step: object): void {
  authored.delete(step);
}

/**
 * Runs a step; as a part of a trace if it is the author's. Libraries that it calls, and that trace
 * by themselves, find that part. Nothing else asks for this: it costs every promise of a process on
 * Node.js 20.
 */
export function runTraced<T>(
  trace: TraceSpan | null,
  step: { readonly name: string },
  run: () => T | Promise<T>,
): T | Promise<T> {
  if (trace === null || !authored.has(step)) return run();
  const name = step.name === "" ? "step" : step.name;
  return endWith(trace.begin(name, "internal"), (span) => span.within(async () => run()));
}
