// An organization that sells: what the stories of Lago begin with.
import { expect } from "vitest";
import type { People, Somebody } from "../../support/people.js";
import type { Answer } from "../../support/service.js";

export interface World extends Somebody {
  readonly tenantId: string;
  readonly principalId: string;
  readonly token: string;
  readonly entity: string;
  readonly metric: string;
  readonly plan: string;
  readonly charge: string;
  readonly addOn: string;
  /** The answer of a call that must succeed. */
  perform(method: string, path: string, body?: object): Promise<Answer["body"]>;
  /** All that fits, the oldest first. */
  listed(name: string, values?: object): Promise<Answer["body"][]>;
  /** Somebody else of the organization. */
  colleague(...permissions: readonly string[]): Promise<Somebody>;
  customer(more?: object): Promise<string>;
  /** An active subscription to the plan. */
  subscription(externalId: string, more?: object): Promise<string>;
  /** A draft of one line, of so many cents. */
  draft(customer: string, cents: number): Promise<string>;
  wallet(more?: object): Promise<string>;
}

export const outcomeOf = ({ status, body }: Answer): readonly [number, string | undefined] => [
  status,
  body?.code,
];

/** What a validation has found, in words. */
export const faultsOf = ({ body }: Answer): readonly string[] =>
  (body?.context?.errors ?? []).map(
    ({ path, message }: { readonly path: string; readonly message: string }) =>
      `${path} ${message}`,
  );

let names = 0;
export const nextName = (kind: string): string => `${kind}-${(names += 1)}`;

export async function worldOf(people: People): Promise<World> {
  const member = await people.member("", "role:admin");
  const by = people.by(member.token);
  const perform: World["perform"] = async (method, path, body) => {
    const { status, body: given } = await by.call(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(given)}`);
    return given;
  };
  const entity = await by.make("billing_entities", { name: "Acme", code: "acme" });
  const metric = await by.make("billable_metrics", {
    name: "Calls",
    code: "calls",
    aggregation_type: "sum_agg",
    field_name: "n",
  });
  const plan = await by.make("plans", {
    name: "Pro",
    code: "pro",
    interval: "monthly",
    amount_cents: 1000,
    amount_currency: "USD",
  });
  const charge = await by.make("charges", {
    plan,
    billable_metric: metric,
    code: "calls",
    properties: { model: "standard", amount: "0.05", pricing_group_keys: [] },
  });
  const addOn = await by.make("add_ons", {
    name: "Cent",
    code: "cent",
    amount_cents: 1,
    amount_currency: "USD",
  });
  const customer: World["customer"] = (more = {}) =>
    by.make("customers", { external_id: nextName("c"), billing_entity: entity, ...more });
  return {
    ...by,
    tenantId: member.tenantId,
    principalId: member.id,
    token: member.token,
    entity,
    metric,
    plan,
    charge,
    addOn,
    perform,
    async listed(name, values = {}) {
      const body = { filters: { $values: values }, sorts: { created_at: "asc" }, size: 200 };
      return (await perform("POST", `/${name}/list`, body)).hits;
    },
    async colleague(...permissions) {
      return people.by((await people.member(member.tenantId, ...permissions)).token);
    },
    customer,
    async subscription(external_id, more = {}) {
      const body = { customer: await customer(), plan, external_id, ...more };
      const id = await by.make("subscriptions", body);
      await perform("POST", `/subscriptions/${id}/activate`);
      return id;
    },
    async draft(buyer, cents) {
      const body = { customer: buyer, billing_entity: entity, currency: "USD" };
      const id = await by.make("invoices", body);
      const fee = await perform("POST", `/invoices/${id}/fees`, { add_on: addOn, units: cents });
      expect(fee.total_amount_cents).toBe(cents);
      return id;
    },
    async wallet(more = {}) {
      return by.make("wallets", { customer: await customer(), balance_currency: "USD", ...more });
    },
  };
}

/** Asks again until the answer is there. */
export async function waitFor<Value>(ask: () => Promise<Value | undefined>): Promise<Value> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const given = await ask();
    if (given !== undefined) return given;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("it did not happen within ten seconds");
}
