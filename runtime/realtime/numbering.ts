// From staged signals to places in mailboxes, after their commits: places that were taken before it could be passed by a
// reader (architecture.md "Number after commit").
import { ServiceError } from "../contract/errors.js";
import type { Resources } from "../operations/context.js";
import { Lifetime } from "../operations/lifetime.js";
import type { NumberedEntry } from "./port.js";

/** Signals that are given their places in one transaction. */
const batchSize = 500;
/** What other processes have staged, and did not come to number, is found within so many milliseconds. */
const pollMillis = 1_000;
/** While another process numbers, this one looks again after so many milliseconds. */
const busyMillis = 25;

export interface Numbering {
  /** Called after a commit that staged something. */
  wake(): void;
  /** Resolves when nothing is under way. */
  stop(): Promise<void>;
}

/** Numbers what is staged, and tells what has got its place. */
export function startNumbering(
  { database, log }: Pick<Resources, "database" | "log">,
  told: (entries: readonly NumberedEntry[]) => void,
): Numbering {
  let running: Promise<void> | undefined;
  let isWanted = false;
  let isStopped = false;

  /** One transaction at a time numbers, in this process and among all. */
  const numberAll = async (): Promise<void> => {
    while (isWanted) {
      isWanted = false;
      try {
        for (let found = batchSize; found === batchSize;) {
          const entries = await database.write(
            { lifetime: Lifetime.unlimited(), exclusive: "realtime" },
            ({ mailbox }) => mailbox.number(batchSize),
          );
          found = entries.length;
          if (found > 0) told(entries);
        }
      } catch (error) {
        // The other one may have begun before this process's last commit.
        if (isBusy(error)) setTimeout(wake, busyMillis * (0.5 + Math.random())).unref();
        else log.error({ err: error }, "staged signals could not be numbered");
      }
    }
  };
  const wake = (): void => {
    isWanted = true;
    if (isStopped) return;
    running ??= numberAll().finally(() => {
      running = undefined;
      if (isWanted) wake();
    });
  };
  const timer = setInterval(wake, pollMillis).unref();
  wake();
  return {
    wake,
    async stop() {
      clearInterval(timer);
      isStopped = true;
      await running;
    },
  };
}

/** What a transaction is refused with while another one holds its name. */
function isBusy(error: unknown): boolean {
  return error instanceof ServiceError && error.code === "idempotency_in_flight";
}
