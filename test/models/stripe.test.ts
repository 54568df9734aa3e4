// Subscriptions that Stripe bills: its webhook alone writes what is for sale and who has it.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compile } from "../generator/compile.js";
import { onEachEngine } from "../support/on-each-engine.js";
import type { Answer } from "../support/service.js";
import { modelFiles } from "./model.js";
import { event, id, now, price, product, secret, signed, subscription } from "./stripe/events.js";

beforeAll(() => void (process.env["STRIPE_WEBHOOK_SECRET"] = secret));
afterAll(() => void delete process.env["STRIPE_WEBHOOK_SECRET"]);

/** What of an event cannot be kept. */
const faultsOf = ({ status, body }: Answer) => [status, body.code, body.context.members];

const project = onEachEngine(
  modelFiles("stripe"),
  ({ service, people }) => {
    const send = (body: string, header = signed(body)) =>
      service.call("POST", "/webhooks/stripe", { body, headers: { "stripe-signature": header } });
    const deliver = (type: string, object: object, created?: number) =>
      send(JSON.stringify(event(type, object, created)));
    const arrive = async (type: string, object: object, created?: number) => {
      const { status, body } = await deliver(type, object, created);
      expect([status, body]).toEqual([204, undefined]);
    };
    const signUp = async (full_name: string) => {
      const login = `${randomUUID()}@example.test`;
      const body = { login, password: "a quiet afternoon", profile: { full_name } };
      const { body: tokens } = await service.call("POST", "/auth/sign-up", { body });
      const user = people.by(tokens.access_token);
      const { profile } = (await user.call("GET", "/auth/me")).body;
      return { ...user, id: profile.id as string, token: tokens.access_token as string };
    };
    /** The document that has this id at Stripe. */
    const found = async (path: string, stripe_id: string) => {
      const { status, body } = await service.call("GET", `/${path}/${stripe_id}`);
      expect([200, 404]).toContain(status);
      return status === 200 ? body : undefined;
    };
    /** A product with a price that is for sale. */
    const sell = async (more = {}) => {
      const sold = product();
      const at = price(sold.id, more);
      await arrive("product.created", sold);
      await arrive("price.created", at);
      return { product: sold, price: at };
    };
    /** Somebody who has paid at Stripe. */
    const pay = async (more = {}) => {
      const user = await signUp("Ann");
      const [customer, address] = [id("cus"), { line1: "Quay 1", city: "Kiel", country: "DE" }];
      const session = { client_reference_id: user.id, customer, customer_details: { address } };
      await arrive("checkout.session.completed", { ...session, ...more });
      return { ...user, customer };
    };
    const mine = async (by: Pick<Awaited<ReturnType<typeof signUp>>, "call">) =>
      (await by.call("POST", "/subscriptions/list", {})).body.hits;

    test("what is for sale arrives by the webhook, and everybody reads it", async () => {
      const { product: sold, price: at } = await sell({ nickname: "Monthly" });
      const seen = await found("products", sold.id);
      expect(seen).toMatchObject({
        name: "Hobby",
        description: null,
        image: "https://example.test/hobby.png",
        metadata: { index: "0" },
      });
      const offer = await found("prices", at.id);
      expect(offer).toMatchObject({
        product: seen.id,
        description: "Monthly",
        unit_amount: 1000,
        currency: "usd",
        type: "recurring",
        interval: "month",
        interval_count: 1,
        trial_period_days: 0,
      });
      const read = await service.call("GET", `/prices/${at.id}?expand=product`);
      expect([read.status, read.body.expanded.product.stripe_id]).toEqual([200, sold.id]);
      const active = await service.post("/products/list_cursor", {
        filters: {
          $values: { active: true },
          $exists: { "prices.product": { $values: { stripe_id: at.id } } },
        },
      });
      expect(active.body.hits.map((hit: { readonly id: string }) => hit.id)).toEqual([seen.id]);
    });

    test("nobody but the webhook writes, not even somebody who runs the service", async () => {
      const { product: sold, price: at } = await sell();
      const admin = await people.person("platform.admin", "admin");
      const { access_token } = await people.session(admin.id, null);
      const by = people.by(access_token);
      for (const [path, of] of [
        ["products", (await found("products", sold.id)).id],
        ["prices", (await found("prices", at.id)).id],
        ["subscriptions", randomUUID()],
      ] as const)
        for (const [method, below, status, code] of [
          ["POST", "", 404, "route_not_found"],
          ["PATCH", `/${of}?rev=1`, 405, "method_not_allowed"],
          ["DELETE", `/${of}`, 405, "method_not_allowed"],
        ] as const) {
          const answer = await by.call(method, `/${path}${below}`, { active: false });
          expect([path, method, answer.status, answer.body.code]).toEqual([
            path,
            method,
            status,
            code,
          ]);
        }
      for (const path of ["/customers/list", "/stripe_events/list"])
        expect((await by.call("POST", path, {})).body.code).toBe("route_not_found");
    });

    test("who has paid sees their subscription, and nobody else does", async () => {
      const { price: at } = await sell();
      const [ann, bob] = [await pay(), await signUp("Bob")];
      const sub = subscription(ann.customer, at.id, { trial_end: 1_790_600_000 });
      await arrive("customer.subscription.created", sub);
      const [hit, ...more] = await mine(ann);
      expect(more).toEqual([]);
      expect(hit).toMatchObject({
        stripe_id: sub.id,
        user: ann.id,
        status: "active",
        quantity: 1,
        created: "2026-09-21T14:13:20.000Z",
        trial_end: "2026-09-28T12:53:20.000Z",
        ended_at: null,
      });
      const deep = await ann.call("GET", `/subscriptions/${hit.id}?expand=price.product,user`);
      expect(deep.body.expanded.price).toMatchObject({
        stripe_id: at.id,
        expanded: { product: { name: "Hobby" } },
      });
      expect(deep.body.expanded.user.full_name).toBe("Ann");
      expect((await ann.call("GET", `/subscriptions/${sub.id}`)).body.id).toBe(hit.id);
      expect((await bob.call("GET", `/subscriptions/${sub.id}`)).status).toBe(404);
      expect(await mine(bob)).toEqual([]);
      const foreign = await bob.call("GET", `/subscriptions/${hit.id}`);
      expect([foreign.status, foreign.body.code]).toEqual([404, "core.not_found"]);
      const stranger = await service.call("POST", "/subscriptions/list", { body: {} });
      expect([stranger.status, stranger.body.code]).toEqual([401, "core.authentication"]);
    });

    test("an event that comes again, or many times at once, is done once", async () => {
      const { price: at } = await sell();
      const ann = await pay();
      const body = JSON.stringify(
        event("customer.subscription.created", subscription(ann.customer, at.id)),
      );
      const answers = await Promise.all(Array.from({ length: 5 }, () => send(body)));
      expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204]);
      expect((await send(body)).status).toBe(204);
      expect(await mine(ann)).toMatchObject([{ rev: 1, status: "active" }]);
    });

    test("what Stripe did not sign, or signed long ago, is refused and leaves nothing", async () => {
      const sold = product();
      const body = JSON.stringify(event("product.created", sold));
      const tampered = body.replace("Hobby", "Free");
      for (const [text, header] of [
        [body, signed(body, "whsec_of_somebody")],
        [body, signed(body, secret, now() - 330)],
        [body, signed(body, secret, now() + 330)],
        [tampered, signed(body)],
        [body, `t=${now()}`],
        [body, `t=soon,v1=${"0".repeat(64)}`],
        [body, "v1=zz"],
      ] as const) {
        const answer = await send(text, header);
        expect([header, answer.status, answer.body.code]).toEqual([header, 400, "signature_wrong"]);
      }
      const bare = await service.call("POST", "/webhooks/stripe", { body });
      expect([bare.status, bare.body.code]).toEqual([400, "signature_wrong"]);
      expect(await found("products", sold.id)).toBeUndefined();
      // While the secret is rolled, Stripe signs with both.
      const both = `${signed(body, "whsec_of_before")},${signed(body).split(",")[1]}`;
      expect((await send(body, both)).status).toBe(204);
      expect((await found("products", sold.id)).name).toBe("Hobby");
      const noJson = await send("{");
      expect([noJson.status, noJson.body.code]).toEqual([400, "core.malformed"]);
    });

    test("an older event that comes late changes nothing", async () => {
      const sold = product();
      const at = now();
      await arrive("product.updated", { ...sold, name: "Pro", metadata: { a: "1" } }, at);
      await arrive("product.created", sold, at - 10);
      expect(await found("products", sold.id)).toMatchObject({ name: "Pro", rev: 1 });
      await arrive("product.updated", { ...sold, name: "Max", active: false }, at + 5);
      expect(await found("products", sold.id)).toMatchObject({
        name: "Max",
        active: false,
        rev: 2,
      });
      // What is no longer in the metadata at Stripe is no longer here.
      expect((await found("products", sold.id)).metadata).toEqual({ index: "0" });
    });

    test("a subscription that comes before its checkout is sent again", async () => {
      const { price: at } = await sell();
      const ann = await signUp("Ann");
      const customer = id("cus");
      const body = JSON.stringify(
        event("customer.subscription.created", subscription(customer, at.id)),
      );
      const early = await send(body);
      expect([early.status, early.body.code, early.body.context]).toEqual([
        409,
        "event_too_early",
        { missing: customer },
      ]);
      await arrive("checkout.session.completed", { client_reference_id: ann.id, customer });
      expect((await send(body)).status).toBe(204);
      expect(await mine(ann)).toMatchObject([{ user: ann.id, status: "active" }]);
      // What names a product, or a price, that is not here is sent again as well.
      const late = product();
      const offer = JSON.stringify(event("price.created", price(late.id)));
      const orphan = await send(offer);
      expect(faultsOf(orphan)).toEqual([422, "event_unfit", ["product"]]);
      await arrive("product.created", late);
      expect((await send(offer)).status).toBe(204);
      const odd = await deliver(
        "customer.subscription.created",
        subscription(customer, id("price")),
      );
      expect(faultsOf(odd)).toEqual([422, "event_unfit", ["price"]]);
    });

    test("a price has an interval if it recurs, and none if it does not", async () => {
      const { product: sold } = await sell();
      const recurring = { interval: "year", interval_count: 1 };
      for (const [more, faults] of [
        [{ recurring: null }, ["interval", "interval_count"]],
        [{ recurring: { interval: "month" } }, ["interval_count"]],
        [{ type: "one_time", recurring }, ["interval", "interval_count"]],
      ] as const) {
        const odd = price(sold.id, more);
        const refused = await deliver("price.created", odd);
        expect(faultsOf(refused)).toEqual([422, "event_unfit", faults]);
        expect(await found("prices", odd.id)).toBeUndefined();
      }
      const at = price(sold.id, { recurring });
      await arrive("price.created", at);
      // A change is held to it as well, and undone as a whole.
      const single = await deliver("price.updated", { ...at, type: "one_time" }, now() + 1);
      expect(single.status).toBe(422);
      expect(await found("prices", at.id)).toMatchObject({ type: "recurring", rev: 1 });
      await arrive("price.updated", { ...at, type: "one_time", recurring: null }, now() + 2);
      expect(await found("prices", at.id)).toMatchObject({ type: "one_time", interval: null });
    });

    test("a subscription is cancelled and ends, as Stripe says", async () => {
      const { price: at } = await sell();
      const ann = await pay();
      const sub = subscription(ann.customer, at.id);
      const begun = now();
      await arrive("customer.subscription.created", sub, begun);
      const plan = { cancel_at_period_end: true, cancel_at: 1_792_592_000 };
      await arrive("customer.subscription.updated", { ...sub, ...plan }, begun + 1);
      expect(await mine(ann)).toMatchObject([
        { status: "active", ...plan, rev: 2, cancel_at: "2026-10-21T14:13:20.000Z" },
      ]);
      const end = { status: "canceled", ended_at: 1_792_592_000, canceled_at: 1_792_000_000 };
      await arrive("customer.subscription.deleted", { ...sub, ...end }, begun + 2);
      expect(await mine(ann)).toMatchObject([
        { status: "canceled", ended_at: "2026-10-21T14:13:20.000Z", cancel_at: null, rev: 3 },
      ]);
      const kept = await deliver("price.deleted", at);
      expect([kept.status, kept.body.code]).toEqual([409, "reference_in_use"]);
    });

    test("what nobody has bought can be taken off the shelf, prices first", async () => {
      const { product: sold, price: at } = await sell({ type: "one_time", recurring: undefined });
      expect(await found("prices", at.id)).toMatchObject({ type: "one_time", interval: null });
      const early = await deliver("product.deleted", sold);
      expect([early.status, early.body.code]).toEqual([409, "reference_in_use"]);
      await arrive("price.deleted", at);
      await arrive("product.deleted", sold);
      expect(await found("products", sold.id)).toBeUndefined();
      // Of other kinds of events nothing is kept.
      await arrive("invoice.created", { id: id("in") });
    });

    test("people see and change their own row, and never what pays", async () => {
      const [ann, bob] = [await pay(), await signUp("Bob")];
      const row = (await ann.call("GET", `/users/${ann.id}`)).body;
      expect(row).toMatchObject({
        full_name: "Ann",
        billing_address: { line1: "Quay 1", city: "Kiel", country: "DE" },
        payment_method: null,
      });
      const path = `/users/${ann.id}?rev=${row.rev}`;
      const renamed = await ann.call("PATCH", path, { full_name: "Anna" });
      expect([renamed.status, renamed.body.data.full_name]).toEqual([200, "Anna"]);
      const card = { payment_method: { type: "card", last4: "4242" } };
      const forged = await ann.call("PATCH", `/users/${ann.id}?rev=${row.rev + 1}`, card);
      expect([forged.status, forged.body.code]).toEqual([422, "core.validation"]);
      for (const [method, to] of [
        ["GET", `/users/${ann.id}`],
        ["PATCH", `/users/${ann.id}?rev=${row.rev + 1}`],
      ] as const) {
        const answer = await bob.call(
          method,
          to,
          method === "GET" ? undefined : { full_name: "B" },
        );
        expect([answer.status, answer.body.code]).toEqual([404, "core.not_found"]);
      }
      const others = (await bob.call("POST", "/users/list", {})).body.hits;
      expect(others.map((hit: { readonly id: string }) => hit.id)).toEqual([bob.id]);
      const stranger = await service.call("GET", `/users/${ann.id}`);
      expect([stranger.status, stranger.body.code]).toEqual([401, "core.authentication"]);
    });

    test("who is erased leaves a subscription without a name", async () => {
      const { price: at } = await sell();
      const ann = await pay();
      await arrive("customer.subscription.created", subscription(ann.customer, at.id));
      const { principal_id } = (await ann.call("GET", "/auth/me")).body;
      const admin = await people.person("platform.admin");
      const { access_token } = await people.session(admin.id, null);
      const refused = await ann.call("POST", "/auth/erase", { principal_id });
      expect([refused.status, refused.body.code]).toEqual([403, "core.authorization"]);
      const erased = await people.as(access_token, "POST", "/auth/erase", { principal_id });
      expect([erased.status, erased.body.erased.users]).toEqual([200, 1]);
      expect((await ann.call("GET", "/auth/me")).status).toBe(401);
    });

    test("whoever looks at the shelf hears when a price changes", async () => {
      const { token } = await signUp("Ann");
      const listen = (topic: string, signal: AbortSignal, authorization = `Bearer ${token}`) =>
        fetch(`${service.url}/realtime/sse?topics=${topic}`, {
          signal,
          headers: { authorization },
        });
      const stop = new AbortController();
      const refused = await listen("customers", stop.signal);
      expect([refused.status, await refused.json()]).toMatchObject([
        403,
        { code: "realtime_topics_unauthorized" },
      ]);
      expect((await fetch(`${service.url}/realtime/sse?topics=catalogue`)).status).toBe(401);
      const { price: at } = await sell();
      const { body } = await listen("catalogue", stop.signal);
      let heard = "";
      const reading = (async () => {
        for await (const text of (body as ReadableStream<Uint8Array>).pipeThrough(
          new TextDecoderStream(),
        ))
          heard += text;
      })().catch(() => undefined);
      await arrive("price.updated", { ...at, unit_amount: 1200 }, now() + 5);
      await expect.poll(() => heard).toContain("event: price.changed");
      expect(heard).toContain('"unit_amount":1200');
      stop.abort();
      await reading;
    });
  },
  { signsIn: false },
);

test("the project compiles under the strict flags", () => {
  compile(project.root);
  expect(project.warnings.filter((warning) => !warning.startsWith("OPW096"))).toEqual([]);
});
