// The rule that patterns of schemas are matched in linear time: clients choose the texts that they are tried on.
import { createRequire } from "node:module";
import type { TextCache } from "../output/text-cache.js";
import type { RuleContext } from "./rule-context.js";

/** The part of recheck that is one file and needs neither workers nor binaries. */
interface Recheck {
  checkSync(
    source: string,
    flags: string,
    parameters: { readonly timeout: number },
  ): { readonly status: string; readonly complexity?: { readonly type: string } };
}

/** Milliseconds for one pattern; what is not proven by then is not linear for us. */
const patienceMillis = 20_000;

/** Reports patterns for which there are texts that take more than linear time. */
export async function patternsAreLinear(
  { expanded, report }: RuleContext,
  cache: TextCache,
): Promise<void> {
  for (const { source, at } of expanded.types.patterns) {
    const verdict = await cache.get(source, async () => verdictOn(source));
    if (verdict === "linear") continue;
    const message = `${JSON.stringify(source)} takes ${verdict} time for some texts`;
    report({ code: "OPW027", message, at });
  }
}

/** `linear`, or how much longer it can take. */
function verdictOn(source: string): string {
  // Loaded only where there is a pattern that is not known yet: 0.3 s.
  const recheck = createRequire(import.meta.url)("recheck/lib/browser.js") as Recheck;
  const { status, complexity } = recheck.checkSync(source, "u", { timeout: patienceMillis });
  if (status === "safe") return "linear";
  return status === "vulnerable" ? (complexity?.type ?? "more than linear") : "unproven";
}
