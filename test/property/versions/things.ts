// What a caller of a version does with files, and with the operation that stages an event.
import { placeOf } from "../../../generator/model/stored-files.js";
import type { Caller } from "./caller.js";
import type { Side } from "./common.js";
import { callerOf, namesOf } from "./documents.js";
import type { Kept, World } from "./world.js";

/** Sells an item: an event is staged, and the item is answered. */
export async function sell(world: World, side: Side, kept: Kept): Promise<void> {
  const caller = callerOf(world, side);
  const operation = caller.operation("items.sell");
  if (operation === undefined || kept.isGone) return;
  const key = `sell-${world.next()}`;
  const isKeyed = operation.parameters.some(({ name }) => name === "Idempotency-Key");
  const about = ["items.sell", ...namesOf(world, kept.table)];
  const parameters = { id: kept.id };
  const body = operation.body === null ? undefined : {};
  const answer = await caller.call(operation.key, {
    parameters,
    about,
    ...(body === undefined ? {} : { body }),
    headers: isKeyed ? { "idempotency-key": key } : {},
  });
  if (answer?.status !== 200) return;
  if (isKeyed)
    world.replayable.push({
      by: side,
      operation: operation.key,
      key,
      parameters,
      body,
      answer: answer.body,
    });
  const event = soldBy(caller);
  if (event !== undefined) world.staged.push({ by: side, event, id: kept.id });
}

/** The integration event that the operation stages. */
export function soldBy({ version }: Caller): string | undefined {
  return Object.keys(version.model.outbox ?? {}).find((name) => /^(?:items|goods)\./.test(name));
}

/** Uploads a file into each storage. */
export async function upload(world: World, side: Side): Promise<void> {
  const caller = callerOf(world, side);
  const { model, database } = caller.version;
  for (const [name, storage] of Object.entries(model.storage)) {
    const text = `file ${world.next()} of ${side}`;
    const form = new FormData();
    form.set("file", new Blob([text], { type: "text/plain" }), "a.txt");
    const place = placeOf(storage, database.files);
    const answer = await caller.call(`${name}.upload`, { body: form, about: [name, place] });
    if (answer?.status === 201) world.files.push({ place, key: answer.body.key, text });
  }
}

/** Reads all files of the storages that the version has. */
export async function download(world: World, side: Side): Promise<void> {
  const caller = callerOf(world, side);
  const { model, database } = caller.version;
  for (const { place, key, text } of world.files) {
    const storage = Object.values(model.storage).find(
      (one) => placeOf(one, database.files) === place,
    );
    if (storage === undefined) continue;
    const about = [storage.name, place];
    const answer = await caller.call(`${storage.name}.download`, { parameters: { key }, about });
    if (answer?.status === 404) caller.note("lost", about, `${place} ${key} is not there`);
    if (answer?.status === 200 && Buffer.from(answer.bytes).toString("utf8") !== text)
      caller.note("changed", about, `${place} ${key} has other bytes`);
  }
}
