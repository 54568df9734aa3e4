// Acknowledgements: everything up to an id, for one device (service.md "Acknowledgement").
import type { Resources } from "../../operations/context.js";
import { Lifetime } from "../../ports/lifetime.js";
import { parseEventId } from "../../ports/event-id.js";
import type { MailboxOwner } from "../../ports/mailbox.js";
import { mailboxStore } from "../../ports/mailbox.js";

/** Milliseconds for storing an acknowledgement: one that is lost is made up for by the next. */
const ackMillis = 10_000;
/** Devices of a principal in a tenant that have a cursor: beyond it the one that was not seen for longest loses its own. */
export const maxDevices = 100;

/** Moves the cursor of a device up to an id of its mailbox; an id that is none moves nothing. Says whether it was one. */
export async function acknowledge(
  { clock, database }: Pick<Resources, "clock" | "database">,
  owner: MailboxOwner,
  device: string | null,
  upTo: string,
): Promise<boolean> {
  const named = parseEventId(upTo);
  if (named === null) return false;
  return database.write({ lifetime: Lifetime.within(ackMillis) }, async (transaction) => {
    const mailbox = transaction.of(mailboxStore);
    if (!(await mailbox.has(owner, named.position, named.eventId))) return false;
    await mailbox.acknowledge(owner, device, named.position, clock.now(), maxDevices);
    return true;
  });
}

export interface Acknowledgements {
  /** Takes an id in. Resolves once it is stored, with whether it was one; rejects where it could not be stored. */
  take(upTo: string): Promise<boolean>;
  /** Resolves once what has been taken is stored, or could not be. */
  done(): Promise<void>;
}

interface Waiting {
  readonly upTo: string;
  readonly position: number;
  readonly resolve: (acked: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** Ids of one batch that are looked up: the furthest that is one stands for all before it. */
const maxLookups = 4;

/**
 * The acknowledgements of one connection: one is stored at a time, however many come. `deviceOf` is asked each time, since a
 * session that stands for the device may be another one by then.
 */
export function acknowledgements(
  resources: Resources,
  owner: MailboxOwner,
  deviceOf: () => string | null,
): Acknowledgements {
  let waiting: Waiting[] = [];
  let storing: Promise<void> | undefined;
  const store = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.sort((left, right) => right.position - left.position);
      waiting = [];
      try {
        let acked = false;
        for (const [index, one] of batch.entries()) {
          if (!acked && index < maxLookups)
            acked = await acknowledge(resources, owner, deviceOf(), one.upTo);
          one.resolve(acked);
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
  };
  return {
    take(upTo) {
      const position = parseEventId(upTo)?.position;
      if (position === undefined) return Promise.resolve(false);
      const taken = new Promise<boolean>((resolve, reject) => {
        waiting.push({ upTo, position, resolve, reject });
      });
      storing ??= store().finally(() => {
        storing = undefined;
      });
      return taken;
    },
    done: () => storing ?? Promise.resolve(),
  };
}
