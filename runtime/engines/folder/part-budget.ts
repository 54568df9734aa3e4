// What the parts of one upload may have together, counted as their bytes come: parts that come at once do not slip through.
import { tooLarge } from "../../families/storage/bounded.js";
import type { UploadedPart } from "../../ports/direct-transfers.js";

/** One part on its way. */
interface Attempt {
  readonly partNumber: number;
  bytes: number;
}

/** An upload of which parts are on their way. */
interface Account {
  /** Sizes of the parts that are there, by their numbers. */
  readonly arrived: Map<number, number>;
  arrivedBytes: number;
  readonly coming: Set<Attempt>;
}

export interface PartBudget {
  /**
   * Runs `receive` with the part's body up to what the upload has left, beside what is there and what comes meanwhile;
   * a part that takes the place of another one counts once. At the byte that crosses the body throws `upload_too_large`.
   */
  within<T extends { readonly size: number }>(
    uploadId: string,
    part: { readonly partNumber: number; readonly maxBytes: number },
    there: () => Promise<readonly UploadedPart[]>,
    body: AsyncIterable<Buffer>,
    receive: (body: AsyncIterable<Buffer>) => Promise<T>,
  ): Promise<T>;
}

/** Counts what comes to this process; parts that came to others count once they are there. */
export function partBudget(): PartBudget {
  const accounts = new Map<string, Account>();
  return {
    async within(uploadId, { partNumber, maxBytes }, there, body, receive) {
      const account = accounts.get(uploadId) ?? newAccount();
      accounts.set(uploadId, account);
      const attempt: Attempt = { partNumber, bytes: 0 };
      // From here on the account is told of every part that arrives, also after the list of them was read.
      account.coming.add(attempt);
      try {
        for (const part of await there())
          if (!account.arrived.has(part.partNumber)) put(account, part.partNumber, part.size);
        const received = await receive(counted(body, account, attempt, maxBytes));
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

async function* counted(
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

/** What the other parts have, or will have as far as they have come; of several tries of a part one will stay. */
function bytesBeside(account: Account, { partNumber }: Attempt): number {
  const there = (number: number): number => account.arrived.get(number) ?? 0;
  const most = new Map<number, number>();
  for (const { partNumber: number, bytes } of account.coming)
    if (number !== partNumber) most.set(number, Math.max(most.get(number) ?? there(number), bytes));
  let sum = account.arrivedBytes - there(partNumber);
  for (const [number, bytes] of most) sum += bytes - there(number);
  return sum;
}
