// The life of a pair of versions: the first alone, both side by side, the first alone again.
import type { TestEngine } from "../../support/engines.js";
import type { Side, Versions } from "./common.js";
import {
  askConditionally,
  callerOf,
  create,
  lookThrough,
  patch,
  read,
  remove,
  replay,
} from "./documents.js";
import type { Failure } from "./failures.js";
import { download, sell, upload } from "./things.js";
import { hear, receive, subscribe } from "./told.js";
import { worldOf, type World } from "./world.js";

/** All that went wrong, and how often operations have done what was asked: without that, nothing is said. */
export interface Life {
  readonly failures: readonly Failure[];
  readonly stats: Readonly<Record<string, number>>;
}

/** Lives through a pair of versions. */
export async function lived(engine: TestEngine, versions: Versions, seed: number): Promise<Life> {
  const world = await worldOf(engine, versions, seed);
  try {
    await world.start("before");
    await alone(world);
    if (await follows(world)) await besideEachOther(world);
    await world.stop("after");
    await world.stop("before");
    await world.start("before");
    await again(world);
    return { failures: world.failures, stats: world.stats };
  } finally {
    await world.end();
  }
}

const tables = ({ versions }: World): readonly string[] => [
  ...new Set(
    [versions.before, versions.after].flatMap(({ model }) =>
      Object.values(model.documents).map(({ table }) => table),
    ),
  ),
];

/** What is referred to comes first. */
const inOrder = (world: World): readonly string[] =>
  tables(world).toSorted(
    (one, other) => Number(one.startsWith("items")) - Number(other.startsWith("items")),
  );

async function alone(world: World): Promise<void> {
  world.receiver.isOpen = false;
  await subscribe(world, "before");
  for (const table of inOrder(world))
    for (let count = 0; count < 3; count += 1) await create(world, "before", table);
  await upload(world, "before");
  const items = itemsOf(world);
  for (const item of items.slice(0, 1)) await patch(world, "before", item);
  for (const item of items.slice(-1)) await remove(world, "before", item);
  for (const item of items.slice(0, 2)) await sell(world, "before", item);
}

const itemsOf = ({ documents }: World) =>
  documents.filter(({ table, isGone }) => table.startsWith("items") && !isGone);

/** Starts the second version. Where stored rows keep it from starting, they are removed, and it starts then. */
async function follows(world: World): Promise<boolean> {
  try {
    await world.start("after");
    return true;
  } catch (error) {
    const text = textOf(error);
    callerOf(world, "before").note("start", tables(world), text);
    for (const kept of world.documents) {
      await remove(world, "before", kept);
      await kill(world, kept.id, kept.table);
    }
    try {
      await world.start("after");
      return true;
    } catch (second) {
      // Nothing is in its way any more.
      callerOf(world, "before").note("broken", [], `does not start: ${textOf(second)}`);
      return false;
    }
  }
}

async function kill(world: World, id: string, table: string): Promise<void> {
  const caller = callerOf(world, "before");
  const name = Object.values(caller.version.model.documents).find((one) => one.table === table);
  await caller.call(`${name?.name}.kill`, { parameters: { id } });
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${textOf(error.cause)}`;
}

async function besideEachOther(world: World): Promise<void> {
  world.receiver.isOpen = true;
  const both: readonly Side[] = ["after", "before"];
  for (const side of both) {
    for (const kept of world.documents) await read(world, side, kept);
    for (const table of inOrder(world)) {
      await create(world, side, table);
      await create(world, side, table);
    }
    await upload(world, side);
  }
  for (const side of both) {
    await replay(world, side);
    for (const kept of world.documents.slice()) await patch(world, side, kept);
    for (const item of itemsOf(world).slice(-2)) await sell(world, side, item);
    for (const table of tables(world)) await lookThrough(world, side, table);
    await download(world, side);
    await hear(world, side);
  }
  for (const kept of world.documents.slice(0, 4)) await askConditionally(world, kept);
  await receive(world);
  // What the second version leaves behind.
  world.receiver.isOpen = false;
  for (const item of itemsOf(world).slice(-1)) await sell(world, "after", item);
}

/** After a rollback: the first version reads all, and goes on. */
async function again(world: World): Promise<void> {
  world.receiver.isOpen = true;
  for (const kept of world.documents) await read(world, "before", kept);
  for (const table of tables(world)) await lookThrough(world, "before", table);
  await download(world, "before");
  await hear(world, "before");
  await replay(world, "before");
  for (const kept of world.documents.slice(0, 6)) await patch(world, "before", kept);
  for (const table of inOrder(world)) await create(world, "before", table);
  await receive(world);
}
