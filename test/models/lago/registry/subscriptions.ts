// Subscriptions begin, end and are canceled.
import { collection, type ExecutionContext } from "opwright/runtime";
import { subscriptionsSpec } from "../generated/documents/subscriptions.js";
import type { SubscriptionsEndJob } from "../generated/jobs.js";
import { stageEvent } from "../generated/outbox.js";
import type {
  SubscriptionsActivateHandler,
  SubscriptionsCancelHandler,
  SubscriptionsTerminateHandler,
} from "../generated/types/subscriptions.js";

export const nowOf = ({ clock }: ExecutionContext): string => new Date(clock.now()).toISOString();

export const activateSubscription: SubscriptionsActivateHandler = async ({ id }, context) => {
  const now = nowOf(context);
  const subscriptions = collection(subscriptionsSpec, context);
  const { subscription_at: from } = await subscriptions.get(id);
  const started_at = from ?? now;
  return subscriptions.update(id, "any", { status: "active", started_at, activated_at: now });
};

export const terminateSubscription: SubscriptionsTerminateHandler = ({ id }, context) =>
  endSubscription(id, context);

export const cancelSubscription: SubscriptionsCancelHandler = ({ id }, context) =>
  collection(subscriptionsSpec, context).update(id, "any", {
    status: "canceled",
    canceled_at: nowOf(context),
    cancellation_reason: "manual",
  });

async function endSubscription(id: string, context: ExecutionContext) {
  const ended = await collection(subscriptionsSpec, context).update(id, "any", {
    status: "terminated",
    terminated_at: nowOf(context),
  });
  const { external_id } = ended;
  await stageEvent(context, "subscriptions.terminated", { subscription: id, external_id });
  return ended;
}

/** Runs at the end that was agreed on. */
export const endOnTime: SubscriptionsEndJob = async ({ id }, _context, { commit }) => {
  await commit("end", async (context) => {
    await endSubscription(id, context);
  });
};
