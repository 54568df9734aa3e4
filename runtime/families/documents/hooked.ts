// The author's hooks of single verbs, around each document that another verb writes: a bulk verb,
// an upsert or a revert does nothing of which the hooks of what it does know nothing (decisions.md
// "A twin takes the rule of its original").
import { runTraced } from "../../operations/authored.js";
import { runStep } from "../../operations/held-calls.js";
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { chain, type Hook, type HookChain, type HookPhase } from "../../operations/hooks.js";
import type { Output } from "../../operations/json-text.js";
import { expectFit } from "../../operations/expect-fit.js";
import { quietly } from "../../operations/quietly.js";
import { pointIntoInput } from "../../operations/refused-write.js";
import type { StoredDocument } from "../../ports/documents.js";

/** A document that was written, and the answer of the single verb. */
export interface WrittenDocument {
  readonly stored: StoredDocument;
  output(): Promise<Output<unknown>>;
}

/** Verbs about one document. */
type SingleVerb = "create" | "update" | "delete" | "kill";

/** The author's hooks of a single verb. */
export interface VerbHooks {
  readonly verb: SingleVerb;
  readonly chain: HookChain<unknown, unknown>;
}

/**
 * The hooks of a single verb as generated routes of its twins name them: `bulk.create(spec,
 * each("create", before(check)))`.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- each fits its verb: the verb's own route has them too
export function each(verb: SingleVerb, ...hooks: readonly Hook<any, any>[]): VerbHooks {
  return { verb, chain: chain(hooks) };
}

/** The hooks of a verb, where there are some. */
export function hooksOf(hooks: readonly VerbHooks[], verb: SingleVerb): VerbHooks["chain"] | null {
  return hooks.find((one) => one.verb === verb)?.chain ?? null;
}

/**
 * Writes one document within the running transaction, with the hooks of the verb that would write
 * it alone. What follows a commit follows that of the transaction. Throws what a hook throws, and a
 * fault of the service for what `check` refuses of what a hook passes on; then nothing of the
 * document is written.
 */
export async function runHooked<Input>(
  around: VerbHooks["chain"] | null,
  context: ExecutionContext,
  input: Input,
  write: (given: Input) => Promise<WrittenDocument>,
  check: (given: Input) => unknown = () => undefined,
): Promise<StoredDocument> {
  if (around === null) return (await write(input)).stored;
  let written: WrittenDocument | undefined;
  const later = (phase: HookPhase, hook: NamedHook, run: () => void | Promise<void>) => () =>
    quietly(context, phase, hook, run);
  const core = async (given: unknown): Promise<Output<unknown>> => {
    if (around.wrap.length > 0) expectFit(context.operationId, () => void check(given as Input));
    const output = await context.transact(async () => {
      await inOrder(around.tx_before, context, (hook) => hook(given, context));
      const made = await write(given as Input);
      const answer = await made.output();
      await inOrder(around.tx_after, context, (hook) => hook(given, context, answer));
      written = made;
      return answer;
    });
    for (const hook of around.after_commit)
      context.follow(later("after_commit", hook, () => hook(given, context, output)));
    return output;
  };
  const failed = (error: unknown): void => {
    // The latest runs first: failures, then the work at the end.
    for (const hook of around.finally.toReversed())
      context.followUndone(later("finally", hook, () => hook(input, context)));
    for (const hook of around.on_failure.toReversed())
      context.followUndone(later("on_failure", hook, () => hook(input, context, error)));
  };
  try {
    await inOrder(around.before, context, (hook) => hook(input, context));
    const wrapped = around.wrap.reduceRight<(given: unknown) => Promise<Output<unknown>>>(
      (next, hook) => async (given) =>
        runTraced(context.trace, hook, () => hook(given, context, next)),
      core,
    );
    const output = await wrapped(input);
    if (written === undefined) throw new TypeError("a wrap hook has answered without the write");
    for (const hook of around.on_success)
      context.follow(later("on_success", hook, () => hook(input, context, output)));
    for (const hook of around.finally)
      context.follow(later("finally", hook, () => hook(input, context)));
    // Another document of the request may still undo this one.
    failed(fail("bulk_refused"));
    return written.stored;
  } catch (thrown) {
    const error = pointIntoInput(context.abandonCalls(thrown), input);
    failed(error);
    throw error;
  }
}

interface NamedHook {
  readonly name: string;
}

async function inOrder<Run extends NamedHook>(
  hooks: readonly Run[],
  context: ExecutionContext,
  run: (hook: Run) => void | Promise<void>,
): Promise<void> {
  for (const hook of hooks) {
    await runStep(context, hook, () => run(hook));
  }
}
