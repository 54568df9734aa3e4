// Events as Stripe sends them, and how it signs them.
import { createHmac, randomUUID } from "node:crypto";

export const secret = "whsec_of_the_test";

export const id = (kind: string): string => `${kind}_${randomUUID().replaceAll("-", "")}`;
export const now = (): number => Math.floor(Date.now() / 1000);
export const signed = (body: string, key = secret, at = now()): string =>
  `t=${at},v1=${createHmac("sha256", key).update(`${at}.${body}`).digest("hex")}`;

export const product = (more = {}) => ({
  id: id("prod"),
  active: true,
  name: "Hobby",
  images: ["https://example.test/hobby.png"],
  metadata: { index: "0" },
  ...more,
});
export const price = (of: string, more = {}) => ({
  id: id("price"),
  product: of,
  active: true,
  unit_amount: 1000,
  currency: "usd",
  type: "recurring",
  recurring: { interval: "month", interval_count: 1 },
  metadata: {},
  ...more,
});
export const subscription = (customer: string, of: string, more = {}) => ({
  id: id("sub"),
  customer,
  status: "active",
  metadata: {},
  cancel_at_period_end: false,
  items: { data: [{ price: { id: of }, quantity: 1 }] },
  created: 1_790_000_000,
  current_period_start: 1_790_000_000,
  current_period_end: 1_792_592_000,
  ended_at: null,
  ...more,
});
export const event = (type: string, object: object, created = now()) => ({
  id: id("evt"),
  type,
  created,
  data: { object },
});
