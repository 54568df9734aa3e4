// `was` of events: what waits, and who subscribes, is stored under the first name, which must be
// one event's alone.
import type { ExpansionContext } from "./family.js";

/** Reports events that were called as another one is, or was (OPW100). */
export function formerEventsAreOwn(
  { report, tree }: Pick<ExpansionContext, "report" | "tree">,
  section: string,
  events: Readonly<Record<string, { readonly was?: string }>>,
): void {
  const owners = new Map<string, string>();
  for (const [name, { was }] of Object.entries(events)) {
    if (was === undefined || was === name) continue;
    const refuse = (message: string): void =>
      report({ code: "OPW100", message, at: tree.at(section, "events", name, "was") });
    const other = owners.get(was);
    if (Object.hasOwn(events, was))
      refuse(`${was} is still an event, so ${name} cannot have been called that`);
    else if (other !== undefined)
      refuse(`${other} and ${name} cannot both have been called ${was}`);
    owners.set(was, name);
  }
}
