// Sales: what expires first is sold first, nothing twice, and nothing that has expired.
import { collection, type ExecutionContext } from "opwright/runtime";
import { customersSpec } from "../generated/documents/customers.js";
import { drugsSpec } from "../generated/documents/drugs.js";
import { inventorySpec } from "../generated/documents/inventory.js";
import { saleItemsSpec } from "../generated/documents/sale_items.js";
import { salesSpec } from "../generated/documents/sales.js";
import { stockMovesSpec } from "../generated/documents/stock_moves.js";
import { fail } from "../generated/errors.js";
import type { CustomersForgetHandler } from "../generated/types/customers.js";
import type { SalesRefundHandler, SalesSellHandler } from "../generated/types/sales.js";
import { priceOf, sumOf } from "./money.js";
import { dateOf, dispense, finish } from "./prescriptions.js";
import { moveStock } from "./stock.js";

interface Line {
  readonly drug: string;
  readonly quantity: number;
}

export const sell: SalesSellHandler = async ({ items, ...sale }, context) => {
  const { warehouse, prescription = null } = sale;
  const taken = [];
  // In one order, so that two sales don't wait for each other.
  for (const line of items.toSorted((one, other) => (one.drug < other.drug ? -1 : 1))) {
    const drug = await collection(drugsSpec, context).get(line.drug);
    if (!drug.is_active) throw fail("out_of_stock", { drug: drug.id, left: 0 });
    if (drug.prescription_only) await dispense(prescription, line, context);
    for (const part of await pick(warehouse, line, context))
      taken.push({ ...part, drug: drug.id, price: drug.price });
  }
  if (prescription !== null) await finish(prescription, context);
  const total = sumOf(taken);
  const { id, number } = await collection(salesSpec, context).create({ ...sale, total });
  for (const { inventory, drug, quantity, price } of taken) {
    const amount = priceOf(price, quantity);
    const item = { sale: id, inventory, drug, quantity, unit_price: price, amount };
    await collection(saleItemsSpec, context).create(item);
    const move = { inventory, kind: "sale" as const, change: -quantity, cause: id };
    await collection(stockMovesSpec, context).create(move);
  }
  return { id, number, total };
};

/** Takes so much of a drug from the lots of a warehouse. Others wait for those until the sale ends. */
async function pick(warehouse: string, { drug, quantity }: Line, context: ExecutionContext) {
  const inventory = collection(inventorySpec, context);
  const good = { "drug_lot.expire_date": { $gt: dateOf(context.clock.now()) } };
  const lots = await inventory.find({
    filters: { $values: { warehouse, drug, quantity: { $gt: 0 }, ...good } },
    sorts: { "drug_lot.expire_date": "asc" },
  });
  const picked: { readonly inventory: string; readonly quantity: number }[] = [];
  let open = quantity;
  for (const { id } of lots) {
    if (open === 0) break;
    const { quantity: left } = await inventory.get(id, { lock: true });
    const taking = Math.min(left, open);
    if (taking === 0) continue;
    await inventory.increment(id, { quantity: -taking });
    picked.push({ inventory: id, quantity: taking });
    open -= taking;
  }
  if (open > 0) throw fail("out_of_stock", { drug, left: quantity - open });
  return picked;
}

export const refund: SalesRefundHandler = async ({ id, reason }, context) => {
  const sales = collection(salesSpec, context);
  const { status, rev } = await sales.get(id, { lock: true });
  if (status === "refunded") throw fail("already_completed");
  await sales.update(id, rev, { status: "refunded", refund_reason: reason });
  const filters = { $values: { sale: id } };
  const items = await collection(saleItemsSpec, context).find({
    filters,
    sorts: { inventory: "asc" },
  });
  for (const { inventory, quantity } of items)
    await moveStock(inventory, quantity, { kind: "refund", cause: id, reason }, context);
};

/** Customers are no callers of ours, so what tells of them goes by hand, earlier revisions too. */
export const forget: CustomersForgetHandler = async ({ id }, context) => {
  const customers = collection(customersSpec, context);
  const nothing = { name: null, phone: null, email: null, born_on: null, allergies: null };
  await customers.update(id, "any", nothing);
  await customers.purgeRevisions(id);
};
