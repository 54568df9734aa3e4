// What events of Stripe tell, as documents of ours.
import { collection, unscoped, type ExecutionContext } from "opwright/runtime";
import { customersSpec } from "../generated/documents/customers.js";
import { pricesSpec } from "../generated/documents/prices.js";
import { productsSpec } from "../generated/documents/products.js";
import { subscriptionsSpec } from "../generated/documents/subscriptions.js";
import { usersSpec } from "../generated/documents/users.js";
import { fail } from "../generated/errors.js";

// oxlint-disable-next-line typescript/no-explicit-any -- Stripe's own types are a package of theirs
type StripeObject = any;
export interface StripeEvent {
  readonly id: string;
  readonly type: string;
  readonly created: number;
  readonly data: { readonly object: StripeObject };
}

type Keep = (object: StripeObject, synced_at: string, context: ExecutionContext) => Promise<void>;

const keepers: Readonly<Record<string, Keep>> = {
  "product.created": keepProduct,
  "product.updated": keepProduct,
  "product.deleted": removeProduct,
  "price.created": keepPrice,
  "price.updated": keepPrice,
  "price.deleted": removePrice,
  "checkout.session.completed": keepCustomer,
  "customer.subscription.created": keepSubscription,
  "customer.subscription.updated": keepSubscription,
  "customer.subscription.deleted": keepSubscription,
};

/** Does what the event asks for; of other kinds nothing is kept. */
export async function keepEvent(event: StripeEvent, context: ExecutionContext): Promise<void> {
  await keepers[event.type]?.(event.data.object, dateOf(event.created), context);
}

async function keepProduct(object: StripeObject, synced_at: string, context: ExecutionContext) {
  const { id: stripe_id, active, name, description = null, images = [], metadata } = object;
  const products = collection(productsSpec, context);
  const there = await products.first({ filters: { $values: { stripe_id } } });
  if (there !== null && there.synced_at > synced_at) return;
  const image = images[0] ?? null;
  const product = { stripe_id, active, name, description, image, metadata, synced_at };
  if (there === null) await products.create(product);
  else await products.update(there.id, "any", replaceMetadata(there, product));
}

async function keepPrice(object: StripeObject, synced_at: string, context: ExecutionContext) {
  const { id: stripe_id, active, nickname, unit_amount = null, currency, type, metadata } = object;
  const prices = collection(pricesSpec, context);
  const there = await prices.first({ filters: { $values: { stripe_id } } });
  if (there !== null && there.synced_at > synced_at) return;
  const price = {
    stripe_id,
    product: object.product,
    active,
    description: nickname ?? null,
    unit_amount,
    currency,
    type,
    interval: object.recurring?.interval ?? null,
    interval_count: object.recurring?.interval_count ?? null,
    trial_period_days: object.recurring?.trial_period_days ?? 0,
    metadata,
    synced_at,
  };
  if (there === null) await prices.create(price);
  else await prices.update(there.id, "any", replaceMetadata(there, price));
}

/** A paid checkout says which of our users a customer of Stripe is. */
async function keepCustomer(object: StripeObject, _at: string, context: ExecutionContext) {
  const { client_reference_id: user, customer: stripe_customer_id, customer_details } = object;
  if (user === null || stripe_customer_id === null) return;
  // Beyond scopes, because the user that it names is nobody who calls.
  const customers = collection(unscoped(customersSpec), context);
  await customers.upsert(["user"], { user, stripe_customer_id });
  if (customer_details?.address === undefined) return;
  const { line1, line2, city, state, postal_code, country } = customer_details.address ?? {};
  const billing_address = { line1, line2, city, state, postal_code, country };
  await collection(unscoped(usersSpec), context).update(user, "any", { billing_address });
}

async function keepSubscription(
  object: StripeObject,
  synced_at: string,
  context: ExecutionContext,
) {
  const { id: stripe_id, status, metadata, cancel_at_period_end, items } = object;
  const subscriptions = collection(unscoped(subscriptionsSpec), context);
  const there = await subscriptions.first({ filters: { $values: { stripe_id } } });
  if (there !== null && there.synced_at > synced_at) return;
  const [item] = items.data;
  const subscription = {
    stripe_id,
    user: await userOf(object.customer, context),
    status,
    metadata,
    price: item.price.id,
    quantity: item.quantity ?? null,
    cancel_at_period_end,
    created: dateOf(object.created),
    current_period_start: dateOf(object.current_period_start),
    current_period_end: dateOf(object.current_period_end),
    ended_at: dateOrNull(object.ended_at),
    cancel_at: dateOrNull(object.cancel_at),
    canceled_at: dateOrNull(object.canceled_at),
    trial_start: dateOrNull(object.trial_start),
    trial_end: dateOrNull(object.trial_end),
    synced_at,
  };
  if (there === null) await subscriptions.create(subscription);
  else await subscriptions.update(there.id, "any", replaceMetadata(there, subscription));
}

async function removeProduct({ id }: StripeObject, _at: string, context: ExecutionContext) {
  const products = collection(productsSpec, context);
  const there = await products.first({ filters: { $values: { stripe_id: id } } });
  if (there !== null) await products.kill(there.id);
}

async function removePrice({ id }: StripeObject, _at: string, context: ExecutionContext) {
  const prices = collection(pricesSpec, context);
  const there = await prices.first({ filters: { $values: { stripe_id: id } } });
  if (there !== null) await prices.kill(there.id);
}

async function userOf(stripe_customer_id: string, context: ExecutionContext): Promise<string> {
  const customers = collection(customersSpec, context);
  const there = await customers.first({ filters: { $values: { stripe_customer_id } } });
  if (there === null) throw fail("event_too_early", { missing: stripe_customer_id });
  return there.user;
}

const dateOf = (seconds: number): string => new Date(seconds * 1000).toISOString();
const dateOrNull = (seconds: number | null | undefined): string | null =>
  seconds === null || seconds === undefined ? null : dateOf(seconds);

type Described = { readonly metadata: Readonly<Record<string, string>> };

/** Patches merge maps, so what is gone from the metadata is named. */
function replaceMetadata<Patch extends Described>(was: Described, patch: Patch) {
  const gone = Object.keys(was.metadata).filter((key) => !Object.hasOwn(patch.metadata, key));
  return {
    ...patch,
    metadata: { ...Object.fromEntries(gone.map((key) => [key, null])), ...patch.metadata },
  };
}
