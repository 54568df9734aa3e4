// When a job runs by itself: a pattern of cron in a time zone.
import { Cron } from "croner";
import { didYouMean } from "../../diagnostics/did-you-mean.js";
import type { FamilyContext } from "../../kernel/family.js";
import type { JobEntry } from "./format.js";
import type { JobPlanModel } from "./model.js";

/** The plan of a job that has one. Reports patterns and time zones that are none (OPW105). */
export function planOf(
  { report, tree }: FamilyContext,
  name: string,
  { cron, timezone = "UTC", per, missed = "once" }: JobEntry & { readonly cron: string },
): JobPlanModel {
  if (!isTimeZone(timezone)) {
    const known = Intl.supportedValuesOf("timeZone");
    // People write the city alone, or nearly the name.
    const city = known.find((one) => one.endsWith(`/${timezone}`));
    report({
      code: "OPW105",
      message: `${timezone} is no time zone`,
      at: tree.at("jobs", name, "timezone"),
      suggestion: city ?? didYouMean(timezone, known),
      hint: "Name a zone of the IANA database, such as Europe/Berlin.",
    });
  }
  const message = faultOf(cron);
  if (message !== null) report({ code: "OPW105", message, at: tree.at("jobs", name, "cron") });
  return { cron, timezone, isPerTenant: per === "tenant", missed };
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

function faultOf(cron: string): string | null {
  try {
    const pattern = new Cron(cron, { mode: "5-part", paused: true });
    return pattern.nextRun() === null ? `${cron} names no time that there will be` : null;
  } catch (error) {
    return `${cron} is no pattern of cron: ${String(error).replace(/^.*CronPattern: /, "")}`;
  }
}
