// What an answer of a service must be while something below it is broken.
import { isSuccess } from "./load.js";
import type { Outcome } from "./client.js";

/** Seconds that each request of a load has, as its `X-Deadline-Budget` says. */
export const budgetSeconds = 2;

/** The header that gives a request so many seconds. */
export function budgetOf(seconds: number): Readonly<Record<string, string>> {
  return { "x-deadline-budget": String(seconds) };
}

/** What a busy machine may add to that before an answer counts as late. */
const marginMillis = 2_500;

/** What is wrong about an outcome: not success, nor 503 with `Retry-After`, nor 504 at its deadline; or late. */
function faultOf(outcome: Outcome): string | null {
  const { method, path, status, headers, millis, fault, body } = outcome;
  const where = path.replaceAll(/\/[0-9a-f-]{36}/g, "/ID").replace(/^(\/files\/).+/, "$1KEY");
  const what = `${method} ${where}: ${status === 0 ? fault : status} ${body?.code ?? ""}`;
  if (millis > budgetSeconds * 1_000 + marginMillis) return `late: ${what}`;
  if (isSuccess(outcome)) return null;
  if (status === 503)
    return headers["retry-after"] === undefined ? `no Retry-After: ${what}` : null;
  // Where the deadline ended it, it ran until there.
  if (status === 504 && millis >= budgetSeconds * 1_000 - 250) return null;
  return what;
}

/** The faults of outcomes, each once, with its number and the longest time that it took. */
export function faultsOf(outcomes: readonly Outcome[]): readonly string[] {
  const kinds = new Map<string, { count: number; longest: number }>();
  for (const outcome of outcomes) {
    const fault = faultOf(outcome);
    if (fault === null) continue;
    const kind = kinds.get(fault) ?? { count: 0, longest: 0 };
    kind.count += 1;
    kind.longest = Math.max(kind.longest, outcome.millis);
    kinds.set(fault, kind);
  }
  return [...kinds].map(
    ([fault, { count, longest }]) =>
      `${count} × ${fault} (up to ${Math.round(longest / 100) / 10} s)`,
  );
}
