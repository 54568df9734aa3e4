// Sales of a pharmacy: stock is never sold twice, numbers have no gaps, money is exact.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { onEachEngine } from "../support/on-each-engine.js";
import { failed, forbidden } from "./access.js";
import { modelFiles } from "./model.js";
import { day, openShop, year } from "./pharmacy/shop.js";

interface Sold {
  readonly quantity: number;
  readonly expanded: { readonly inventory: { readonly drug_lot: string } };
}

onEachEngine(modelFiles("pharmacy"), ({ service, people }) => {
  const { staff, drugOf, lotOf, receive, stocked, stockOf, leftOf, sell, prescribe } = openShop({
    people,
  });

  test("two sellers sell the last pack, and one of them gets a conflict", async () => {
    const { manager, warehouse, lot, drug, cashier } = await stocked(1);
    const sellers = [cashier, await staff("pharmacist"), await staff("cashier")];
    const answers = await Promise.all(sellers.map((by) => sell(by, warehouse, drug)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    for (const { status, body } of answers)
      if (status === 409)
        expect([body.code, body.context]).toEqual(["out_of_stock", { drug, left: 0 }]);
    expect(await leftOf(manager, warehouse, lot)).toBe(0);
  });

  test("many sell at once: nothing twice, and numbers without gaps", async () => {
    const { manager, warehouse, drug, cashier } = await stocked(7);
    const other = await drugOf(manager);
    const more = await lotOf(manager, other);
    await receive(manager, warehouse, more, 7);
    // Two drugs in either order: whoever is refused has taken a number of neither.
    const both = [drug, other].map((drug) => ({ drug, quantity: 1 }));
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        cashier.call("POST", "/sales", { warehouse, items: at % 2 ? both.toReversed() : both }),
      ),
    );
    const sold = answers.filter(({ status }) => status === 201);
    expect([sold.length, answers.filter(({ status }) => status === 409).length]).toEqual([7, 5]);
    const numbers = sold.map(({ body }) => Number(body.number.slice(-6))).sort((a, b) => a - b);
    const [first = 0] = numbers;
    expect(numbers).toEqual(Array.from({ length: 7 }, (_, at) => first + at));
    expect(sold[0]?.body.number).toMatch(new RegExp(`^S-${year}-\\d{6}$`));
    expect(await leftOf(manager, warehouse, more)).toBe(0);
    const late = await sell(cashier, warehouse, drug);
    expect(failed(late)).toEqual([409, "out_of_stock"]);
    await receive(manager, warehouse, more, 1);
    const next = await sell(cashier, warehouse, other);
    expect(Number(next.body.number.slice(-6))).toBe(first + 7);
  });

  test("what expires first is sold first, and nothing that has expired", async () => {
    const { manager, warehouse, lot: late, drug, cashier } = await stocked(5);
    const [soon, gone] = [await lotOf(manager, drug, day(20)), await lotOf(manager, drug, day(-1))];
    await receive(manager, warehouse, soon, 2);
    await receive(manager, warehouse, gone, 9);
    const { status, body } = await sell(cashier, warehouse, drug, 3);
    expect([status, body.total]).toEqual([201, 14.97]);
    const items = await cashier.call("POST", "/sale_items/list", {
      filters: { $values: { sale: body.id } },
      expand: ["inventory.drug_lot"],
    });
    expect(
      items.body.hits.map(({ quantity, expanded }: Sold) => [
        expanded.inventory.drug_lot,
        quantity,
      ]),
    ).toEqual([
      [soon, 2],
      [late, 1],
    ]);
    const tooMany = await sell(cashier, warehouse, drug, 5);
    expect([...failed(tooMany), tooMany.body.context.left]).toEqual([409, "out_of_stock", 4]);
    expect(await leftOf(manager, warehouse, late)).toBe(4);
    expect(await leftOf(manager, warehouse, gone)).toBe(9);
    const expired = (await stockOf(manager, warehouse, gone)).id;
    const path = `/inventory/${expired}/write_off`;
    const most = await manager.call("POST", path, { quantity: 10, reason: "expired" });
    expect(failed(most)).toEqual([409, "out_of_stock"]);
    expect(failed(await cashier.call("POST", path, { quantity: 9, reason: "x" }))).toEqual(
      forbidden,
    );
    const off = await manager.call("POST", path, { quantity: 9, reason: "expired" });
    expect([off.status, off.body]).toEqual([200, { quantity: 0 }]);
  });

  test("a drug on prescription goes to whom it was prescribed, and no more of it", async () => {
    const { warehouse, drug, cashier } = await stocked(10, { prescription_only: true });
    expect(failed(await sell(cashier, warehouse, drug))).toEqual([400, "prescription_needed"]);
    const { pharmacist, customer, prescription, item } = await prescribe(drug, 3);
    const by = { prescription, customer };
    expect((await sell(cashier, warehouse, drug, 2, by)).status).toBe(201);
    expect(failed(await sell(cashier, warehouse, drug, 2, by))).toEqual([
      400,
      "prescription_needed",
    ]);
    const dispensed = async () => [
      (await pharmacist.call("GET", `/prescription_items/${item}`)).body.dispensed,
      (await pharmacist.call("GET", `/prescriptions/${prescription}`)).body.status,
    ];
    expect(await dispensed()).toEqual([2, "open"]);
    const two = await Promise.all([1, 1].map((one) => sell(cashier, warehouse, drug, one, by)));
    expect(two.map(({ status }) => status).sort()).toEqual([201, 400]);
    expect(await dispensed()).toEqual([3, "dispensed"]);
    const over = await pharmacist.call("POST", `/prescriptions/${prescription}/cancel`);
    expect([...failed(over), over.body.context]).toEqual([
      409,
      "transition_not_allowed",
      { field: "status", from: "dispensed", to: "cancelled", allowed: [] },
    ]);
    const stale = await prescribe(drug, 3, { issued_on: day(-31) });
    const late = await sell(cashier, warehouse, drug, 1, { prescription: stale.prescription });
    expect(failed(late)).toEqual([400, "prescription_needed"]);
    const cancelled = await prescribe(drug, 3);
    const path = `/prescriptions/${cancelled.prescription}/cancel`;
    expect(failed(await cashier.call("POST", path))).toEqual(forbidden);
    expect((await cancelled.pharmacist.call("POST", path)).status).toBe(204);
    const lost = await sell(cashier, warehouse, drug, 1, { prescription: cancelled.prescription });
    expect(failed(lost)).toEqual([400, "prescription_needed"]);
  });

  test("money is exact, and old sales keep their prices", async () => {
    const { manager, warehouse, drug, cashier } = await stocked(100, { price: 0.1 });
    const other = await drugOf(manager, { price: 1.15 });
    await receive(manager, warehouse, await lotOf(manager, other), 100);
    const items = [
      { drug, quantity: 3 },
      { drug: other, quantity: 33 },
    ];
    const sold = await cashier.call("POST", "/sales", { warehouse, items });
    expect([sold.status, sold.body.total]).toEqual([201, 38.25]);
    const { rev } = (await manager.call("GET", `/drugs/${drug}`)).body;
    await manager.call("PATCH", `/drugs/${drug}?rev=${rev}`, { price: 9.99 });
    const lines = await cashier.call("POST", "/sale_items/agg_list", {
      aggregates: {
        $groups: { drug: "drug" },
        $computed: { amount: { $sum: "amount" }, price: { $max: "unit_price" } },
      },
      filters: { $values: { sale: sold.body.id } },
      sorts: { amount: "asc" },
    });
    expect(lines.body.hits).toEqual([
      { drug, amount: 0.3, price: 0.1 },
      { drug: other, amount: 37.95, price: 1.15 },
    ]);
    const history = await manager.call("GET", `/drugs/${drug}/revisions`);
    expect(history.body.hits).toHaveLength(2);
  });

  test("a request that comes again sells once", async () => {
    const { manager, warehouse, lot, drug, cashier } = await stocked(5);
    const { access_token } = await people.session(cashier.id, null);
    const headers = { authorization: `Bearer ${access_token}`, "idempotency-key": randomUUID() };
    const body = { warehouse, items: [{ drug, quantity: 2 }] };
    const first = await service.call("POST", "/sales", { body, headers });
    const again = await service.call("POST", "/sales", { body, headers });
    expect([first.status, again.status, again.body]).toEqual([201, 201, first.body]);
    expect(await leftOf(manager, warehouse, lot)).toBe(3);
    const lost = await sell(cashier, warehouse, drug, 1, { customer: randomUUID() });
    expect([...failed(lost), lost.body.context.errors[0].path]).toEqual([
      422,
      "core.validation",
      "/customer",
    ]);
    expect(await leftOf(manager, warehouse, lot)).toBe(3);
  });
});
