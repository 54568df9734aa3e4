// When a job runs by itself: a pattern of cron in a time zone.
import { Cron } from "croner";
import type { FamilyContext } from "../../kernel/family.js";
import { checkTimeZone } from "../../kernel/time-zones.js";
import type { JobEntry } from "./format.js";
import type { JobPlanModel } from "./model.js";

/** The plan of a job that has one. Reports patterns and time zones that are none (OPW105). */
export function planOf(
  { report, tree }: FamilyContext,
  name: string,
  { cron, timezone = "UTC", per, missed = "once" }: JobEntry & { readonly cron: string },
): JobPlanModel {
  checkTimeZone(report, "OPW105", timezone, tree.at("jobs", name, "timezone"));
  const message = faultOf(cron);
  if (message !== null) report({ code: "OPW105", message, at: tree.at("jobs", name, "cron") });
  return { cron, timezone, isPerTenant: per === "tenant", missed };
}

function faultOf(cron: string): string | null {
  try {
    const pattern = new Cron(cron, { mode: "5-part", paused: true });
    return pattern.nextRun() === null ? `${cron} names no time that there will be` : null;
  } catch (error) {
    return `${cron} is no pattern of cron: ${String(error).replace(/^.*CronPattern: /, "")}`;
  }
}
