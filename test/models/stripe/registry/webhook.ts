// The webhook that Stripe calls: its signature, and each event once.
import { createHmac, timingSafeEqual } from "node:crypto";
import { collection, fail as refuse, ServiceError } from "opwright/runtime";
import { stripeEventsSpec } from "../generated/documents/stripe_events.js";
import { fail } from "../generated/errors.js";
import type { StripeReceiveHandler } from "../generated/types/stripe.js";
import { keepEvent, type StripeEvent } from "./stripe.js";

/** Seconds for which a signature is good. */
const tolerance = 300;

export const receive: StripeReceiveHandler = async ({ body }, context) => {
  const header = context.headers["stripe-signature"] ?? "";
  if (!isSigned(body, header, context.clock.now() / 1000)) throw fail("signature_wrong");
  const event = parseEvent(body);
  const events = collection(stripeEventsSpec, context);
  if (await events.exists({ filters: { $values: { event: event.id } } })) return;
  await events.create({ event: event.id, kind: event.type });
  try {
    await keepEvent(event, context);
  } catch (error) {
    // What does not fit is a fault of the event, and would else be taken for one of this service.
    if (!(error instanceof ServiceError) || error.code !== "core.validation") throw error;
    const { errors } = error.context as { readonly errors: readonly { readonly path: string }[] };
    throw fail("event_unfit", { members: errors.map(({ path }) => path.slice(1)) });
  }
};

function isSigned(body: Buffer, header: string, now: number): boolean {
  const secret = process.env["STRIPE_WEBHOOK_SECRET"] ?? "";
  const said = new URLSearchParams(header.replaceAll(",", "&"));
  const time = said.get("t") ?? "";
  if (secret === "" || !(Math.abs(now - Number(time)) <= tolerance)) return false;
  const right = createHmac("sha256", secret).update(`${time}.`).update(body).digest();
  return said.getAll("v1").some((hex) => {
    const given = Buffer.from(hex, "hex");
    return given.length === right.length && timingSafeEqual(given, right);
  });
}

function parseEvent(body: Buffer): StripeEvent {
  try {
    return JSON.parse(body.toString()) as StripeEvent;
  } catch {
    throw refuse("core.malformed");
  }
}
