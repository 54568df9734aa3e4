// Credits come and go by `increment`, so no addition is lost and no balance falls below zero.
import { collection, ServiceError, type ExecutionContext } from "opwright/runtime";
import { walletTransactionsSpec } from "../generated/documents/wallet_transactions.js";
import { walletsSpec } from "../generated/documents/wallets.js";
import { fail } from "../generated/errors.js";
import type { WalletsExpireJob } from "../generated/jobs.js";
import { stageEvent } from "../generated/outbox.js";
import type { WalletsDebitHandler, WalletsTopUpHandler } from "../generated/types/wallets.js";
import { nowOf } from "./subscriptions.js";

const centsOf = (credits: number, rate: number): number => Math.round(credits * rate * 100);

/** The wallet, as long as it is active. */
async function openWallet(context: ExecutionContext, id: string) {
  const wallet = await collection(walletsSpec, context).get(id);
  if (wallet.status !== "active") throw fail("wallet_closed");
  return wallet;
}

export const topUpWallet: WalletsTopUpHandler = async ({ id, credits, is_granted }, context) => {
  const { rate_amount: rate } = await openWallet(context, id);
  const cents = centsOf(credits, rate);
  const { credits_balance } = await collection(walletsSpec, context).increment(id, {
    credits_balance: credits,
    balance_cents: cents,
  });
  const transaction = await collection(walletTransactionsSpec, context).create({
    wallet: id,
    transaction_type: "inbound",
    transaction_status: is_granted ? "granted" : "purchased",
    status: "settled",
    amount: cents / 100,
    credit_amount: credits,
    remaining_amount_cents: cents,
    settled_at: nowOf(context),
  });
  return { transaction: transaction.id, credits_balance };
};

export const debitWallet: WalletsDebitHandler = async ({ id, credits }, context) => {
  const wallet = await openWallet(context, id);
  const cents = centsOf(credits, wallet.rate_amount);
  const { credits_balance } = await take(context, id, credits, cents);
  const transaction = await collection(walletTransactionsSpec, context).create({
    wallet: id,
    transaction_type: "outbound",
    transaction_status: "invoiced",
    status: "settled",
    amount: cents / 100,
    credit_amount: credits,
    settled_at: nowOf(context),
  });
  if (credits_balance === 0)
    await stageEvent(context, "wallets.depleted", { wallet: id, customer: wallet.customer });
  return { transaction: transaction.id, credits_balance };
};

async function take(context: ExecutionContext, id: string, credits: number, cents: number) {
  const wallets = collection(walletsSpec, context);
  try {
    return await wallets.increment(id, {
      credits_balance: -credits,
      balance_cents: -cents,
      consumed_credits: credits,
      consumed_amount_cents: cents,
    });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "core.validation") throw error;
    throw fail("wallet_exhausted", { credits: (await wallets.get(id)).credits_balance });
  }
}

export const expireWallet: WalletsExpireJob = async ({ id }, _context, { commit }) => {
  await commit("expire", async (context) => {
    const change = { status: "terminated", terminated_at: nowOf(context) } as const;
    await collection(walletsSpec, context).update(id, "any", change);
  });
};
