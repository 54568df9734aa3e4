// What a caller would be refused before anything is done: the answer of each operation's guards.
import { ServiceError } from "../contract/errors.js";
import type { ExecutionContext } from "./context.js";
import { isForWhole } from "./hooks.js";
import { expectWhole } from "./identity.js";
import type { AnyRoute } from "./operation.js";

/**
 * The operations that would refuse the caller of a context, each with the code of its refusal.
 * Only the guards that look at the caller alone are asked: a scope or a hook of the author's may
 * still refuse what isn't listed here.
 */
export async function refusalsOf(
  routes: readonly AnyRoute[],
  context: ExecutionContext,
): Promise<Readonly<Record<string, string>>> {
  const known = new Map<string, string | null>();
  const refused: Record<string, string> = {};
  for (const { operationId, hooks = [] } of routes) {
    const code = isForWhole(hooks) ? await refusalOf(() => expectWhole(context)) : null;
    if (code !== null) {
      refused[operationId] = code;
      continue;
    }
    for (const hook of hooks) {
      if (hook.phase !== "before" || hook.asks === undefined) continue;
      let code = known.get(hook.asks);
      if (code === undefined) {
        code = await refusalOf(() => hook.run(undefined, context));
        known.set(hook.asks, code);
      }
      if (code === null) continue;
      refused[operationId] = code;
      break;
    }
  }
  return refused;
}

/** The code of a refusal; null if there is none. A failure is passed on: it answers nothing. */
async function refusalOf(ask: () => unknown): Promise<string | null> {
  try {
    await ask();
    return null;
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) return error.code;
    throw error;
  }
}
