// Compares the webhooks of two registries, as subscribers see them, besides the operations.
import type { ChangeLevel } from "../../compare/change.js";
import type { Comparison } from "../../compare/comparison.js";
import { amount, compareAll, tellOf, type Rules } from "../../compare/rules.js";
import { own } from "../../model/records.js";
import type { RegistryModel } from "../../model/registry.js";
import type { WebhooksModel } from "./model.js";

const webhooks: Rules<WebhooksModel> = {
  // Compared as the enumeration in the input of `create`.
  events: null,
  // Its hooks follow from the policy of the operations.
  asked: null,
  guards: guardsChanged,
  most: amount((text) => `takes ${text} of a caller`, ""),
};

type Guards = WebhooksModel["guards"];

/** Who may hear an event: a policy that wasn't asked before ends deliveries. Events that come or go are reported elsewhere. */
function guardsChanged(
  before: Guards | undefined,
  after: Guards,
): readonly (readonly [ChangeLevel, string])[] {
  return Object.entries(after).flatMap(
    ([event, { policy }]): (readonly [ChangeLevel, string])[] => {
      // A registry that an earlier version froze asks nothing of subscribers.
      const was = before === undefined ? { policy: null } : own(before, event);
      if (was === undefined || was.policy === policy) return [];
      return [["breaking", `asks ${policy} of who hears ${event}`]];
    },
  );
}

/** Reports a change of how many webhooks a caller may have and of who hears what. Operations that come or go are reported elsewhere. */
export function compare(before: RegistryModel, after: RegistryModel, { note }: Comparison): void {
  const each = ({ webhooks: one }: RegistryModel): Readonly<Record<string, WebhooksModel>> =>
    one === undefined ? {} : { webhooks: one };
  compareAll(each(before), each(after), webhooks, (name) =>
    tellOf(note, { kind: "service", name, declared: ["webhooks"] }, "http"),
  );
}
