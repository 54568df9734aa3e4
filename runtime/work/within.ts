// A time limit on waiting for a promise that can't be cancelled.
import { startTimer } from "../ports/ambient.js";

/** Settles as `work` does, or rejects with the error of `late` after so many milliseconds. */
export async function within<T>(millis: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_resolve, reject) => {
    timer = startTimer(() => reject(late()), millis);
  });
  try {
    return await Promise.race([work, overdue]);
  } finally {
    clearTimeout(timer);
  }
}
