// Hooks that run behind what they can no longer change.
import type { ExecutionContext } from "./context.js";
import type { HookPhase } from "./hooks.js";

/** Runs such a hook; the log tells if it fails, or has left calls behind. */
export async function quietly(
  context: ExecutionContext,
  phase: HookPhase,
  hook: { readonly name: string },
  run: () => void | Promise<void>,
): Promise<void> {
  try {
    await context.step(hook, run);
  } catch (err) {
    const { operationId: operation, metadata } = context;
    const line = { operation, phase, requestId: metadata.requestId, err };
    context.log.error(line, "a hook failed after the operation was decided");
  }
}
