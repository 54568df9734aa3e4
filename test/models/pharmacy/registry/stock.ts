// How much of a lot lies in a warehouse, and the ledger of what has changed that.
import { collection, ServiceError, type ExecutionContext } from "opwright/runtime";
import { drugLotsSpec } from "../generated/documents/drug_lots.js";
import { inventorySpec } from "../generated/documents/inventory.js";
import { stockMovesSpec } from "../generated/documents/stock_moves.js";
import { fail } from "../generated/errors.js";
import type { InventoryWriteOffHandler } from "../generated/types/inventory.js";
import type { StockMovesDocument } from "../generated/types/models.js";

/** Why stock changes: what for, and by which document. */
export interface Why {
  readonly kind: StockMovesDocument["kind"];
  readonly cause?: string;
  readonly reason?: string;
}

/** Adds to what there is, or takes away. Whoever takes has locked the stock and knows it suffices. */
export async function moveStock(
  id: string,
  change: number,
  why: Why,
  context: ExecutionContext,
): Promise<number> {
  const { quantity } = await collection(inventorySpec, context).increment(id, { quantity: change });
  await collection(stockMovesSpec, context).create({ inventory: id, change, ...why });
  return quantity;
}

/** Takes exactly so many, or refuses. */
export async function takeStock(
  id: string,
  quantity: number,
  why: Why,
  context: ExecutionContext,
): Promise<number> {
  const { drug, quantity: left } = await collection(inventorySpec, context).get(id, { lock: true });
  if (left < quantity) throw fail("out_of_stock", { drug, left });
  return moveStock(id, -quantity, why, context);
}

/** The stock of a lot in a warehouse; at first there is none of it. */
export async function stockOf(
  warehouse: string,
  drug_lot: string,
  context: ExecutionContext,
): Promise<string> {
  const inventory = collection(inventorySpec, context);
  const query = { filters: { $values: { warehouse, drug_lot } } };
  const known = await inventory.first(query);
  if (known !== null) return known.id;
  const { drug } = await collection(drugLotsSpec, context).get(drug_lot);
  try {
    return (await inventory.create({ warehouse, drug_lot, drug, quantity: 0 })).id;
  } catch (error) {
    const there = await inventory.first(query);
    if (there === null || !(error instanceof ServiceError)) throw error;
    return there.id;
  }
}

export const writeOff: InventoryWriteOffHandler = async ({ id, quantity, reason }, context) => ({
  quantity: await takeStock(id, quantity, { kind: "write_off", reason }, context),
});
