// What a caller of a version does with documents: writes them, and reads all that either version has written.
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { own } from "../../../generator/model/records.js";
import type { DocumentModel } from "../../../generator/model/document-model.js";
import { applyPatch } from "../../../runtime/families/documents/merge-patch.js";
import type { Schema } from "../document/open-api.js";
import type { Answered, Caller } from "./caller.js";
import { commonMembers, differing, documentOf, type Body, type Side } from "./common.js";
import type { Kept, World } from "./world.js";

/** What the verdict may call a document by. */
export function namesOf({ versions }: World, table: string): readonly string[] {
  const both = [documentOf(versions.before, table), documentOf(versions.after, table)];
  return [table, ...both.flatMap((one) => (one === undefined ? [] : [one.name, one.typeName]))];
}

/** A payload that the version's document calls sound, with ids of what is there. */
function payload(
  world: World,
  { version }: Caller,
  { references, nullable }: DocumentModel,
  schema: Schema,
): Body {
  const [drawn] = fc.sample(version.values.of(schema), { seed: world.next(), numRuns: 1 });
  const targets = Object.values(version.model.realtime?.events ?? {}).flatMap(({ to }) =>
    to !== null && "principal" in to ? [to.principal] : [],
  );
  return Object.fromEntries(
    Object.entries(drawn as Body).flatMap(
      ([name, value]): readonly (readonly [string, unknown])[] => {
        if (targets.includes(name)) return [[name, world.principalId]];
        const reference = references.find(({ field }) => field === name);
        if (reference === undefined || value === null) return [[name, value]];
        const table = version.model.documents[reference.document]?.table;
        const there = world.documents.find((one) => one.table === table && !one.isGone);
        if (there !== undefined) return [[name, there.id]];
        return nullable.includes(name) ? [[name, null]] : [[name, value]];
      },
    ),
  );
}

/** Creates a document; undefined where the version refuses it, or has no route for that. */
export async function create(world: World, side: Side, table: string): Promise<Kept | undefined> {
  const caller = callerOf(world, side);
  const document = documentOf(caller.version, table);
  const operation = caller.operation(`${document?.name}.create`);
  if (document === undefined || operation === undefined) return undefined;
  const body = payload(world, caller, document, operation.body?.schema ?? true);
  const key = `key-${world.next()}`;
  const isKeyed = operation.parameters.some(({ name }) => name === "Idempotency-Key");
  const answer = await caller.call(operation.key, {
    body,
    isSound: true,
    about: namesOf(world, table),
    headers: isKeyed ? { "idempotency-key": key } : {},
  });
  if (answer?.status !== 201) return undefined;
  const kept: Kept = { table, id: answer.body.id, by: side, body: answer.body, isGone: false };
  world.documents.push(kept);
  if (isKeyed)
    world.replayable.push({
      by: side,
      operation: operation.key,
      key,
      parameters: {},
      body,
      answer: answer.body,
    });
  return kept;
}

/** Reads a document, as it was acknowledged. Resolves with the answer where the version has it. */
export async function read(world: World, side: Side, kept: Kept): Promise<Answered | undefined> {
  const caller = callerOf(world, side);
  const document = documentOf(caller.version, kept.table);
  const about = namesOf(world, kept.table);
  const answer = await caller.call(`${document?.name}.get`, { parameters: { id: kept.id }, about });
  if (answer === undefined) return undefined;
  if (answer.status === 404 && !kept.isGone) {
    caller.note("lost", about, `${kept.table} ${kept.id} of ${kept.by} is not there`);
    return undefined;
  }
  if (answer.status !== 200) return undefined;
  const members = commonMembers(world.versions, kept.table);
  const changes = differing(members, kept, { by: side, body: answer.body });
  if (changes.length > 0)
    caller.note("changed", about, `${kept.table} of ${kept.by} has ${changes.join(", ")}`);
  return answer;
}

/** Changes a document by a sound patch, whichever version has written it. */
export async function patch(world: World, side: Side, kept: Kept): Promise<void> {
  const caller = callerOf(world, side);
  const document = documentOf(caller.version, kept.table);
  const operation = caller.operation(`${document?.name}.update`);
  if (document === undefined || operation === undefined || kept.isGone) return;
  const before = await read(world, side, kept);
  const tag = before?.headers.get("etag") ?? undefined;
  if (tag === undefined) return;
  const drawn = payload(world, caller, document, operation.body?.schema ?? true);
  const answer = await caller.call(operation.key, {
    parameters: { id: kept.id },
    headers: { "if-match": tag },
    body: fitting(drawn, before?.body ?? {}, caller, `${document.name}.create`),
    isSound: true,
    about: namesOf(world, kept.table),
  });
  if (answer?.status !== 200) return;
  kept.by = side;
  kept.body = answer.body.data;
}

/** The members of a patch that leave a sound document: a part of a nested value is none where there is no value. */
function fitting(patch: Body, current: Body, caller: Caller, create: string): Body {
  const { openapi } = caller.version;
  const whole = caller.operation(create)?.body?.schema ?? true;
  if (typeof whole === "boolean") return patch;
  const { properties = {} } =
    whole.$ref === undefined ? whole : openapi.resolve<typeof whole>(whole.$ref);
  const after = applyPatch(current, patch, () => true);
  return Object.fromEntries(
    Object.entries(patch).filter(([name]) => {
      const schema = own(properties, name);
      return schema === undefined || openapi.isValid(schema, after[name] ?? null);
    }),
  );
}

/** Deletes a document as the version does it. */
export async function remove(world: World, side: Side, kept: Kept): Promise<void> {
  const caller = callerOf(world, side);
  const name = documentOf(caller.version, kept.table)?.name;
  const before = await read(world, side, kept);
  const tag = before?.headers.get("etag") ?? undefined;
  if (tag === undefined) return;
  const verb = caller.operation(`${name}.delete`) === undefined ? "kill" : "delete";
  const answer = await caller.call(`${name}.${verb}`, {
    parameters: { id: kept.id },
    headers: { "if-match": tag },
    isSound: true,
    about: namesOf(world, kept.table),
  });
  if (answer !== undefined && answer.status < 300) kept.isGone = true;
}

/** Everything that lists, searches and histories answer, and that nothing is missing in lists. */
export async function lookThrough(world: World, side: Side, table: string): Promise<void> {
  const caller = callerOf(world, side);
  const name = documentOf(caller.version, table)?.name;
  const about = namesOf(world, table);
  const listed = await caller.call(`${name}.list`, { body: { size: 100 }, about, isSound: true });
  const live = world.documents.filter((one) => one.table === table && !one.isGone);
  if (listed?.status === 200) {
    const ids = (listed.body.hits as readonly { readonly id: string }[]).map(({ id }) => id);
    const missing = live.filter(({ id }) => !ids.includes(id));
    if (missing.length > 0)
      caller.note("lost", about, `no list has ${table} ${missing.map(({ id }) => id).join(", ")}`);
  }
  for (const { id } of live.slice(0, 2)) {
    await caller.call(`${name}.revisions`, { parameters: { id }, about });
    await caller.call(`${name}.revision`, { parameters: { id, revision: 1 }, about });
  }
  for (const [search, { document }] of Object.entries(caller.version.model.search)) {
    if (document !== name) continue;
    const asked = { about: [...about, search], isSound: true };
    await caller.call(`${search}.typed`, { ...asked, body: { query: "a", size: 50 } });
    await caller.call(`${search}.typed`, { ...asked, body: { size: 50 } });
  }
}

/** Sends a request again under its key, to whichever version. */
export async function replay(world: World, side: Side): Promise<void> {
  const caller = callerOf(world, side);
  for (const { by, operation, key, parameters, body, answer } of world.replayable) {
    const found = caller.operation(operation);
    const isKeyed = found?.parameters.some(({ name }) => name === "Idempotency-Key") === true;
    const schema = found?.body?.schema;
    const isSound = schema === undefined || caller.version.openapi.isValid(schema, body);
    if (found === undefined || !isKeyed || !isSound) continue;
    const table = own(caller.version.model.documents, found.namespace)?.table ?? found.namespace;
    const about = [operation, ...namesOf(world, table)];
    const again = await caller.call(operation, {
      parameters,
      about,
      kind: "replay",
      ...(body === undefined ? {} : { body }),
      headers: { "idempotency-key": key },
    });
    if (again === undefined || again.status >= 300) continue;
    if (again.body?.id !== answer["id"])
      caller.note("replay", about, `${operation} is done twice under a key of ${by}`);
  }
}

/** Asks whether what the other version has answered has changed, by its tag. */
export async function askConditionally(world: World, kept: Kept): Promise<void> {
  for (const [side, other] of [
    ["before", "after"],
    ["after", "before"],
  ] as const) {
    const [here, there] = [await read(world, side, kept), await read(world, other, kept)];
    const tag = here?.headers.get("etag");
    if (tag === undefined || tag === null || there === undefined) continue;
    const caller = callerOf(world, other);
    const name = documentOf(caller.version, kept.table)?.name;
    const again = await caller.call(`${name}.get`, {
      parameters: { id: kept.id },
      headers: { "if-none-match": tag },
    });
    if (again?.status === 304 && !isDeepStrictEqual(here?.body, there.body))
      caller.note("condition", namesOf(world, kept.table), `304 for the ${kept.table} of ${side}`);
  }
}

export function callerOf({ callers }: World, side: Side): Caller {
  const caller = callers.get(side);
  if (caller === undefined) throw new Error(`${side} does not run`);
  return caller;
}
