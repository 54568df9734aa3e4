// Lago as a registry: each document is made, read, listed, changed and removed by those who may.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { onEachEngine } from "../support/on-each-engine.js";
import type { Somebody } from "../support/people.js";
import { laterSamples, walletSamples } from "./lago/later-samples.js";
import { firstSamples, type Sample } from "./lago/samples.js";
import { modelFiles } from "./model.js";

const reads = ["catalog", "accounts", "usage", "billing", "settings"].map((area) => `${area}.read`);

const madeByOperations = [
  "events",
  "enriched_events",
  "applied_coupons",
  "wallet_transactions",
  "credit_notes",
  "credit_note_items",
  "payment_receipts",
];
const unseen = ["invoice_numbers"];

const project = onEachEngine(modelFiles("lago"), ({ people, service }) => {
  const ids: Record<string, string> = {};
  let caller: {
    readonly admin: Somebody;
    readonly reader: Somebody;
    readonly outsider: Somebody;
    readonly stranger: Somebody;
  };
  const refused = ({
    status,
    body,
  }: {
    readonly status: number;
    readonly body: { code: string };
  }) => [status, body.code];
  const answer = async (by: Somebody, method: string, path: string, body?: object) => {
    const given = await by.call(method, path, body);
    expect([method, path, given.status, JSON.stringify(given.body)]).toEqual([
      method,
      path,
      given.status < 300 ? given.status : 200,
      expect.anything(),
    ]);
    return given.body;
  };

  test("people", async () => {
    const admin = await people.member("", "role:admin");
    const by = async (tenant: string, ...permissions: readonly string[]) =>
      people.by((await people.member(tenant, ...permissions)).token);
    caller = {
      admin: people.by(admin.token),
      reader: await by(admin.tenantId, ...reads),
      outsider: await by(admin.tenantId),
      stranger: await by("", "role:admin"),
    };
  });

  /** Exports belong to whoever asked for them. */
  const isOwned = ({ name }: Sample) => name.startsWith("data_export");
  const isSharedByReaders = ({ name }: Sample) => name === "ai_conversations";

  const keepToItsRules = (sample: Sample) =>
    test(sample.name, async () => {
      const { admin, reader, outsider, stranger } = caller;
      const path = `/${sample.name}`;
      const body = sample.body(ids);
      expect((await service.post(path, body, { authorization: "" })).status).toBe(401);
      expect(refused(await outsider.call("POST", path, body))).toEqual([403, "core.authorization"]);
      const id = (ids[sample.name] = await admin.make(sample.name, body));
      const one = `${path}/${id}`;
      const { rev } = await answer(admin, "GET", one);
      const seer = isOwned(sample) ? admin : reader;
      expect(await answer(seer, "GET", one)).toMatchObject({ id, rev, ...body });
      expect(refused(await outsider.call("GET", one))).toEqual([403, "core.authorization"]);
      expect(refused(await stranger.call("GET", one))).toEqual([404, "core.not_found"]);
      const filters = { $values: { id } };
      const { hits, count } = await answer(seer, "POST", `${path}/list`, { filters });
      expect([hits.length, count, hits[0].id]).toEqual([1, 1, id]);
      const hidden = await answer(stranger, "POST", `${path}/list`, { filters });
      expect(hidden.hits).toEqual([]);
      expect(refused(await outsider.call("POST", `${path}/list`, {}))).toEqual([
        403,
        "core.authorization",
      ]);
      const change = `${one}?rev=${rev}`;
      if (!isOwned(sample) && !isSharedByReaders(sample))
        expect(refused(await reader.call("PATCH", change, sample.patch))).toEqual([
          403,
          "core.authorization",
        ]);
      expect(refused(await stranger.call("PATCH", change, sample.patch))).toEqual([
        404,
        "core.not_found",
      ]);
      const { data } = await answer(admin, "PATCH", change, sample.patch);
      expect(data).toMatchObject({ ...body, ...sample.patch });
      if (Object.keys(sample.patch).length > 0) {
        expect(data.rev).toBe(rev + 1);
        const ahead = await admin.call("PATCH", `${one}?rev=${rev + 7}`, sample.patch);
        expect(refused(ahead)).toEqual([409, "revision_mismatch"]);
      }
      expect((await admin.call("PATCH", change, { unheard_of: 1 })).status).toBe(422);
    });

  for (const sample of [...firstSamples, ...walletSamples]) keepToItsRules(sample);

  test("what only operations make: events, credits, receipts", async () => {
    const { admin, reader, outsider } = caller;
    const perform = (path: string, body: object = {}) => answer(admin, "POST", path, body);
    expect((await perform(`/subscriptions/${ids["subscriptions"]}/activate`)).status).toBe(
      "active",
    );
    const event = { transaction_id: "t-1", external_subscription_id: "s-1", code: "calls" };
    const sent = await perform("/events/ingest", { ...event, properties: { n: 2.5 } });
    ids["events"] = sent.event;
    const [enriched] = (await answer(reader, "POST", "/enriched_events/list", {})).hits;
    expect(enriched).toMatchObject({
      event: sent.event,
      decimal_value: 2.5,
      charge: ids["charges"],
    });
    ids["applied_coupons"] = (
      await perform(`/coupons/${ids["coupons"]}/apply`, { customer: ids["customers"] })
    ).applied_coupon;
    const wallet = `/wallets/${ids["wallets"]}`;
    ids["wallet_transactions"] = (await perform(`${wallet}/top_up`, { credits: 10 })).transaction;
    ids["spent"] = (await perform(`${wallet}/debit`, { credits: 4.25 })).transaction;
    const period = { from: "2025-01-01T00:00:00Z", to: "2025-02-01T00:00:00Z" };
    const bill = await perform(`/subscriptions/${ids["subscriptions"]}/bill`, period);
    const invoice = `/invoices/${bill.invoice}`;
    await perform(`${invoice}/finalize`);
    const { hits: fees } = await answer(reader, "POST", "/fees/list", {
      filters: { $values: { invoice: bill.invoice, fee_type: "subscription" } },
    });
    const items = [{ fee: fees[0].id, amount_cents: 100 }];
    const note = await perform("/credit_notes/issue", { invoice: bill.invoice, items });
    ids["credit_notes"] = note.credit_note;
    const paid = await perform(`${invoice}/pay`, { amount_cents: 100, reference: "cash" });
    expect(paid).toMatchObject({ payment_status: "pending", receipt: "CUS-001-RCPT-000001" });
    for (const name of madeByOperations) {
      const { hits } = await answer(reader, "POST", `/${name}/list`, {});
      expect([name, hits.length > 0]).toEqual([name, true]);
      const one = `/${name}/${hits[0].id}`;
      expect((await answer(reader, "GET", one)).id).toBe(hits[0].id);
      expect(refused(await outsider.call("GET", one))).toEqual([403, "core.authorization"]);
      expect((await admin.call("POST", `/${name}`, {})).status).toBe(404);
      expect((await admin.call("DELETE", one)).status).toBe(405);
    }
    for (const name of unseen)
      expect((await admin.call("POST", `/${name}/list`, {})).status).toBe(404);
  });

  for (const sample of laterSamples) keepToItsRules(sample);

  test("secrets are written, and never read", async () => {
    const { admin, reader } = caller;
    for (const name of ["payment_providers", "integrations"]) {
      const path = `/${name}/${ids[name]}/secrets`;
      expect(refused(await reader.call("PUT", path, { secrets: "sk_1" }))).toEqual([
        403,
        "core.authorization",
      ]);
      for (const secrets of ["sk_1", "sk_2"])
        expect((await admin.call("PUT", path, { secrets })).status).toBe(204);
      const read = await answer(admin, "GET", `/${name}/${ids[name]}`);
      expect(read).not.toHaveProperty("secrets");
      const one = `/${name}/${ids[name]}?rev=${read.rev}`;
      expect((await admin.call("PATCH", one, { secrets: "sk_3" })).status).toBe(422);
      const { hits } = await answer(admin, "POST", `/${name}/list`, {});
      expect(JSON.stringify([read, hits])).not.toContain("sk_");
      const guess = { filters: { $values: { secrets: "sk_2" } } };
      expect(refused(await admin.call("POST", `/${name}/list`, guess))).toEqual([
        403,
        "core.authorization",
      ]);
    }
    expect(JSON.stringify(await answer(admin, "GET", "/audit"))).not.toContain("sk_");
  });

  test("what has a code for good goes by it", async () => {
    const { admin, stranger } = caller;
    for (const [name, code] of [
      ["pricing_units", "tok"],
      ["integrations", "xero"],
    ] as const) {
      expect((await answer(admin, "GET", `/${name}/${code}`)).id).toBe(ids[name]);
      expect(refused(await stranger.call("GET", `/${name}/${code}`))).toEqual([
        404,
        "core.not_found",
      ]);
    }
    const integration_item = { item_type: "standard", external_id: "s-1" };
    const item = { integration: "xero", ...integration_item };
    const { integration } = await answer(admin, "POST", "/integration_items", item);
    expect(integration).toBe(ids["integrations"]);
  });

  test("what nothing refers to can be removed, the last one first", async () => {
    const { admin, reader, outsider } = caller;
    const all = [...firstSamples, ...walletSamples, ...laterSamples].toReversed();
    const outcomes: string[] = [];
    for (const sample of all) {
      const one = `/${sample.name}/${ids[sample.name]}`;
      expect((await outsider.call("DELETE", one)).status).toBe(403);
      if (!isOwned(sample) && !isSharedByReaders(sample))
        expect((await reader.call("DELETE", one)).status).toBe(403);
      const { status, body } = await admin.call("DELETE", one);
      const outcome = status === 204 ? "gone" : `${body.code} ${body.context?.document}`;
      const expected = sample.keptBy === undefined ? "gone" : `reference_in_use ${sample.keptBy}`;
      if (outcome !== expected) outcomes.push(`${sample.name}: ${outcome}, not ${expected}`);
    }
    expect(outcomes).toEqual([]);
  });
});

test("no document is forgotten, and none has a warning", () => {
  const text = readFileSync(join(project.root, "generated/registry.json"), "utf8");
  const declared = Object.keys((JSON.parse(text) as { readonly documents: object }).documents);
  const samples = [...firstSamples, ...walletSamples, ...laterSamples].map(({ name }) => name);
  expect(declared.toSorted()).toEqual([...samples, ...madeByOperations, ...unseen].toSorted());
  expect(project.warnings).toEqual([]);
});
