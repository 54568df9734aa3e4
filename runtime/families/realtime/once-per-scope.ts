// Checks that are asked for again and again: one runs at a time for each scope, and one more waits,
// however many ask.
import type { CredentialScope } from "../../ports/signals.js";

/** Runs `check` for a scope soon: once more after the running one, if it is asked for meanwhile. */
export function oncePerScope(
  check: (of: CredentialScope) => Promise<void>,
  onFault: (error: unknown) => void,
): (of: CredentialScope) => void {
  /** Scopes that are being checked, and whether each is to be checked again. */
  const running = new Map<string, boolean>();
  const run = async (key: string, of: CredentialScope): Promise<void> => {
    do {
      running.set(key, false);
      await check(of).catch(onFault);
    } while (running.get(key) === true);
    running.delete(key);
  };
  return (of) => {
    const key = JSON.stringify(of);
    if (running.has(key)) running.set(key, true);
    else void run(key, of);
  };
}
