// Compares the webhooks of two registries, as subscribers see them, besides the operations.
import type { Comparison } from "../../compare/comparison.js";
import {
  compareAll,
  limit,
  tellOf,
  type Rules,
  type Tell,
  type Told,
} from "../../compare/rules.js";
import { differences } from "../../compare/differences.js";
import { authoredIn } from "../../model/code.js";
import { own } from "../../model/records.js";
import type { HookUse, RegistryModel } from "../../model/registry.js";
import type { WebhooksModel } from "./model.js";

const webhooks: Rules<WebhooksModel> = {
  // Compared as the enumeration in the input of `create`, and by `compareHeard`.
  events: null,
  // Its hooks follow from the policy of the operations.
  asked: null,
  guards: guardsChanged,
  most: limit((text) => `takes ${text} of a caller`, ""),
};

type Guards = WebhooksModel["guards"];

/** Who may hear an event: what wasn't asked before ends deliveries. Events that come or go are reported elsewhere. */
function guardsChanged(before: Guards | undefined, after: Guards): readonly Told[] {
  return Object.entries(after).flatMap(([event, { policy, hooks }]): readonly Told[] => {
    const who = `of who hears ${event}`;
    // A registry that an earlier version froze asks nothing of subscribers.
    if (before === undefined) return [["breaking", `asks ${policy} ${who}`]];
    const was = own(before, event);
    if (was === undefined) return [];
    const { gone, added } = differences(was.hooks.map(hookText), hooks.map(hookText));
    const told: readonly Told[] = [
      ...added.map((one): Told => ["breaking", `asks ${one} ${who}`]),
      ...gone.map((one): Told => ["opens", `no longer asks ${one} ${who}`]),
    ];
    return told.length > 0 || was.policy === policy
      ? told
      : [["documentation", `asks ${policy} ${who}`]];
  });
}

/** A step as people call it, with the author's function behind it. */
function hookText({ permission, id, run }: HookUse): string {
  const name = id.slice(id.indexOf("#") + 1);
  const functions = authoredIn(run).filter((one) => one.name !== name);
  if (permission !== null) return permission;
  return functions.length === 0 ? name : `${name} (${functions.map((one) => one.name).join()})`;
}

/** Reports a change of how many webhooks a caller may have and of who may hear what. Operations that come or go are reported elsewhere. */
export function compare(before: RegistryModel, after: RegistryModel, { note }: Comparison): void {
  const each = ({ webhooks: one }: RegistryModel): Readonly<Record<string, WebhooksModel>> =>
    one === undefined ? {} : { webhooks: one };
  const tellOfName = (name: string): Tell =>
    tellOf(note, { kind: "service", name, declared: ["webhooks"] }, "http");
  compareAll(each(before), each(after), webhooks, tellOfName);
  compareHeard(before, after, tellOfName("webhooks"));
}

/** Reports events that are no news, and that callers may hear from now on. */
function compareHeard(before: RegistryModel, after: RegistryModel, tell: Tell): void {
  const { added } = differences(before.webhooks?.events ?? [], after.webhooks?.events ?? []);
  for (const event of added)
    if (own(before.outbox ?? {}, event) !== undefined)
      tell("opens", `lets subscribers hear ${event}`);
}
