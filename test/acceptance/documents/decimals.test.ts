// Decimals, such as sums of money: what they can be, and that nothing is lost when they are added, on both engines.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
types:
  Money: {decimal: 2}
  Line: {name: string, price: Money}
documents:
  bills:
    type: {shop: string, total: Money, tip: Money?, rate: {decimal: 4, minimum: 0, maximum: 1}, wide: {type: [number, "null"], decimal: 1, maximum: 1.0e+20}, whole: {type: [number, "null"], decimal: 0}, lines: "Line[]", sum: Money}
    guard: open
    tenant: false
    bulk: {max: 1000}
    set: {sum: {$sum: ["lines[].price", tip]}}
  invoices:
    type: {lines: "Line[]", net: Money, tax: Money, count: integer, total: Money, note: string?}
    guard: open
    tenant: false
    set:
      total: {$sum: [net, tax]}
      net: {$sum: "lines[].price", on: create}
      tax: registry/tax.ts#tax
      count: {$count: lines}
`,
};

const tax = `export const tax = ({ lines, ...others }) => {
  if (Object.keys(others).join() !== "note") throw new Error(Object.keys(others).join());
  return Math.round(lines.reduce((sum, { price }) => sum + price * 19, 0)) / 100;
};
`;

const project = onEachEngine({ ...files, "registry/tax.ts": tax }, ({ service }) => {
  const bill = (total: number, more: object = {}) => ({
    shop: "a",
    total,
    rate: 0.5,
    lines: [],
    ...more,
  });

  test("a decimal has its places, and as many digits as a double keeps", async () => {
    for (const total of [0, 0.1, -12.34, 1.1e2, 9_999_999_999_999.99, -9_999_999_999_999.99])
      expect((await service.post("/bills", bill(total))).body.total).toBe(total);
    for (const total of [0.001, 1.005, 1e13, 10_000_000_000_000.01, "1.00"])
      expect((await service.post("/bills", bill(total as number))).status, `${total}`).toBe(422);
    for (const [rate, status] of [
      [0.1234, 201],
      [1, 201],
      [0.12345, 422],
      [1.0001, 422],
      [-0.1, 422],
    ] as const)
      expect((await service.post("/bills", bill(1, { rate }))).status, `${rate}`).toBe(status);
    for (const [wide, status] of [
      [99_999_999_999_999.9, 201],
      [1e15, 422],
      [0.15, 422],
    ] as const)
      expect((await service.post("/bills", bill(1, { wide }))).status).toBe(status);
    for (const [whole, status] of [
      [3, 201],
      [null, 201],
      [3.5, 422],
    ] as const)
      expect((await service.post("/bills", bill(1, { whole }))).status).toBe(status);
  });

  test("sums are made of sums, and of what stays as it was", async () => {
    const lines = [5, 7.5].map((price) => ({ name: "x", price }));
    const made = await service.post("/invoices", { lines });
    expect(made.body).toMatchObject({ net: 12.5, tax: 2.38, total: 14.88, count: 2 });
    const changed = await service.call("PATCH", `/invoices/${made.body.id}?rev=1`, {
      body: { lines: [] },
    });
    expect(changed.body.data).toMatchObject({ net: 12.5, tax: 0, total: 12.5, count: 0 });
  });

  test("sums lose nothing: of documents, of lines, in groups", async () => {
    const cents = Array.from({ length: 999 }, (_, at) => (at * 7919) % 100_000);
    const items = cents.map((cent) => bill(cent / 100, { shop: "sums", tip: 0.1 }));
    expect((await service.post("/bills/create_many", { items })).body.done).toBe(999);
    const { body } = await service.post("/bills/agg_list", {
      filters: { $values: { shop: "sums" } },
      aggregates: {
        $computed: { total: { $sum: "total" }, tip: { $sum: "tip" }, rate: { $sum: "rate" } },
      },
    });
    const total = cents.reduce((sum, cent) => sum + cent, 0) / 100;
    expect(body.hits).toEqual([{ total, tip: 99.9, rate: 499.5 }]);
    const three = [0.1, 0.2, 0].map((value) => bill(value, { shop: "three" }));
    await service.post("/bills/create_many", { items: three });
    const small = await service.post("/bills/agg_list", {
      filters: { $values: { shop: "three" } },
      aggregates: { $computed: { total: { $sum: "total" }, tip: { $sum: "tip" } } },
    });
    expect(small.body.hits).toEqual([{ total: 0.3, tip: null }]);
    const lines = [0.1, 0.2, 0.7].map((price) => ({ name: "x", price }));
    const made = await service.post("/bills", bill(1, { lines, tip: 0.01 }));
    expect(made.body.sum).toBe(1.01);
    const found = await service.post("/bills/list", {
      filters: { $values: { sum: 1.01, total: { $gte: 1 } } },
    });
    expect(found.body.count).toBe(1);
  });
});

test("documents say it with keywords that everybody knows", () => {
  const openapi = JSON.parse(readFileSync(join(project.root, "generated/openapi.json"), "utf8"));
  expect(openapi.components.schemas.Money).toEqual({
    type: "number",
    multipleOf: 0.01,
    minimum: -9_999_999_999_999.99,
    maximum: 9_999_999_999_999.99,
  });
});
