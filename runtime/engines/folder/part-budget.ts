// Limits the total size of an upload's parts. It is counted while bytes arrive, so that parallel
// parts can't exceed it.
import { tooLarge } from "../../ports/bounded.js";
import type { UploadedPart } from "../../ports/direct-transfers.js";

/** A part that is being received, and how many bytes of it have arrived. */
interface Attempt {
  readonly partNumber: number;
  bytes: number;
}

/** An upload of which parts are being received. */
interface Account {
  /** Sizes in bytes of the parts that are complete, by part number. */
  readonly arrived: Map<number, number>;
  arrivedBytes: number;
  readonly coming: Set<Attempt>;
}

export interface PartBudget {
  /**
   * Runs `receive` with the part's body. The body throws `upload_too_large` as soon as the upload's
   * parts exceed `maxBytes` together: those that are complete (`there` lists them) and those being
   * received. A part that replaces another counts once.
   */
  within<T extends { readonly size: number }>(
    uploadId: string,
    part: { readonly partNumber: number; readonly maxBytes: number },
    there: () => Promise<readonly UploadedPart[]>,
    body: AsyncIterable<Buffer>,
    receive: (body: AsyncIterable<Buffer>) => Promise<T>,
  ): Promise<T>;
}

/**
 * Counts bytes as this process receives them. Parts that other processes receive count once they
 * are complete.
 */
export function partBudget(): PartBudget {
  const accounts = new Map<string, Account>();
  return {
    async within(uploadId, { partNumber, maxBytes }, there, body, receive) {
      const account = accounts.get(uploadId) ?? newAccount();
      accounts.set(uploadId, account);
      const attempt: Attempt = { partNumber, bytes: 0 };
      // From now on the account learns of every part that is completed, even after `there` has
      // listed them.
      account.coming.add(attempt);
      try {
        for (const part of await there())
          if (!account.arrived.has(part.partNumber)) put(account, part.partNumber, part.size);
        const received = await receive(countBytes(body, account, attempt, maxBytes));
        put(account, partNumber, received.size);
        return received;
      } finally {
        account.coming.delete(attempt);
        if (account.coming.size === 0) accounts.delete(uploadId);
      }
    },
  };
}

function newAccount(): Account {
  return { arrived: new Map(), arrivedBytes: 0, coming: new Set() };
}

function put(account: Account, partNumber: number, size: number): void {
  account.arrivedBytes += size - (account.arrived.get(partNumber) ?? 0);
  account.arrived.set(partNumber, size);
}

async function* countBytes(
  body: AsyncIterable<Buffer>,
  account: Account,
  attempt: Attempt,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    attempt.bytes += chunk.length;
    if (attempt.bytes + bytesBeside(account, attempt) > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

/**
 * Bytes of the other parts, complete or not. Of several attempts at one part only the largest
 * counts: only one will stay.
 */
function bytesBeside(account: Account, { partNumber }: Attempt): number {
  const there = (number: number): number => account.arrived.get(number) ?? 0;
  const most = new Map<number, number>();
  for (const { partNumber: number, bytes } of account.coming)
    if (number !== partNumber) most.set(number, Math.max(most.get(number) ?? there(number), bytes));
  let sum = account.arrivedBytes - there(partNumber);
  for (const [number, bytes] of most) sum += bytes - there(number);
  return sum;
}
