// The walk over all objects of a storage that keeps their index right: by itself twice a day, and
// by `node server.js objects-rebuild [NAME]`.
import { uuidv7 } from "../../ports/uuid.js";
import type { ServiceCommand, ServiceAtWork } from "../../operations/family.js";
import type { OutsideJob } from "../../work/periodic.js";
import type { Resources } from "../../operations/resources.js";
import { placeOf, type StorageSpec } from "../../ports/storage-spec.js";
import { notingOf } from "./changes.js";
import { reconcile } from "./reconcile.js";
import { sleep } from "../../ports/ambient.js";

/** A walk that has come to its end is good for so long; one that has failed begins again sooner. */
const goodMillis = 12 * 60 * 60 * 1_000;
const everyMillis = 10 * 60 * 1_000;
/** How long one step walks; a step of a job takes less than a minute. */
const stepMillis = 20_000;
/** The progress of a walk that ended early counts for so long. */
const goesOnMillis = 60 * 60 * 1_000;
/** How long a walk that has died keeps the next one waiting. */
const leaseMillis = 60_000;

/** The note in the lease of a walk. */
interface Progress {
  readonly objects: number;
  /** The key behind which it goes on; null if it has come to its end. */
  readonly after: string | null;
  /** Milliseconds since 1970. */
  readonly notedAt: number;
}

type Works = Pick<Resources, "clock" | "database" | "log" | "of">;

/** The walk of a storage, as periodic work. */
export function sweepOf(spec: StorageSpec, works: Works): OutsideJob {
  const holder = uuidv7();
  return {
    name: `objects.${placeOf(spec)}`,
    everyMillis,
    step: async () => (await walk(works, spec, { holder, goodFor: goodMillis }))?.isDone === false,
  };
}

/** Walks over one storage or all, and prints how many objects there are. */
export function rebuildCommand(storages: readonly StorageSpec[]): ServiceCommand {
  return {
    name: "objects-rebuild",
    usage: "[NAME]",
    read(args) {
      const chosen = storages.filter(({ name }) => args.length === 0 || args[0] === name);
      if (args.length > 1 || chosen.length === 0) return null;
      return async (service) => String(await rebuild(service, chosen));
    },
  };
}

/** Walks to the end, from where another walk has ended early; waits for one that is under way. */
async function rebuild(service: ServiceAtWork, storages: readonly StorageSpec[]): Promise<number> {
  const holder = uuidv7();
  let total = 0;
  for (const spec of storages)
    for (;;) {
      const walked = await walk(service, spec, { holder, goodFor: 0 });
      if (walked === null) {
        await sleep(leaseMillis / 60);
        continue;
      }
      process.stderr.write(`${spec.name}: ${walked.objects} objects\n`);
      if (!walked.isDone) continue;
      total += walked.objects;
      break;
    }
  return total;
}

/** Who walks, and for how many milliseconds a walk is good that has come to its end. */
interface Walker {
  readonly holder: string;
  readonly goodFor: number;
}

/**
 * One step, with how far it has come noted; null if another process is at it, or the last walk
 * is good.
 */
async function walk(
  works: Works,
  spec: StorageSpec,
  { holder, goodFor }: Walker,
): Promise<{ readonly objects: number; readonly isDone: boolean } | null> {
  const noting = { ...notingOf(works, spec), reader: works.database.reader };
  const name = `objects.walk.${placeOf(spec)}`;
  const noted = await noting.write(async ({ leases }) => {
    const now = works.clock.now();
    const lease = await leases.take(name, holder, now, now + leaseMillis);
    if (lease === null) return null;
    const last = readProgress(lease.state);
    if (last.after !== null || now - last.notedAt >= goodFor) return last;
    await leases.take(name, holder, now, now);
    return null;
  });
  if (noted === null) return null;
  const goesOn = noted.after !== null && works.clock.now() - noted.notedAt < goesOnMillis;
  const before = goesOn ? noted : unbegun;
  const { objects, next } = await reconcile(noting, spec, before.after, stepMillis);
  const progress = { objects: before.objects + objects, after: next, notedAt: works.clock.now() };
  await noting.write(async ({ leases }) => {
    await leases.note(name, holder, JSON.stringify(progress));
    const now = works.clock.now();
    if (next === null) await leases.take(name, holder, now, now);
  });
  return { objects: progress.objects, isDone: next === null };
}

const unbegun: Progress = { objects: 0, after: null, notedAt: 0 };

/** The lease's value was noted here. */
function readProgress(state: string | null): Progress {
  return state === null ? unbegun : (JSON.parse(state) as Progress);
}
