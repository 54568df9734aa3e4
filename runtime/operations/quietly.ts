// Hooks that run behind what they can no longer change.
import { runStep } from "./held-calls.js";
import type { ExecutionContext } from "./context.js";
import type { HookPhase } from "./hooks.js";
import { inTime } from "./in-time.js";

/** Runs such a hook; the log tells if it fails, has left calls behind, or takes too long. */
export async function quietly(
  context: ExecutionContext,
  phase: HookPhase,
  hook: { readonly name: string },
  run: () => void | Promise<void>,
): Promise<void> {
  try {
    await inTime(context, `the hook ${hook.name}`, () => runStep(context, hook, run));
  } catch (err) {
    const { operationId: operation, metadata } = context;
    const line = { operation, phase, hook: hook.name, requestId: metadata.requestId, err };
    context.log.error(line, "a hook failed after the operation was decided");
  }
}
