// What changes of webhooks take of a rollout: subscriptions stay, and deliveries that wait are
// asked again.
import {
  need,
  needsOfAll,
  type Need,
  type RolloutRules,
  type RolloutSide,
} from "../../compare/rollout.js";
import type { RegistryModel } from "../../model/registry.js";
import type { WebhooksModel } from "./model.js";

const webhooks: RolloutRules<WebhooksModel> = {
  // What is staged of them is told of the outbox.
  events: null,
  was: null,
  // Whoever may not hear an event any more gets none from then on, of those that wait either.
  asked: null,
  guards: null,
  most: null,
};

/** Webhooks of a registry are one section. */
export function rollout(before: RolloutSide, after: RolloutSide): readonly Need[] {
  const each = ({ webhooks: one }: RegistryModel): Readonly<Record<string, WebhooksModel>> =>
    one === undefined ? {} : { webhooks: one };
  return needsOfAll([each(before.model), each(after.model)], webhooks, [before, after], () =>
    need(
      "leaves stored things behind",
      "webhooks and their deliveries stay stored, and nothing is sent",
    ),
  );
}
