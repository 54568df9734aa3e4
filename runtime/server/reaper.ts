// The reaper: removes what has run out, at start and every hour.
import type { Resources } from "../operations/context.js";
import type { Transaction } from "../operations/database.js";
import { Lifetime } from "../operations/lifetime.js";
import type { ServiceDefinition } from "./service.js";

const hourMillis = 60 * 60 * 1_000;
/** What ended is kept for a day, so that its last use can still be told from one that never was. */
const endedFor = 24 * hourMillis;
/** Dead letters may hold secrets; who wants to redrive them has a week. */
const deadFor = 7 * 24 * hourMillis;

/** Starts reaping; a fault is logged and tried again an hour later. */
export function startReaper(
  { identity, outbox, storages = [] }: ServiceDefinition,
  { database, log, objects, uploadSeconds }: Resources,
): { stop(): void } {
  const write = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
    database.write({ lifetime: Lifetime.unlimited() }, work);
  const reap = async (): Promise<void> => {
    try {
      const now = Date.now();
      if (identity !== undefined) await write((stores) => stores.identity.prune(now - endedFor));
      if (outbox !== undefined) await write((stores) => stores.outbox.prune(now - deadFor));
      for (let removed = 1_000; removed === 1_000;) {
        removed = await write((stores) => stores.idempotency.prune(now));
        log.debug({ removed }, "expired idempotency records removed");
      }
    } catch (error) {
      log.error({ err: error }, "what has run out could not be removed");
    }
  };
  /** Uploads that did not end; an engine that is away holds up nothing else. */
  const sweep = async (): Promise<void> => {
    for (const spec of storages) {
      try {
        const removed = await objects.of(spec).sweep(`${spec.name}/`, uploadSeconds);
        log.debug({ storage: spec.name, removed }, "unfinished uploads removed");
      } catch (error) {
        log.error({ storage: spec.name, err: error }, "unfinished uploads could not be removed");
      }
    }
  };
  const both = (): void => {
    void reap();
    void sweep();
  };
  both();
  const timer = setInterval(both, hourMillis);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
