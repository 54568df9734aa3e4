// Stories of Lago about what is sold and used: events once, periods once, rules of the catalog.
import { expect, test } from "vitest";
import { onEachEngine } from "../support/on-each-engine.js";
import { brokenRules } from "./lago/broken-rules.js";
import { faultsOf, outcomeOf, waitFor, worldOf } from "./lago/world.js";
import { modelFiles } from "./model.js";

onEachEngine(modelFiles("lago"), ({ people }) => {
  test("an event that is sent again counts once", async () => {
    const world = await worldOf(people);
    const id = await world.subscription("s-1");
    await world.subscription("s-2");
    const event = { transaction_id: "t", external_subscription_id: "s-1", code: "calls" };
    const send = (more: object = {}) =>
      world.call("POST", "/events/ingest", { ...event, properties: { n: 2.5 }, ...more });
    const answers = await Promise.all(Array.from({ length: 8 }, () => send()));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect(answers.filter(({ body }) => body.is_new).length).toBe(1);
    expect(new Set(answers.map(({ body }) => body.event)).size).toBe(1);
    expect((await send({ properties: { n: 100 } })).body.is_new).toBe(false);
    expect((await send({ transaction_id: "u", properties: { n: "1.25" } })).body.is_new).toBe(true);
    // The same transaction of another subscription is another event.
    expect((await send({ external_subscription_id: "s-2" })).body.is_new).toBe(true);
    const { used } = await world.perform("GET", `/subscriptions/${id}/usage`);
    expect(used).toEqual([{ code: "calls", units: 3.75, events: 2 }]);
    const unknown = await send({ external_subscription_id: "s-9", transaction_id: "v" });
    expect(outcomeOf(unknown)).toEqual([404, "subscription_unknown"]);
    const odd = await send({ code: "odd", transaction_id: "v" });
    expect(outcomeOf(odd)).toEqual([404, "metric_unknown"]);
    const other = await worldOf(people);
    const theirs = await other.call("POST", "/events/ingest", event);
    expect(outcomeOf(theirs)).toEqual([404, "subscription_unknown"]);
  });

  test("a period is billed once, whoever bills it at the same time", async () => {
    const world = await worldOf(people);
    const id = await world.subscription("s-1");
    const timestamp = "2026-03-10T12:00:00.000Z";
    for (const [transaction_id, at, n] of [
      ["a", timestamp, 30],
      ["b", "2026-03-31T23:59:59.999Z", 10],
      ["c", "2026-04-01T00:00:00.000Z", 1000],
    ])
      await world.perform("POST", "/events/ingest", {
        transaction_id,
        external_subscription_id: "s-1",
        code: "calls",
        timestamp: at,
        properties: { n },
      });
    const bill = (from: string, to: string) =>
      world.call("POST", `/subscriptions/${id}/bill`, { from, to });
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => bill("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z")),
    );
    const done = answers.filter(({ status }) => status === 200);
    // 10 USD, and 40 calls at 5 cents.
    expect(done.map(({ body }) => body.total_amount_cents)).toEqual([1200]);
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect(outcomeOf(answer)).toEqual([409, "overlap_violation"]);
    const part = await bill("2026-03-15T00:00:00Z", "2026-04-15T00:00:00Z");
    expect(outcomeOf(part)).toEqual([409, "overlap_violation"]);
    const next = await bill("2026-04-01T00:00:00Z", "2026-05-01T00:00:00Z");
    expect(next.body.total_amount_cents).toBe(6000);
    expect((await world.listed("invoices")).length).toBe(2);
    const odd = await bill("2026-06-01T00:00:00Z", "2026-06-01T00:00:00Z");
    expect([outcomeOf(odd), odd.body.context]).toEqual([
      [400, "core.domain"],
      { reason: "the period is empty" },
    ]);
  });

  test("a month is billed for all who have a subscription, however often it is asked for", async () => {
    const world = await worldOf(people);
    const body = { subscription_at: "2026-01-01T00:00:00Z" };
    for (const name of ["s-1", "s-2", "s-3"]) await world.subscription(name, body);
    const month = { from: "2026-03-01T00:00:00Z", to: "2026-04-01T00:00:00Z" };
    const clerk = await world.colleague("role:manager");
    expect(outcomeOf(await clerk.call("POST", "/billing/run", month))).toEqual([
      403,
      "core.authorization",
    ]);
    for (let turn = 0; turn < 2; turn += 1)
      expect(await world.perform("POST", "/billing/run", month)).toEqual({ subscriptions: 3 });
    const done = await waitFor(async () => {
      const { runs } = await world.perform("GET", "/job_runs?job=billing.period");
      const isOver = runs.every(({ state }: { readonly state: string }) => state === "done");
      return runs.length > 0 && isOver ? runs : undefined;
    });
    expect(done.length).toBeGreaterThanOrEqual(3);
    const invoices = await world.listed("invoices");
    expect(invoices.map(({ total_amount_cents: cents }) => cents)).toEqual([1000, 1000, 1000]);
  });

  test("a charge has the properties of its model, and can get another model", async () => {
    const world = await worldOf(people);
    const path = `/charges/${world.charge}`;
    const ranges = [
      { from_value: 0, to_value: 10, per_unit_amount: "1", flat_amount: "0" },
      { from_value: 11, to_value: null, per_unit_amount: "0.5", flat_amount: "2" },
    ];
    const graduated = { model: "graduated", graduated_ranges: ranges };
    const body = { plan: world.plan, billable_metric: world.metric, code: "more" };
    for (const properties of [
      { model: "graduated", amount: "1" },
      { model: "graduated", graduated_ranges: [] },
      { model: "package", amount: "1", free_units: 0, package_size: 0 },
      { model: "standard", amount: "one", pricing_group_keys: [] },
      { model: "free" },
      { amount: "1" },
    ]) {
      const refused = await world.call("POST", "/charges", { ...body, properties });
      expect([JSON.stringify(properties), outcomeOf(refused)]).toEqual([
        JSON.stringify(properties),
        [422, "core.validation"],
      ]);
    }
    // A patch is merged at every depth, so what the former model had has to be taken away.
    const merged = await world.call("PATCH", `${path}?rev=1`, { properties: graduated });
    expect(outcomeOf(merged)).toEqual([422, "core.validation"]);
    const without = { ...graduated, amount: null, pricing_group_keys: null };
    await world.perform("PATCH", `${path}?rev=1`, { properties: without });
    expect(await world.perform("GET", path)).toMatchObject({
      charge_model: "graduated",
      properties: graduated,
    });
    const id = await world.subscription("s-1");
    await world.perform("POST", "/events/ingest", {
      transaction_id: "a",
      external_subscription_id: "s-1",
      code: "calls",
      timestamp: "2026-03-10T12:00:00Z",
      properties: { n: 14 },
    });
    const period = { from: "2026-03-01T00:00:00Z", to: "2026-04-01T00:00:00Z" };
    const bill = await world.perform("POST", `/subscriptions/${id}/bill`, period);
    expect(bill.total_amount_cents).toBe(1000 + 1000 + 200 + 200);
  });

  test("a plan with subscriptions stays; one without goes with its charges, and comes back", async () => {
    const world = await worldOf(people);
    const path = `/plans/${world.plan}`;
    await world.subscription("s-1");
    for (const [method, way] of [
      ["POST", `${path}/delete?rev=1`],
      ["DELETE", path],
    ] as const) {
      const refused = await world.call(method, way);
      expect([outcomeOf(refused), refused.body.context]).toEqual([
        [409, "reference_in_use"],
        { document: "subscriptions", member: "plan" },
      ]);
    }
    const plan = await world.make("plans", {
      name: "Free",
      code: "free",
      interval: "yearly",
      amount_cents: 0,
      amount_currency: "USD",
    });
    const charge = await world.make("charges", {
      plan,
      billable_metric: world.metric,
      code: "calls",
      properties: { model: "dynamic", pricing_group_keys: [] },
    });
    const commitment = await world.make("commitments", { plan, amount_cents: 5 });
    await world.perform("POST", `/plans/${plan}/delete?rev=1`);
    for (const gone of [`/plans/${plan}`, `/charges/${charge}`, `/commitments/${commitment}`])
      expect(outcomeOf(await world.call("GET", gone))).toEqual([404, "core.not_found"]);
    await world.perform("POST", `/plans/${plan}/restore?rev=2`);
    for (const back of [`/plans/${plan}`, `/charges/${charge}`, `/commitments/${commitment}`])
      expect((await world.call("GET", back)).status).toBe(200);
  });

  test("codes are unique, but those of overridden plans, and of what was deleted", async () => {
    const world = await worldOf(people);
    const plan = {
      name: "Pro",
      code: "pro",
      interval: "monthly",
      amount_cents: 1,
      amount_currency: "USD",
    };
    const taken = await world.call("POST", "/plans", plan);
    expect(outcomeOf(taken)).toEqual([409, "unique_violation"]);
    for (let at = 0; at < 2; at += 1) await world.make("plans", { ...plan, parent: world.plan });
    const pro = `/plans/${await world.make("plans", { ...plan, code: "other" })}`;
    expect(outcomeOf(await world.call("PATCH", `${pro}?rev=1`, { code: "pro" }))).toEqual([
      409,
      "unique_violation",
    ]);
    await world.perform("POST", `${pro}/delete?rev=1`);
    await world.make("plans", { ...plan, code: "other" });
    const back = await world.call("POST", `${pro}/restore?rev=2`);
    expect(outcomeOf(back)).toEqual([409, "unique_violation"]);
    const feature = await world.make("entitlement_features", { code: "seats" });
    await world.make("entitlement_entitlements", { feature, plan: world.plan });
    const again = { feature, plan: world.plan };
    expect(outcomeOf(await world.call("POST", "/entitlement_entitlements", again))).toEqual([
      409,
      "unique_violation",
    ]);
  });

  test("one threshold of a plan recurs, and one campaign is the organization's", async () => {
    const world = await worldOf(people);
    const recurring = { plan: world.plan, recurring: true };
    await world.make("usage_thresholds", { ...recurring, amount_cents: 1 });
    const second = await world.call("POST", "/usage_thresholds", { ...recurring, amount_cents: 2 });
    expect(outcomeOf(second)).toEqual([409, "unique_violation"]);
    await world.make("usage_thresholds", { plan: world.plan, amount_cents: 2 });
    const campaign = { name: "A", code: "a", applied_to_organization: true };
    await world.make("dunning_campaigns", campaign);
    const other = await world.call("POST", "/dunning_campaigns", { ...campaign, code: "b" });
    expect(outcomeOf(other)).toEqual([409, "unique_violation"]);
    await world.make("dunning_campaigns", { name: "B", code: "b" });
    // An entity that is put away leaves its code to another.
    const acme = { name: "Acme", code: "acme" };
    expect(outcomeOf(await world.call("POST", "/billing_entities", acme))).toEqual([
      409,
      "unique_violation",
    ]);
    const archived = { archived_at: "2026-01-01T00:00:00Z" };
    await world.perform("PATCH", `/billing_entities/${world.entity}?rev=1`, archived);
    await world.make("billing_entities", acme);
    const back = await world.call("PATCH", `/billing_entities/${world.entity}?rev=2`, {
      archived_at: null,
    });
    expect([outcomeOf(back), back.body.context]).toEqual([
      [409, "unique_violation"],
      { members: ["code"] },
    ]);
    const settings = { name: "Acme", slug: `acme-${Math.random().toString(36).slice(2)}` };
    await world.make("organizations", settings);
    const twice = await world.call("POST", "/organizations", { ...settings, slug: "another" });
    expect([outcomeOf(twice), twice.body.context]).toEqual([
      [409, "unique_violation"],
      { members: ["one"] },
    ]);
    const stranger = await worldOf(people);
    const stolen = await stranger.call("POST", "/organizations", settings);
    expect(stolen.body.context).toEqual({ members: ["slug"] });
  });

  test("rules over several fields hold for creates and changes", async () => {
    const world = await worldOf(people);
    const cases = await brokenRules(world);
    const count = async (name: string) => (await world.listed(name)).length;
    for (const [name, body, error] of cases) {
      const before = await count(name);
      const refused = await world.call("POST", `/${name}`, body);
      expect([name, outcomeOf(refused), faultsOf(refused)]).toEqual([
        name,
        [422, "core.validation"],
        [error],
      ]);
      expect(await count(name)).toBe(before);
    }
    const quote = await world.make("quotes", {
      customer: await world.customer(),
      order_type: "one_off",
    });
    const version = `/quote_versions/${await world.make("quote_versions", { quote })}`;
    const early = await world.call("PATCH", `${version}?rev=1`, { status: "approved" });
    expect(faultsOf(early)).toEqual(["/approved_at must be string"]);
    const second = await world.call("POST", "/quote_versions", { quote });
    expect(outcomeOf(second)).toEqual([409, "unique_violation"]);
    const at = "2026-01-01T00:00:00Z";
    await world.perform("PATCH", `${version}?rev=1`, {
      status: "voided",
      voided_at: at,
      void_reason: "superseded",
    });
    const next = await world.perform("POST", "/quote_versions", { quote });
    expect(next.sequential_id).toBe(2);
    const coupon = {
      name: "A",
      code: "a",
      coupon_type: "percentage",
      percentage_rate: 5,
      frequency: "recurring",
      expiration: "no_expiration",
    };
    const unended = await world.call("POST", "/coupons", coupon);
    expect([outcomeOf(unended), unended.body.context.errors[0].path]).toEqual([
      [422, "core.validation"],
      "/frequency_duration",
    ]);
  });

  test("many plans at once are held to the same rules", async () => {
    const world = await worldOf(people);
    const plan = { name: "Bulk", amount_currency: "USD", interval: "monthly" };
    const items = [
      { ...plan, code: "a", amount_cents: 1 },
      { ...plan, code: "b" },
      { ...plan, code: "c", pricing_type: "product_catalog" },
    ];
    const { outcomes } = await world.perform("POST", "/plans/create_many", { items });
    type Outcome = { readonly document?: { readonly code: string }; readonly error?: object };
    expect(outcomes.map(({ document, error }: Outcome) => document?.code ?? error)).toMatchObject([
      "a",
      { code: "core.validation", context: { errors: [{ path: "/amount_cents" }] } },
      "c",
    ]);
    const all = { filters: { $values: { name: "Bulk" } } };
    const legacy = { ...all, patch: { pricing_type: "legacy" } };
    const refused = await world.call("POST", "/plans/update_where", legacy);
    expect(outcomeOf(refused)).toEqual([409, "bulk_refused"]);
    expect((await world.listed("plans", { pricing_type: "product_catalog" })).length).toBe(1);
    const priced = { ...all, patch: { pricing_type: "legacy", amount_cents: 9 } };
    expect(await world.perform("POST", "/plans/update_where", priced)).toEqual({
      matched: 2,
      done: 2,
    });
    const upserted = await world.perform("POST", "/customers/upsert", {
      by: ["external_id"],
      document: { external_id: "u", billing_entity: world.entity, name: "One" },
    });
    const again = await world.perform("POST", "/customers/upsert", {
      by: ["external_id"],
      document: { external_id: "u", billing_entity: world.entity, name: "Two" },
    });
    expect([upserted.created, again.created, again.data.id, again.data.name]).toEqual([
      true,
      false,
      upserted.data.id,
      "Two",
    ]);
  });

  test("subscriptions end when it was agreed, and move only as they may", async () => {
    const world = await worldOf(people);
    const body = { customer: await world.customer(), plan: world.plan, external_id: "s-1" };
    const id = await world.make("subscriptions", body);
    const path = `/subscriptions/${id}`;
    expect((await world.call("PATCH", `${path}?rev=1`, { status: "active" })).status).toBe(422);
    expect(outcomeOf(await world.call("POST", `${path}/terminate`))).toEqual([
      409,
      "transition_not_allowed",
    ]);
    const { rev } = await world.perform("POST", `${path}/activate`);
    await world.perform("PATCH", `${path}?rev=${rev}`, { ending_at: "2026-01-01T00:00:00Z" });
    const ended = await waitFor(async () => {
      const given = await world.perform("GET", path);
      return given.status === "terminated" ? given : undefined;
    });
    expect(ended.terminated_at).toEqual(expect.any(String));
    expect(outcomeOf(await world.call("POST", `${path}/activate`))).toEqual([
      409,
      "transition_not_allowed",
    ]);
    // Another may have its external id now, and one more may not.
    const next = await world.make("subscriptions", body);
    await world.perform("POST", `/subscriptions/${next}/activate`);
    const third = await world.make("subscriptions", body);
    expect(outcomeOf(await world.call("POST", `/subscriptions/${third}/activate`))).toEqual([
      409,
      "unique_violation",
    ]);
    expect((await world.perform("POST", `/subscriptions/${third}/cancel`)).status).toBe("canceled");
    const runs = await world.perform("GET", "/job_runs?job=subscriptions.end");
    expect(JSON.stringify(runs)).toContain(id);
  });
});
