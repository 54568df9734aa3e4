// Changes of objects by operations: each with its note, and what it has become put down for lists.
import type { ExecutionContext } from "../../operations/context.js";
import type { ObjectDescription, ObjectHead } from "../../ports/object-head.js";
import type { StorageSpec } from "../../ports/storage-spec.js";
import { changeOf, notingOf, type ObjectChange } from "./changes.js";

/** A change of a key, at the expense of who asks. */
export function changing(spec: StorageSpec, context: ExecutionContext, key: string): ObjectChange {
  return changeOf(notingOf(context.resources, spec, context.payer), key);
}

/** Writes an object. */
export async function written(
  spec: StorageSpec,
  context: ExecutionContext,
  key: string,
  content: AsyncIterable<Buffer>,
  description: ObjectDescription,
): Promise<ObjectHead> {
  const change = changing(spec, context, key);
  const store = context.resources.objects.of(spec);
  const head = await store.write(key, change.noted(content), description, context.signal);
  await change.settle(head);
  return head;
}

/** Puts one version at another key, or its own with another description; null where it is not there. */
export async function copied(
  spec: StorageSpec,
  context: ExecutionContext,
  from: ObjectHead,
  to: string,
  description: ObjectDescription,
): Promise<ObjectHead | null> {
  const change = changing(spec, context, to);
  await change.begin();
  const options = { etag: from.etag, signal: context.signal };
  const head = await context.resources.objects.of(spec).copy(from.key, to, description, options);
  if (head !== null) await change.settle(head);
  return head;
}

/** Removes an object, or with `etag` that version of it; says whether there was one. */
export async function removed(
  spec: StorageSpec,
  context: ExecutionContext,
  key: string,
  etag?: string,
): Promise<boolean> {
  const change = changing(spec, context, key);
  await change.begin();
  const store = context.resources.objects.of(spec);
  const isRemoved = await store.remove(key, { etag, signal: context.signal });
  // Another version that is there instead is put down by whoever wrote it.
  if (isRemoved || etag === undefined) await change.settle(null);
  return isRemoved;
}
