// Compares the webhooks of two registries, as subscribers see them, besides the operations.
import type { Comparison } from "../../compare/comparison.js";
import { compareAll, limit, tellOf, type Rules, type Tell } from "../../compare/rules.js";
import { byStoredName } from "../../compare/events.js";
import { differences } from "../../compare/differences.js";
import { grantedAs } from "../../compare/hooks.js";
import { authoredIn } from "../../model/code.js";
import { own } from "../../model/records.js";
import type { HookUse, RegistryModel } from "../../model/registry.js";
import type { EventGuard, WebhooksModel } from "./model.js";

const webhooks: Rules<WebhooksModel> = {
  // Compared as the enumeration in the input of `create`, and by `compareHeard`.
  events: null,
  // Compared as those of the outbox.
  was: null,
  // Its hooks follow from the policy of the operations.
  asked: null,
  // Compared by `compareGuards`, together with what all owners are asked.
  guards: null,
  most: limit((text) => `takes ${text} of a caller`, ""),
};

/**
 * Who may hear an event: what wasn't asked before ends deliveries. Events that come or go are
 * reported elsewhere. Owners are asked for what the policy of webhooks says as well, so only what
 * neither asks any more opens.
 */
function compareGuards(
  before: WebhooksModel,
  after: WebhooksModel,
  formerly: (event: string) => string,
  tell: Tell,
): void {
  // By the names of grants, since a permission that is only called otherwise asks for the same.
  const askedBy = ({ asked }: WebhooksModel, { hooks }: EventGuard): ReadonlyMap<string, string> =>
    new Map([...asked, ...hooks].map((use) => [grantedAs(use) ?? hookText(use), hookText(use)]));
  for (const [event, guard] of Object.entries(after.guards)) {
    const who = `of who hears ${event}`;
    // A registry that an earlier version froze asks nothing of subscribers.
    const frozen: WebhooksModel["guards"] | undefined = before.guards;
    if (frozen === undefined) {
      tell("breaking", `asks ${guard.policy} ${who}`);
      continue;
    }
    const was = own(frozen, formerly(event));
    if (was === undefined) continue;
    const [old, next] = [askedBy(before, was), askedBy(after, guard)];
    const { gone, added } = differences([...old.keys()], [...next.keys()]);
    for (const one of added) tell("breaking", `asks ${next.get(one)} ${who}`);
    for (const one of gone) tell("opens", `no longer asks ${old.get(one)} ${who}`);
    if (gone.length + added.length === 0 && was.policy !== guard.policy)
      tell("documentation", `asks ${guard.policy} ${who}`);
  }
}

/** A step as people call it, with the author's function behind it. */
function hookText({ permission, id, run }: HookUse): string {
  const name = id.slice(id.indexOf("#") + 1);
  const functions = authoredIn(run).filter((one) => one.name !== name);
  if (permission !== null) return permission;
  return functions.length === 0 ? name : `${name} (${functions.map((one) => one.name).join()})`;
}

/**
 * Reports a change of how many webhooks a caller may have and of who may hear what. Operations that
 * come or go are reported elsewhere.
 */
export function compare(before: RegistryModel, after: RegistryModel, { note }: Comparison): void {
  const each = ({ webhooks: one }: RegistryModel): Readonly<Record<string, WebhooksModel>> =>
    one === undefined ? {} : { webhooks: one };
  const tellOfName = (name: string): Tell =>
    tellOf(note, { kind: "service", name, declared: ["webhooks"] }, "http");
  compareAll(each(before), each(after), webhooks, tellOfName);
  const tell = tellOfName("webhooks");
  compareHeard(before, after, tell);
  if (before.webhooks !== undefined && after.webhooks !== undefined)
    compareGuards(before.webhooks, after.webhooks, formerlyIn(before, after), tell);
}

/** What events were called in the registry before. */
function formerlyIn(before: RegistryModel, after: RegistryModel): (event: string) => string {
  const stored = byStoredName(before.outbox ?? {});
  return (event) => own(stored, own(after.outbox ?? {}, event)?.was ?? event)?.name ?? event;
}

/** Reports events that are no news, and that callers may hear from now on. */
function compareHeard(before: RegistryModel, after: RegistryModel, tell: Tell): void {
  const formerly = formerlyIn(before, after);
  const heard = before.webhooks?.events ?? [];
  for (const event of after.webhooks?.events ?? [])
    if (!heard.includes(formerly(event)) && own(before.outbox ?? {}, formerly(event)) !== undefined)
      tell("opens", `lets subscribers hear ${event}`);
}
