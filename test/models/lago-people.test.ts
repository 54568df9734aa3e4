// Stories of Lago about who may do what: organizations, roles, keys, and those who are told.
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { onEachEngine } from "../support/on-each-engine.js";
import { outcomeOf, waitFor, worldOf } from "./lago/world.js";
import { modelFiles } from "./model.js";

const options = { environment: { WEBHOOK_ADDRESSES: "any" } };

onEachEngine(
  modelFiles("lago"),
  ({ people, service }) => {
    test("organizations don't see each other, and may use the same names", async () => {
      const [one, two] = [await worldOf(people), await worldOf(people)];
      const [mine, theirs] = [
        await one.customer({ external_id: "same", name: "Ann" }),
        await two.customer({ external_id: "same", name: "Bob" }),
      ];
      const taken = await one.call("POST", "/customers", {
        external_id: "same",
        billing_entity: one.entity,
      });
      expect([outcomeOf(taken), taken.body.context]).toEqual([
        [409, "unique_violation"],
        { members: ["external_id"] },
      ]);
      expect(outcomeOf(await one.call("GET", `/customers/${theirs}`))).toEqual([
        404,
        "core.not_found",
      ]);
      const across = await one.call("POST", "/subscriptions", {
        customer: mine,
        plan: two.plan,
        external_id: "s-1",
      });
      expect([outcomeOf(across), across.body.context.errors[0].path]).toEqual([
        [422, "core.validation"],
        "/plan",
      ]);
      expect((await one.listed("customers")).map(({ id }) => id)).toEqual([mine]);
      expect((await two.perform("GET", `/customers/${theirs}`)).slug).toBe("CUS-001");
      await one.perform("POST", `/customers/${mine}/delete?rev=1`);
      await one.customer({ external_id: "same" });
      const back = await one.call("POST", `/customers/${mine}/restore?rev=2`);
      expect(outcomeOf(back)).toEqual([409, "unique_violation"]);
    });

    test("each role does its work, and no other", async () => {
      const world = await worldOf(people);
      const customer = await world.customer();
      const wallet = await world.wallet();
      const works = {
        catalog: ["POST", "/add_ons", { name: "A", amount_cents: 1, amount_currency: "USD" }],
        accounts: ["POST", "/customer_metadata", { customer, value: "v" }],
        billing: ["POST", `/wallets/${wallet}/top_up`, { credits: 1 }],
        settings: ["POST", "/taxes", { name: "T" }],
        audit: ["GET", "/audit"],
      } as const;
      const allowed = {
        admin: ["catalog", "accounts", "billing", "settings", "audit"],
        manager: ["catalog", "accounts"],
        finance: ["accounts", "billing"],
        developer: [],
        analyst: [],
      } as const;
      for (const [role, areas] of Object.entries(allowed)) {
        const somebody = await world.colleague(`role:${role}`);
        expect((await somebody.call("GET", `/plans/${world.plan}`)).status).toBe(200);
        for (const [area, [method, path, body]] of Object.entries(works)) {
          const more = area === "accounts" ? { key: role } : { code: role };
          const isTopUp = area === "billing" || method === "GET";
          const given = body === undefined ? undefined : { ...body, ...(isTopUp ? {} : more) };
          const { status } = await somebody.call(method, path, given);
          const isAllowed = (areas as readonly string[]).includes(area);
          expect([role, area, status < 300 ? 200 : status]).toEqual([
            role,
            area,
            isAllowed ? 200 : 403,
          ]);
        }
      }
    });

    test("a key for usage sends events, and does nothing else", async () => {
      const world = await worldOf(people);
      await world.subscription("s-1");
      const issued = await world.perform("POST", "/api-keys", {
        label: "meter",
        scopes: ["usage.write"],
      });
      const { api_key: key, key_id } = issued;
      expect(key).toEqual(expect.any(String));
      const withKey = (method: string, path: string, body?: object) =>
        service.call(method, path, { headers: { authorization: "", "x-api-key": key }, body });
      const event = { transaction_id: "t", external_subscription_id: "s-1", code: "calls" };
      const sent = await withKey("POST", "/events/ingest", event);
      expect([sent.status, sent.body.is_new]).toEqual([200, true]);
      for (const [method, path, body] of [
        ["GET", `/plans/${world.plan}`, undefined],
        ["POST", "/invoices/list", {}],
        ["POST", "/events/list", {}],
        ["POST", "/api-keys", { label: "more" }],
      ] as const)
        expect([path, outcomeOf(await withKey(method, path, body))]).toEqual([
          path,
          [403, "core.authorization"],
        ]);
      await world.perform("DELETE", `/api-keys/${key_id}`);
      expect((await withKey("POST", "/events/ingest", event)).status).toBe(401);
    });

    test("a subscriber is told of a finalized invoice, and of nothing else", async () => {
      const world = await worldOf(people);
      const told: { readonly type: string; readonly data: { readonly invoice: string } }[] = [];
      const server = createServer((request, response) => {
        let text = "";
        request.on("data", (part) => (text += String(part)));
        request.on("end", () => {
          told.push(JSON.parse(text));
          response.writeHead(204).end();
        });
      }).listen(0, "127.0.0.1");
      await once(server, "listening");
      try {
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
        const clerk = await world.colleague("role:developer");
        const body = { url, events: ["invoices.finalized"] };
        expect((await clerk.call("POST", "/webhooks", body)).status).toBe(403);
        await world.perform("POST", "/webhooks", body);
        const invoice = await world.draft(await world.customer(), 700);
        const { number } = await world.perform("POST", `/invoices/${invoice}/finalize`);
        await world.perform("POST", `/invoices/${invoice}/void`);
        const [event] = await waitFor(async () => (told.length > 0 ? told : undefined));
        expect(event).toMatchObject({
          type: "invoices.finalized",
          tenant_id: world.tenantId,
          data: { invoice, number, total_amount_cents: 700 },
        });
        expect(told.length).toBe(1);
      } finally {
        server.close();
      }
    });

    test("what is known of a customer goes on request, and its revisions with it", async () => {
      const world = await worldOf(people);
      const id = await world.customer({ name: "Ann", email: "ann@example.test", city: "Rome" });
      const path = `/customers/${id}`;
      await world.perform("PATCH", `${path}?rev=1`, { name: "Ann B." });
      const manager = await world.colleague("role:manager");
      expect(outcomeOf(await manager.call("POST", `${path}/anonymize`))).toEqual([
        403,
        "core.authorization",
      ]);
      const { revisions } = await world.perform("POST", `${path}/anonymize`);
      expect(revisions).toBe(2);
      expect(await world.perform("GET", path)).toMatchObject({
        name: null,
        email: null,
        city: null,
        slug: "CUS-001",
      });
      expect(outcomeOf(await world.call("GET", `${path}/revisions/1`))[0]).toBe(404);
      const found = await world.perform("POST", "/search/customers/typed", { query: "Ann" });
      expect(found.hits).toEqual([]);
    });

    test("what somebody has asked is gone once they are erased", async () => {
      const world = await worldOf(people);
      const leaver = await people.member(world.tenantId, "role:finance");
      const id = await people.by(leaver.token).make("ai_conversations", { name: "My salary?" });
      const erase = { principal_id: leaver.id };
      expect(outcomeOf(await world.call("POST", "/auth/erase", erase))).toEqual([
        403,
        "core.authorization",
      ]);
      const operator = await people.person("platform.admin");
      const { access_token: token } = await people.session(operator.id, null);
      const erased = await people.as(token, "POST", "/auth/erase", erase);
      expect([erased.status, erased.body.erased.ai_conversations]).toEqual([200, 1]);
      const { name } = await world.perform("GET", `/ai_conversations/${id}`);
      expect(name).toBe("A conversation");
      expect((await people.by(leaver.token).call("GET", "/auth/me")).status).toBe(401);
    });

    test("one search finds customers, plans and metrics that the caller may see", async () => {
      const world = await worldOf(people);
      const id = await world.customer({ name: "Pro Services", email: "pro@example.test" });
      const body = { query: "pro" };
      const found = await world.perform("POST", "/search/everything", body);
      const kinds = found.hits.map(({ kind }: { readonly kind: string }) => kind);
      expect(new Set(kinds)).toEqual(new Set(["customers", "plans"]));
      const seller = await world.colleague("catalog.read");
      const less = (await seller.call("POST", "/search/everything", body)).body;
      expect(less.counts).toEqual({ plans: 1, billable_metrics: 0 });
      const stranger = await worldOf(people);
      const theirs = await stranger.perform("POST", "/search/everything", body);
      expect(JSON.stringify(theirs)).not.toContain(id);
    });

    test("an export is written behind the answer, and whoever asked is told", async () => {
      const world = await worldOf(people);
      const invoice = await world.draft(await world.customer(), 900);
      const id = await world.make("data_exports", { resource_type: "invoices" });
      const path = `/data_exports/${id}`;
      const clerk = await world.colleague("role:analyst");
      expect(outcomeOf(await clerk.call("GET", path))).toEqual([404, "core.not_found"]);
      expect(outcomeOf(await clerk.call("POST", `${path}/start`))).toEqual([404, "core.not_found"]);
      await world.perform("POST", `${path}/start`);
      const done = await waitFor(async () => {
        const given = await world.perform("GET", path);
        return given.status === "completed" ? given : undefined;
      });
      expect([done.rows, done.requested_by]).toEqual([1, world.principalId]);
      const [part] = await world.listed("data_export_parts", { data_export: id });
      expect([part.object_ids, part.csv_lines]).toEqual([
        [invoice],
        expect.stringContaining(`${invoice},,draft,900`),
      ]);
      const { signals } = await waitFor(async () => {
        const given = await world.perform("GET", "/realtime/history");
        return given.signals.length > 0 ? given : undefined;
      });
      expect(signals).toMatchObject([{ event: "export.finished", data: { export: id, rows: 1 } }]);
      expect(outcomeOf(await world.call("POST", `${path}/start`))).toEqual([
        409,
        "transition_not_allowed",
      ]);
    });

    test("whoever may read a customer's invoices hears of them", async () => {
      const world = await worldOf(people);
      const customer = await world.customer();
      const invoice = await world.draft(customer, 100);
      const listen = async (token: string, signal: AbortSignal) =>
        fetch(`${service.url}/realtime/sse?topics=customer:${customer}&protocol=1`, {
          headers: { authorization: `Bearer ${token}` },
          signal,
        });
      const ended = new AbortController();
      const developer = await people.member(world.tenantId, "role:developer");
      const refused = await listen(developer.token, ended.signal);
      const { code } = (await refused.json()) as { readonly code: string };
      expect([refused.status, code]).toEqual([403, "realtime_topics_unauthorized"]);
      const stream = await listen(world.token, ended.signal);
      expect(stream.status).toBe(200);
      await world.perform("POST", `/invoices/${invoice}/finalize`);
      const decoder = new TextDecoder();
      let heard = "";
      for await (const part of stream.body ?? []) {
        heard += decoder.decode(part, { stream: true });
        if (heard.includes("finalized")) break;
      }
      ended.abort();
      expect(heard).toContain("event: invoice.changed");
      expect(heard).toContain(invoice);
    });

    test("the trail says who has changed what, to those who may read it", async () => {
      const world = await worldOf(people);
      const id = await world.customer({ name: "Ann" });
      await world.perform("PATCH", `/customers/${id}?rev=1`, { city: "Rome" });
      const entries = await world.perform("GET", `/audit?resource=customers&resource_id=${id}`);
      const list = entries.entries ?? entries.hits ?? entries;
      expect(list).toMatchObject([
        { change: "update", fields: ["city"], principal_id: world.principalId },
        { change: "create" },
      ]);
      const finance = await world.colleague("role:finance");
      expect(outcomeOf(await finance.call("GET", "/audit"))).toEqual([403, "core.authorization"]);
    });

    test("invitations give no more than their sender's roles give", async () => {
      const world = await worldOf(people);
      const invite = { login: "new@example.test", roles: ["finance"] };
      const finance = await world.colleague("role:finance");
      expect(outcomeOf(await finance.call("POST", "/members/invitations", invite))).toEqual([
        403,
        "core.authorization",
      ]);
      const made = await world.call("POST", "/members/invitations", invite);
      expect(made.status).toBeLessThan(300);
      const open = await world.perform("GET", "/members/invitations");
      expect(JSON.stringify(open)).toContain("new@example.test");
      const founder = await people.person();
      const { access_token: token } = await people.session(founder.id, null);
      const key = `org${Math.random().toString(36).slice(2)}`;
      const tenant = await people.as(token, "POST", "/tenants", { tenant_key: key });
      expect(tenant.status).toBeLessThan(300);
      const again = await people.as(token, "POST", "/tenants", { tenant_key: key });
      expect(again.status).toBe(409);
    });
  },
  options,
);
