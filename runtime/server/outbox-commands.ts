// `node server.js outbox` and `node server.js redrive [EVENT]`: what an operator asks of the outbox, and tells it.
import type { OutboxState } from "../ports/outbox.js";
import type { Connection } from "./connect.js";

/** Events that are made due in one transaction. */
const batchSize = 1_000;

/** How far the relay is behind, and how many events were given up. */
export function outboxState({ database }: Connection): Promise<OutboxState> {
  return database.reader.outbox.state(Date.now());
}

/** Makes given-up events due again, those of one name or all; the relay of a running server takes them. Returns how many. */
export async function redrive({ write }: Connection, name: string | null): Promise<number> {
  for (let redriven = 0; ;) {
    const some = await write("outbox.redrive", ({ transaction }) =>
      transaction.outbox.redrive(name, Date.now(), batchSize),
    );
    redriven += some;
    if (some < batchSize) return redriven;
  }
}
