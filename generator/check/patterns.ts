// The rule that patterns of schemas match in linear time, because clients choose the texts.
import type { TextCache } from "../compile/text-cache.js";
import type { RuleContext } from "../kernel/rule.js";

/** Milliseconds for one pattern; a pattern that isn't proven linear by then is refused. */
const patienceMillis = 20_000;

/** Reports patterns for which there are texts that take more than linear time. */
export async function patternsAreLinear(
  { expanded, report }: RuleContext,
  cache: TextCache,
): Promise<void> {
  for (const { source, at } of expanded.types.patterns) {
    const verdict = await cache.get(source, () => judgePattern(source));
    if (verdict === "linear") continue;
    const message = `${JSON.stringify(source)} takes ${verdict} time for some texts`;
    report({ code: "OPW027", message, at });
  }
}

/** `linear`, or how much longer it can take. */
async function judgePattern(source: string): Promise<string> {
  // Loading takes 0.3 s, so only if a pattern isn't in the cache yet.
  const { default: recheck } = await import("recheck/lib/browser.js");
  const { status, complexity } = recheck.checkSync(source, "u", { timeout: patienceMillis });
  if (status === "safe") return "linear";
  return status === "vulnerable" ? (complexity?.type ?? "more than linear") : "unproven";
}
