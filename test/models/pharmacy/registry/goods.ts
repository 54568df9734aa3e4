// Goods that come in and move: drafts are filled, and completed once.
import { collection, type ExecutionContext } from "opwright/runtime";
import { receiptItemsSpec } from "../generated/documents/receipt_items.js";
import { receiptsSpec } from "../generated/documents/receipts.js";
import { transferItemsSpec } from "../generated/documents/transfer_items.js";
import { transfersSpec } from "../generated/documents/transfers.js";
import { fail } from "../generated/errors.js";
import type { ReceiptItemsCreateHook } from "../generated/types/receipt_items.js";
import type { ReceiptsCompleteHandler } from "../generated/types/receipts.js";
import type { TransferItemsCreateHook } from "../generated/types/transfer_items.js";
import type {
  TransfersCompleteHandler,
  TransfersCreateHook,
} from "../generated/types/transfers.js";
import { sumOf } from "./money.js";
import { moveStock, stockOf, takeStock } from "./stock.js";

type Named = { readonly id: string };

/** Locks the draft, so that nobody completes it while it changes. */
export async function receiptIsDraft({ id }: Named, context: ExecutionContext): Promise<void> {
  const { status } = await collection(receiptsSpec, context).get(id, { lock: true });
  if (status !== "draft") throw fail("already_completed");
}

export const newItemIsOfDraft: ReceiptItemsCreateHook["tx_before"] = ({ receipt }, context) =>
  receiptIsDraft({ id: receipt }, context);

export async function itemIsOfDraft({ id }: Named, context: ExecutionContext): Promise<void> {
  const { receipt } = await collection(receiptItemsSpec, context).get(id);
  await receiptIsDraft({ id: receipt }, context);
}

export async function transferIsDraft({ id }: Named, context: ExecutionContext): Promise<void> {
  const { status } = await collection(transfersSpec, context).get(id, { lock: true });
  if (status !== "draft") throw fail("already_completed");
}

export const newPieceIsOfDraft: TransferItemsCreateHook["tx_before"] = ({ transfer }, context) =>
  transferIsDraft({ id: transfer }, context);

export async function pieceIsOfDraft({ id }: Named, context: ExecutionContext): Promise<void> {
  const { transfer } = await collection(transferItemsSpec, context).get(id);
  await transferIsDraft({ id: transfer }, context);
}

export const warehousesDiffer: TransfersCreateHook["before"] = ({ source_wh, target_wh }) => {
  if (source_wh.toLowerCase() === target_wh.toLowerCase()) throw fail("same_warehouse");
};

export const completeReceipt: ReceiptsCompleteHandler = async ({ id }, context) => {
  await receiptIsDraft({ id }, context);
  const receipts = collection(receiptsSpec, context);
  const { warehouse, number } = await receipts.get(id);
  const filters = { $values: { receipt: id } };
  const items = await collection(receiptItemsSpec, context).find({
    filters,
    sorts: { drug_lot: "asc" },
  });
  if (items.length === 0) throw fail("nothing_to_do");
  for (const { drug_lot, quantity } of items) {
    const stock = await stockOf(warehouse, drug_lot, context);
    await moveStock(stock, quantity, { kind: "receipt", cause: id }, context);
  }
  const total = sumOf(items.map(({ cost, quantity }) => ({ price: cost, quantity })));
  await receipts.update(id, "any", { status: "completed", total });
  return { number, total };
};

export const completeTransfer: TransfersCompleteHandler = async ({ id }, context) => {
  await transferIsDraft({ id }, context);
  const transfers = collection(transfersSpec, context);
  const { source_wh, target_wh } = await transfers.get(id);
  const filters = { $values: { transfer: id } };
  const items = await collection(transferItemsSpec, context).find({
    filters,
    sorts: { drug_lot: "asc" },
  });
  if (items.length === 0) throw fail("nothing_to_do");
  for (const { drug_lot, quantity } of items) {
    const [source, target] = [
      await stockOf(source_wh, drug_lot, context),
      await stockOf(target_wh, drug_lot, context),
    ];
    await takeStock(source, quantity, { kind: "transfer_out", cause: id }, context);
    await moveStock(target, quantity, { kind: "transfer_in", cause: id }, context);
  }
  await transfers.update(id, "any", { status: "completed" });
};
