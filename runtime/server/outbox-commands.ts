// `node server.js outbox` and `node server.js redrive [EVENT]`: what an operator asks of the outbox, and tells it.
import type { OutboxState } from "../outbox/port.js";
import type { Connection } from "./connect.js";

/** How far the relay is behind, and how many events were given up. */
export function outboxState({ database }: Connection): Promise<OutboxState> {
  return database.reader.outbox.state(Date.now());
}

/** Makes given-up events due again, those of one name or all; the relay of a running server takes them. Returns how many. */
export function redrive({ write }: Connection, name: string | null): Promise<number> {
  return write("outbox.redrive", ({ transaction }) => transaction.outbox.redrive(name, Date.now()));
}
