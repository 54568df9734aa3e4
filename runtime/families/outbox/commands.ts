// The commands `outbox`, `dead-letters [EVENT]` and `redrive [EVENT]` of `node server.js`, for
// operators.
import { presentName, storedNames } from "../../contract/former-names.js";
import type { OutboxSpec } from "./spec.js";
import type { ServiceCommand, ServiceAtWork } from "../../operations/family.js";
import { countInBatches } from "../../operations/in-batches.js";
import { outboxStore, type DeadEvent } from "../../ports/outbox.js";

/** Events that are made due in one transaction. */
const batchSize = 1_000;

/** Prints how far the relay is behind, and how many events were given up. */
export const outboxCommand: ServiceCommand = {
  name: "outbox",
  summary: "Say how far delivery is behind, and how many events were given up",
  read: (args) =>
    args.length > 0
      ? null
      : async ({ clock, database }) =>
          JSON.stringify(await database.reader.of(outboxStore).state(clock.now())),
};

/** Dead letters that are printed. */
const mostListed = 100;

/** Prints the newest dead letters, of one event or all, each with why it was not delivered. */
export const deadLettersCommand = ({ was }: OutboxSpec): ServiceCommand => ({
  name: "dead-letters",
  usage: "[EVENT]",
  summary: "List the newest events that were given up, and why",
  read(args) {
    const [event] = args;
    if (args.length > 1) return null;
    const names = event === undefined ? [null] : storedNames(was, [event]);
    return async ({ database }) => {
      const store = database.reader.of(outboxStore);
      const found: DeadEvent[] = [];
      for (const name of names) found.push(...(await store.listDead(name, mostListed)));
      found.sort((left, right) => right.deadAt - left.deadAt);
      const letters = found
        .slice(0, mostListed)
        .map(({ id, name, tenant, createdAt, deadAt, attempts, reason }) => ({
          id,
          event: presentName(was, name),
          tenant,
          created_at: new Date(createdAt).toISOString(),
          given_up_at: new Date(deadAt).toISOString(),
          attempts,
          error: reason,
        }));
      return JSON.stringify(letters, null, 2);
    };
  },
});

/**
 * Makes dead letters due again, those of one event or all; the relay of a running server delivers
 * them. Prints how many.
 */
export const redriveCommand = ({ was }: OutboxSpec): ServiceCommand => ({
  name: "redrive",
  summary: "Deliver events again that were given up, those of one name or all",
  usage: "[EVENT]",
  read(args) {
    const [event] = args;
    if (args.length > 1) return null;
    const names = event === undefined ? [null] : storedNames(was, [event]);
    return async (service) => {
      let redriven = 0;
      for (const name of names) redriven += await redrive(service, name);
      return String(redriven);
    };
  },
});

function redrive({ clock, write }: ServiceAtWork, name: string | null): Promise<number> {
  return countInBatches(batchSize, (size) =>
    write("outbox.redrive", ({ transaction }) =>
      transaction.of(outboxStore).redrive(name, clock.now(), size),
    ),
  );
}
