// Processes announce themselves, with the shapes that they know: what an older version still reads
// is not brought up yet.
import { hostname } from "node:os";
import { shapeNumber } from "../../contract/shapes.js";
import { uuidv7 } from "../../ports/uuid.js";
import type { Resources } from "../../operations/resources.js";
import type { Started } from "../../operations/family.js";
import type { AnyDocumentSpec } from "../../ports/document-spec.js";
import type { LeaseStore } from "../../ports/leases.js";
import { Lifetime } from "../../ports/lifetime.js";
import { drawFraction, epochMillis, sleep } from "../../ports/ambient.js";

/**
 * How often a process says that it lives, how long that counts, and how long it may take, in
 * milliseconds.
 */
const everyMillis = 60_000;
const aliveMillis = 5 * everyMillis;
const patienceMillis = 5_000;
/**
 * How long it may take to say that it ends: a database that is away keeps no process from stopping.
 */
const farewellMillis = 2_000;
/** How soon it is tried again where that failed. */
const againMillis = 5_000;
/** Processes that died are forgotten after so long. */
const forgottenMillis = 60 * 60_000;
const prefix = "process.";

/** A process, as it announces itself. */
export interface Announced {
  readonly host: string;
  readonly pid: number;
  /** The numbers of the shapes that it knows, by the tables of documents. */
  readonly shapes: Readonly<Record<string, number>>;
}

/** Announces this process until it is stopped; then it is known at once to be gone. */
export function announce(
  documents: readonly AnyDocumentSpec[],
  { database, log }: Pick<Resources, "database" | "log">,
): Started {
  const name = `${prefix}${uuidv7()}`;
  const shapes = documents.map(({ table, shape }) => [table, shapeNumber(shape)] as const);
  const self: Announced = {
    host: hostname(),
    pid: process.pid,
    shapes: Object.fromEntries(shapes),
  };
  const write = (
    millis: number,
    work: (leases: LeaseStore) => Promise<unknown>,
  ): Promise<unknown> =>
    database.write({ lifetime: Lifetime.within(millis) }, ({ leases }) => work(leases));
  const say = (): Promise<unknown> =>
    write(patienceMillis, async (leases) => {
      const now = epochMillis();
      await leases.take(name, name, now, now + aliveMillis);
      await leases.note(name, name, JSON.stringify(self));
      await leases.prune(prefix, now - forgottenMillis);
    });
  const stopped = new AbortController();
  const repeat = async (): Promise<void> => {
    let isHeard = true;
    while (!stopped.signal.aborted) {
      try {
        await say();
        isHeard = true;
      } catch (error) {
        if (isHeard)
          log.warn({ err: error }, "this process could not announce itself; trying again");
        isHeard = false;
      }
      const wait = isHeard ? everyMillis * (0.9 + drawFraction() * 0.2) : againMillis;
      await sleep(wait, undefined, { signal: stopped.signal, ref: false }).catch(() => undefined);
    }
  };
  const repeating = repeat();
  return {
    async stop() {
      stopped.abort();
      await repeating;
      // If the database is away, the process counts as alive for a while.
      await write(farewellMillis, (leases) => leases.drop(name, name)).catch((error: unknown) =>
        log.warn({ err: error }, "this process could not say that it ends"),
      );
    },
  };
}

/** Processes that live and know an older shape of the type than this version. */
export async function olderProcesses(
  leases: LeaseStore,
  { table, shape }: AnyDocumentSpec,
): Promise<readonly Announced[]> {
  const held = await leases.held(prefix, epochMillis());
  return held
    .flatMap(({ state }) => (state === null ? [] : [JSON.parse(state) as Announced]))
    .filter(({ shapes }) => (shapes[table] ?? Infinity) < shapeNumber(shape));
}
