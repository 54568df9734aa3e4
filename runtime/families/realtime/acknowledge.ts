// Acknowledgements: everything up to an id, for one device (service.md "Acknowledgement").
import type { Resources } from "../../operations/resources.js";
import { Lifetime } from "../../ports/lifetime.js";
import { parseEventId } from "../../ports/event-id.js";
import type { MailboxOwner } from "../../ports/mailbox.js";
import { mailboxStore } from "../../ports/mailbox.js";

/** Milliseconds for storing an acknowledgement; the next one makes up for a lost one. */
const ackMillis = 10_000;
/**
 * Devices of a principal in a tenant that have a cursor: beyond it the one that was not seen for
 * longest loses its own.
 */
export const maxDevices = 100;

/**
 * Moves the cursor of a device up to an id of its mailbox; an unknown id moves nothing. Says
 * whether the id was known.
 */
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

/**
 * Stores the cursor of a device that begins here, as if it had acknowledged all that came before.
 */
export async function beginDevice(
  { clock, database }: Pick<Resources, "clock" | "database">,
  owner: MailboxOwner,
  device: string | null,
  position: number,
): Promise<void> {
  await database.write({ lifetime: Lifetime.within(ackMillis) }, async (transaction) => {
    const mailbox = transaction.of(mailboxStore);
    await mailbox.acknowledge(owner, device, position, clock.now(), maxDevices);
  });
}

interface Waiting {
  readonly upTo: string;
  readonly position: number;
  readonly resolve: (acked: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** How many ids of a batch are looked up: the furthest known one covers all before it. */
const maxLookups = 4;

/** The acknowledgements of one connection: one is stored at a time, however many come. */
export class Acknowledgements {
  readonly #resources: Resources;
  readonly #owner: MailboxOwner;
  readonly #deviceOf: () => string | null;
  #waiting: Waiting[] = [];
  #storing: Promise<void> | undefined;

  /**
   * `deviceOf` is called each time, since the session that stands for the device may have changed.
   */
  constructor(resources: Resources, owner: MailboxOwner, deviceOf: () => string | null) {
    this.#resources = resources;
    this.#owner = owner;
    this.#deviceOf = deviceOf;
  }

  /**
   * Accepts an id. Resolves once it is stored, with whether it was known; rejects if it couldn't be
   * stored.
   */
  take(upTo: string): Promise<boolean> {
    const position = parseEventId(upTo)?.position;
    if (position === undefined) return Promise.resolve(false);
    const taken = new Promise<boolean>((resolve, reject) => {
      this.#waiting.push({ upTo, position, resolve, reject });
    });
    this.#storing ??= this.#store().finally(() => {
      this.#storing = undefined;
    });
    return taken;
  }

  /** Resolves once all accepted ids are stored, or have failed. */
  done(): Promise<void> {
    return this.#storing ?? Promise.resolve();
  }

  async #store(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.sort((left, right) => right.position - left.position);
      this.#waiting = [];
      try {
        let acked = false;
        for (const [index, one] of batch.entries()) {
          if (!acked && index < maxLookups)
            acked = await acknowledge(this.#resources, this.#owner, this.#deviceOf(), one.upTo);
          one.resolve(acked);
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
  }
}
