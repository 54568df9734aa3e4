// Compares the webhooks of two registries, as subscribers see them, besides the operations.
import type { Comparison } from "../../compare/comparison.js";
import { amount, compareAll, tellOf, type Rules } from "../../compare/rules.js";
import type { RegistryModel } from "../../model/registry.js";
import type { WebhooksModel } from "./model.js";

const webhooks: Rules<WebhooksModel> = {
  // Compared as the enumeration in the input of `create`.
  events: null,
  most: amount((text) => `takes ${text} of a caller`, ""),
};

/** Reports a change of how many webhooks a caller may have. Operations that come or go are reported elsewhere. */
export function compare(before: RegistryModel, after: RegistryModel, { note }: Comparison): void {
  const each = ({ webhooks: one }: RegistryModel): Readonly<Record<string, WebhooksModel>> =>
    one === undefined ? {} : { webhooks: one };
  compareAll(each(before), each(after), webhooks, (name) =>
    tellOf(note, { kind: "service", name, declared: ["webhooks"] }, "http"),
  );
}
