// The author's hooks of single verbs, around each document that another verb writes: a bulk verb, an upsert or a revert does
// nothing of which the hooks of what it does know nothing (decisions.md "A twin takes the rule of its original").
import type { ExecutionContext } from "../../operations/context.js";
import { chain, type Hook, type HookChain } from "../../operations/hooks.js";
import type { Output } from "../../operations/json-text.js";
import { told } from "../../operations/refused-write.js";
import type { VerbHook, VerbHooks } from "../../ports/document-spec.js";
import type { StoredDocument } from "../../ports/documents.js";

/** A document that was written, and what the single verb would have answered. */
export interface WrittenDocument {
  readonly stored: StoredDocument;
  output(): Output<unknown>;
}

type AuthorHooks = () => readonly VerbHook[];

const chains = new WeakMap<AuthorHooks, HookChain<unknown, unknown>>();

function chainOf(hooks: AuthorHooks): HookChain<unknown, unknown> {
  // Ports know no invocation, so they say less of hooks than the generated code does.
  const known = chains.get(hooks) ?? chain(hooks() as readonly Hook<unknown, unknown>[]);
  chains.set(hooks, known);
  return known;
}

/** The hooks of a verb, where there are some. */
export function hooksOf(hooks: VerbHooks | undefined, verb: keyof VerbHooks): AuthorHooks | null {
  return hooks?.[verb] ?? null;
}

/**
 * Writes one document within the running transaction, with the hooks of the verb that would write it alone. What follows a
 * commit follows that of the transaction. Throws what a hook throws; then nothing of the document is written.
 */
export async function hooked<Input>(
  hooks: AuthorHooks | null,
  context: ExecutionContext,
  input: Input,
  write: (given: Input) => Promise<WrittenDocument>,
): Promise<StoredDocument> {
  if (hooks === null) return (await write(input)).stored;
  const around = chainOf(hooks);
  let written: WrittenDocument | undefined;
  const core = async (given: unknown): Promise<Output<unknown>> => {
    const output = await context.transact(async () => {
      for (const hook of around.tx_before) {
        await hook(given, context);
        context.expectAwaited(hook);
      }
      // A hook that wraps the write passes on an input of the same type.
      const made = await write(given as Input);
      const answer = made.output();
      for (const hook of around.tx_after) {
        await hook(given, context, answer);
        context.expectAwaited(hook);
      }
      written = made;
      return answer;
    });
    for (const hook of around.after_commit)
      context.whenCommitted(() => hook(given, context, output));
    return output;
  };
  try {
    for (const hook of around.before) {
      await hook(input, context);
      context.expectAwaited(hook);
    }
    const wrapped = around.wrap.reduceRight<(given: unknown) => Promise<Output<unknown>>>(
      (next, hook) => async (given) => hook(given, context, next),
      core,
    );
    const output = await wrapped(input);
    if (written === undefined) throw new TypeError("a wrap hook has answered without the write");
    for (const hook of around.on_success) context.whenCommitted(() => hook(input, context, output));
    return written.stored;
  } catch (thrown) {
    const error = told(thrown, input);
    for (const hook of around.on_failure) await hook(input, context, error);
    throw error;
  } finally {
    for (const hook of around.finally) await hook(input, context);
  }
}
