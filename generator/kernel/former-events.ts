// `was` of events and jobs: what waits, and who subscribes, is stored under the first name, which
// must be one event's or job's alone.
import type { Origin } from "../diagnostics/diagnostics.js";
import type { ExpansionContext } from "./family.js";

/** Reports events that were called as another one is, or was (OPW100). */
export function formerEventsAreOwn(
  context: Pick<ExpansionContext, "report" | "tree">,
  section: string,
  events: Readonly<Record<string, { readonly was?: string }>>,
): void {
  const at = (name: string): Origin => context.tree.at(section, "events", name, "was");
  formerNamesAreOwn(context, "an event", events, at);
}

/** The same of whatever has a name; `what` is it in words. */
export function formerNamesAreOwn(
  { report }: Pick<ExpansionContext, "report">,
  what: string,
  events: Readonly<Record<string, { readonly was?: string }>>,
  at: (name: string) => Origin,
): void {
  const owners = new Map<string, string>();
  for (const [name, { was }] of Object.entries(events)) {
    if (was === undefined || was === name) continue;
    const refuse = (message: string): void => report({ code: "OPW100", message, at: at(name) });
    const other = owners.get(was);
    if (Object.hasOwn(events, was))
      refuse(`${was} is still ${what}, so ${name} cannot have been called that`);
    else if (other !== undefined)
      refuse(`${other} and ${name} cannot both have been called ${was}`);
    owners.set(was, name);
  }
}
