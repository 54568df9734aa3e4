// A pharmacy: who writes what, and how goods come in, move and go.
import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { compile } from "../generator/compile.js";
import { onEachEngine } from "../support/on-each-engine.js";
import type { Somebody } from "../support/people.js";
import { checkAccess, failed, forbidden } from "./access.js";
import { modelFiles } from "./model.js";
import { day, named, openShop, year } from "./pharmacy/shop.js";

const project = onEachEngine(modelFiles("pharmacy"), ({ engine, service, people }) => {
  const { staff, warehouseOf, drugOf, lotOf, stocked, stockOf, leftOf, sell } = openShop({
    people,
  });

  test("each document is made, read, listed, changed and removed by those who may", async () => {
    const [manager, pharmacist, cashier] = [
      await staff("manager"),
      await staff("pharmacist"),
      await staff("cashier"),
    ];
    const boss = await staff("super_admin");
    const [one, two] = [await warehouseOf(manager), await warehouseOf(manager)];
    const supplier = await manager.make("suppliers", { name: named("Pharma"), email: "a@b.test" });
    const drug = await drugOf(manager);
    const lot = await lotOf(manager, drug);
    const receipt = await manager.make("receipts", { warehouse: one, supplier });
    const transfer = await manager.make("transfers", { source_wh: one, target_wh: two });
    const customer = await cashier.make("customers", { name: "Ann", phone: `+49 ${Date.now()}` });
    const issued = { customer, prescriber: "Dr. Roe", issued_on: day() };
    const prescription = await pharmacist.make("prescriptions", issued);
    await checkAccess([
      {
        path: "warehouses",
        body: { name: named("Annex"), location: "Shiraz" },
        patch: { is_active: false },
        writer: manager,
        other: cashier,
        remover: boss,
      },
      {
        path: "suppliers",
        body: { name: named("Chem"), phone: "+49 1" },
        patch: { address: "Quay 1" },
        writer: manager,
        other: pharmacist,
        remover: boss,
      },
      {
        path: "drugs",
        body: { name: named("Ibuprofen"), price: 0.1, package_type: "blister" },
        patch: { price: 7.35 },
        writer: manager,
        other: cashier,
        remover: boss,
      },
      {
        path: "drug_lots",
        body: { drug, lot_number: named("L"), expire_date: day(30), supplier },
        patch: { expire_date: day(31) },
        writer: manager,
        other: pharmacist,
        remover: boss,
      },
      {
        path: "receipts",
        body: { warehouse: one, document_date: day() },
        patch: { notes: "two boxes" },
        writer: manager,
        other: cashier,
        unread: forbidden,
      },
      {
        path: "receipt_items",
        body: { receipt, drug_lot: lot, quantity: 3, cost: 1.5 },
        patch: { quantity: 4 },
        writer: manager,
        other: pharmacist,
        unread: forbidden,
      },
      {
        path: "transfers",
        body: { source_wh: two, target_wh: one },
        patch: { notes: "by van" },
        writer: manager,
        other: cashier,
        unread: forbidden,
      },
      {
        path: "transfer_items",
        body: { transfer, drug_lot: lot, quantity: 2 },
        patch: { quantity: 1 },
        writer: manager,
        other: cashier,
        unread: forbidden,
      },
      {
        path: "customers",
        body: { name: "Bob", born_on: "1980-02-29", email: "bob@example.test" },
        patch: { phone: `+49 1${Date.now()}` },
        writer: cashier,
        other: people.by("no token"),
        refusal: [401, "core.authentication"],
        unread: [401, "core.authentication"],
        remover: boss,
      },
      {
        path: "prescriptions",
        body: issued,
        patch: { notes: "with water" },
        writer: pharmacist,
        other: cashier,
        remover: boss,
      },
      {
        path: "prescription_items",
        body: { prescription, drug, dosage: "1-1-1", quantity: 6 },
        patch: { dosage: "0-0-1" },
        writer: pharmacist,
        other: cashier,
      },
    ]);
  });

  test("what only operations write has no routes to write it", async () => {
    const { manager, warehouse, lot, drug, cashier } = await stocked(3);
    const sale = (await sell(cashier, warehouse, drug)).body.id;
    const stock = (await stockOf(manager, warehouse, lot)).id;
    const filters = { $values: { sale } };
    const [item] = (await cashier.call("POST", "/sale_items/list", { filters })).body.hits;
    const moves = await manager.call("POST", "/stock_moves/list", {
      filters: { $values: { inventory: stock } },
      sorts: { created_at: "asc" },
      expand: ["inventory.drug"],
    });
    expect(moves.body.hits).toMatchObject([
      { kind: "receipt", change: 3, by: manager.id },
      { kind: "sale", change: -1, cause: sale, by: cashier.id },
    ]);
    expect(moves.body.hits[0].expanded.inventory.expanded.drug.id).toBe(drug);
    expect(failed(await cashier.call("POST", "/stock_moves/list", {}))).toEqual(forbidden);
    for (const [path, id] of [
      ["inventory", stock],
      ["sales", sale],
      ["sale_items", item.id],
      ["stock_moves", moves.body.hits[0].id],
    ] as const) {
      const boss = await staff("super_admin");
      expect((await boss.call("GET", `/${path}/${id}`)).status).toBe(200);
      for (const method of ["PATCH", "DELETE"])
        expect(failed(await boss.call(method, `/${path}/${id}?rev=1`, {}))).toEqual([
          405,
          "method_not_allowed",
        ]);
    }
    const refused = await manager.call("POST", "/drugs", { name: named("X"), price: 1.005 });
    expect(failed(refused)).toEqual([422, "core.validation"]);
    const smuggled = { warehouse, status: "completed" };
    expect(failed(await manager.call("POST", "/receipts", smuggled))).toEqual([
      422,
      "core.validation",
    ]);
    const priced = { warehouse, items: [{ drug, quantity: 1, unit_price: 0 }] };
    expect(failed(await cashier.call("POST", "/sales", priced))).toEqual([422, "core.validation"]);
  });

  test("a receipt is completed once, and then nothing of it changes", async () => {
    const manager = await staff("manager");
    const warehouse = await warehouseOf(manager);
    const lot = await lotOf(manager, await drugOf(manager));
    const receipt = await manager.make("receipts", { warehouse });
    const complete = () => manager.call("POST", `/receipts/${receipt}/complete`);
    expect(failed(await complete())).toEqual([400, "nothing_to_do"]);
    const line = { receipt, drug_lot: lot, quantity: 10, cost: 0.07 };
    const item = await manager.make("receipt_items", line);
    const twice = await manager.call("POST", "/receipt_items", line);
    expect(failed(twice)).toEqual([409, "unique_violation"]);
    const both = await Promise.all([complete(), complete()]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const done = both.find(({ status }) => status === 200)?.body;
    expect(done).toEqual({ number: expect.stringMatching(`^R-${year}-\\d{4}$`), total: 0.7 });
    expect((await manager.call("GET", `/receipts/${done?.number}`)).body.id).toBe(receipt);
    expect(await leftOf(manager, warehouse, lot)).toBe(10);
    const further = await lotOf(manager, await drugOf(manager));
    for (const [method, path, body] of [
      ["POST", "/receipt_items", { ...line, drug_lot: further }],
      ["PATCH", `/receipt_items/${item}?rev=1`, { quantity: 99 }],
      ["DELETE", `/receipt_items/${item}`, undefined],
      ["PATCH", `/receipts/${receipt}?rev=2`, { notes: "late" }],
      ["DELETE", `/receipts/${receipt}`, undefined],
    ] as const)
      expect([path, ...failed(await manager.call(method, path, body))]).toEqual([
        path,
        409,
        "already_completed",
      ]);
    const held = await manager.call("POST", `/drug_lots/${lot}/delete?rev=1`);
    expect(failed(held)).toEqual([409, "reference_in_use"]);
  });

  test("goods move between warehouses, no more than there are", async () => {
    const { manager, warehouse, lot, drug, cashier } = await stocked(4);
    const target = await warehouseOf(manager);
    const same = { source_wh: target, target_wh: target.toUpperCase() };
    expect(failed(await manager.call("POST", "/transfers", same))).toEqual([400, "same_warehouse"]);
    const move = async (quantity: number) => {
      const transfer = await manager.make("transfers", { source_wh: warehouse, target_wh: target });
      await manager.make("transfer_items", { transfer, drug_lot: lot, quantity });
      return { transfer, ...(await manager.call("POST", `/transfers/${transfer}/complete`)) };
    };
    const tooMuch = await move(5);
    expect([...failed(tooMuch), tooMuch.body.context]).toEqual([
      409,
      "out_of_stock",
      { drug, left: 4 },
    ]);
    const { status, transfer } = await move(3);
    expect(status).toBe(204);
    const again = await manager.call("POST", `/transfers/${transfer}/complete`);
    expect(failed(again)).toEqual([409, "already_completed"]);
    expect([await leftOf(manager, warehouse, lot), await leftOf(manager, target, lot)]).toEqual([
      1, 3,
    ]);
    const groups = await cashier.call("POST", "/inventory/agg_list", {
      aggregates: { $groups: { drug: "drug" }, $computed: { left: { $sum: "quantity" } } },
      filters: { $values: { drug } },
    });
    expect(groups.body.hits).toEqual([{ drug, left: 4 }]);
  });

  test("a manager takes a sale back once, and the trail says who", async () => {
    const { manager, warehouse, lot, drug, cashier } = await stocked(2);
    const { id, number } = (await sell(cashier, warehouse, drug, 2)).body;
    const back = (by: Somebody) => by.call("POST", `/sales/${id}/refund`, { reason: "damaged" });
    expect(failed(await back(cashier))).toEqual(forbidden);
    const both = await Promise.all([back(manager), back(manager)]);
    expect(both.map(({ status }) => status).sort()).toEqual([204, 409]);
    expect(await leftOf(manager, warehouse, lot)).toBe(2);
    const sale = (await cashier.call("GET", `/sales/${number}?expand=warehouse`)).body;
    expect(sale.id).toBe(id);
    expect(sale).toMatchObject({
      status: "refunded",
      refund_reason: "damaged",
      seller: cashier.id,
    });
    const trail = await manager.call("GET", `/audit?resource=sales&resource_id=${id}`);
    expect(
      trail.body.entries.map(
        ({ operation, change, principal_id }: Readonly<Record<string, string>>) => [
          operation,
          change,
          principal_id,
        ],
      ),
    ).toEqual([
      ["sales.refund", "update", manager.id],
      ["sales.sell", "create", cashier.id],
    ]);
    expect(failed(await cashier.call("GET", "/audit"))).toEqual(forbidden);
  });

  test("a customer who asks is forgotten, and their sales stay", async () => {
    const { manager, warehouse, drug, cashier } = await stocked(1);
    const phone = `+49 ${Date.now()}`;
    const customer = await cashier.make("customers", { name: "Ann", phone });
    const { id } = (await sell(cashier, warehouse, drug, 1, { customer })).body;
    // Of what a pharmacist has asked, cashiers and managers see nothing.
    const [pharmacist, at] = [await staff("pharmacist"), `/customers/${customer}`];
    const allergies = named("penicillin");
    expect(failed(await cashier.call("PATCH", `${at}?rev=1`, { allergies }))).toEqual(forbidden);
    const asked = await pharmacist.call("PATCH", `${at}?rev=1`, { allergies });
    expect(asked.body.data).toMatchObject({ allergies, name: "Ann" });
    for (const by of [cashier, manager]) {
      const seen = await by.call("GET", at);
      expect([seen.body.name, "allergies" in seen.body]).toEqual(["Ann", false]);
      const filters = { $values: { allergies } };
      expect(failed(await by.call("POST", "/customers/list", { filters }))).toEqual(forbidden);
    }
    const forget = (by: Somebody) => by.call("POST", `/customers/${customer}/forget`);
    expect(failed(await forget(cashier))).toEqual(forbidden);
    expect((await forget(manager)).status).toBe(204);
    const sale = await cashier.call("GET", `/sales/${id}?expand=customer`);
    expect(sale.body.expanded.customer).toMatchObject({ name: null, phone: null });
    const { hits } = (await manager.call("GET", `/customers/${customer}/revisions`)).body;
    expect(hits).toHaveLength(1);
    expect(JSON.stringify(hits)).not.toContain(phone);
    expect((await pharmacist.call("GET", at)).body.allergies).toBeNull();
    const boss = await staff("super_admin");
    expect((await boss.call("DELETE", `/customers/${customer}`)).status).toBe(204);
    expect((await cashier.call("GET", `/sales/${id}`)).body.customer).toBeNull();
  });

  test("drugs are found by their parts, and shown by small pictures alone", async () => {
    const manager = await staff("manager");
    const word = `q${randomUUID().slice(0, 8)}`;
    const drug = await drugOf(manager, {
      generic_name: `Paracetamol ${word}`,
      package_type: "tube",
    });
    const cashier = await staff("cashier");
    const body = { query: word, options: { facets: ["package_type"] } };
    const found = await cashier.call("POST", "/search/drugs/typed", body);
    expect(found.body.hits.map((hit: { id: string }) => hit.id)).toEqual([drug]);
    const { access_token } = await people.session((await people.person("role:manager")).id, null);
    const upload = async (bytes: Uint8Array<ArrayBuffer>, name: string, token = access_token) => {
      const form = new FormData();
      form.set("file", new Blob([bytes]), name);
      const headers = { authorization: `Bearer ${token}` };
      return service.call("POST", "/files", { body: form, headers });
    };
    const png = Buffer.from("89504e470d0a1a0a0000000d4948445200000001000000010802000000", "hex");
    const stored = await upload(new Uint8Array(png), "a.png");
    expect(stored.status).toBe(201);
    const shown = await manager.call("PATCH", `/drugs/${drug}?rev=1`, { image: stored.body.key });
    expect(shown.body.data.image).toBe(stored.body.key);
    const text = new TextEncoder().encode("<html></html>");
    expect(failed(await upload(text, "a.png"))).toEqual([415, "upload_type_unsupported"]);
    const large = new Uint8Array(600 * 1024);
    large.set(png);
    expect(failed(await upload(large, "a.png"))).toEqual([413, "upload_too_large"]);
    const token = (await people.session((await people.person("role:cashier")).id, null))
      .access_token;
    expect(failed(await upload(new Uint8Array(png), "a.png", token))).toEqual(forbidden);
  });

  test("each morning, lots that expire soon are told of, once", async () => {
    const { testService } = await project.load("generated/testing.ts");
    const server = process.env["OPWRIGHT_TEST_POSTGRES"];
    const database = engine.name === "postgres" ? { database: server } : {};
    const app = await testService({ clock: "2026-06-01T00:00:00Z", ...database });
    onTestFinished(() => app.close());
    const manager = await app.as("ann", { permissions: ["role:manager"] });
    const api = await project.load("generated/client/index.ts");
    const warehouse = (await api.warehouses.create(manager, { name: "Main" })).id;
    const drug = (await api.drugs.create(manager, { name: "Aspirin", price: 5 })).id;
    const receipt = (await api.receipts.create(manager, { warehouse })).id;
    const lots: string[] = [];
    for (const expire_date of ["2026-06-20", "2027-01-01"]) {
      const made = await api.drugLots.create(manager, {
        drug,
        lot_number: expire_date,
        expire_date,
      });
      const item = { receipt, drug_lot: made.id, quantity: 8, cost: 1 };
      await api.receiptItems.create(manager, item);
      lots.push(made.id);
    }
    await api.receipts.complete(manager, { id: receipt });
    for (const at of ["2026-06-02T03:00:00Z", "2026-06-03T03:00:00Z"]) {
      await app.clock.set(at);
      await app.jobs.done();
    }
    expect(
      app.outbox.map(({ name, data }: { name: string; data: object }) => [name, data]),
    ).toEqual([["lots.expiring", { lot: lots[0], drug, expire_date: "2026-06-20", quantity: 8 }]]);
  });
});

test("the project compiles under the strict flags, and nothing is to report", () => {
  compile(project.root);
  expect(project.warnings).toEqual([]);
});
