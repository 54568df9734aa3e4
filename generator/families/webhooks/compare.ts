// What changes of webhooks mean for those who subscribe, beside the operations.
import type { Comparison } from "../../compare/comparison.js";
import { amount, compareAll, tellOf, type Rules } from "../../compare/rules.js";
import type { RegistryModel } from "../../model/registry.js";
import type { WebhooksModel } from "./model.js";

const webhooks: Rules<WebhooksModel> = {
  // They are an enumeration in the input of `create`, and compared there.
  events: null,
  most: amount((text) => `takes ${text} of a caller`, ""),
};

export function compare(before: RegistryModel, after: RegistryModel, { note }: Comparison): void {
  const each = ({ webhooks: one }: RegistryModel): Readonly<Record<string, WebhooksModel>> =>
    one === undefined ? {} : { webhooks: one };
  compareAll(each(before), each(after), webhooks, (name) =>
    tellOf(note, { kind: "service", name }, "http"),
  );
}
