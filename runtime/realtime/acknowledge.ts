// Acknowledgements: everything up to an id, for one device (service.md "Acknowledgement").
import type { Resources } from "../operations/context.js";
import type { Database } from "../operations/database.js";
import { Lifetime } from "../operations/lifetime.js";
import { parseEventId } from "./event-id.js";
import type { MailboxOwner } from "./port.js";

/** Moves the cursor of a device up to an id of its mailbox; an id that is none moves nothing. Says whether it was one. */
export async function acknowledge(
  database: Database,
  owner: MailboxOwner,
  device: string | null,
  upTo: string,
): Promise<boolean> {
  const named = parseEventId(upTo);
  if (named === null) return false;
  return database.write({ lifetime: Lifetime.unlimited() }, async ({ mailbox }) => {
    if (!(await mailbox.has(owner, named.position, named.eventId))) return false;
    await mailbox.acknowledge(owner, device, named.position, Date.now());
    return true;
  });
}

export interface Acknowledgements {
  /** Takes an id in; where several wait, the furthest stands for all. */
  take(upTo: string): void;
  /** Resolves once what has been taken is stored. */
  done(): Promise<void>;
}

/** The acknowledgements of one connection: one is stored at a time, however many come. */
export function acknowledgements(
  { database, log }: Resources,
  owner: MailboxOwner,
  device: string | null,
): Acknowledgements {
  let waiting: string | null = null;
  let storing: Promise<void> | undefined;
  const store = async (): Promise<void> => {
    while (waiting !== null) {
      const upTo = waiting;
      waiting = null;
      try {
        await acknowledge(database, owner, device, upTo);
      } catch (error) {
        log.error({ err: error }, "an acknowledgement could not be stored");
      }
    }
  };
  return {
    take(upTo) {
      const position = parseEventId(upTo)?.position ?? 0;
      const furthest = waiting === null ? 0 : (parseEventId(waiting)?.position ?? 0);
      if (position > furthest) waiting = upTo;
      storing ??= store().finally(() => {
        storing = undefined;
      });
    },
    done: () => storing ?? Promise.resolve(),
  };
}
