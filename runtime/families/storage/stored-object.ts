// Objects as clients see them (decisions.md "Object storage").
import type { ExecutionContext } from "../../operations/context.js";
import { prefixOf } from "./key.js";
import type { ObjectTags } from "../../ports/object-head.js";
import type { IndexedObject } from "../../ports/object-index.js";
import type { StorageSpec } from "../../ports/storage-spec.js";

/** An object as clients see it. */
export interface StoredObject {
  readonly key: string;
  readonly filename: string;
  readonly size: number;
  readonly content_type: string;
  readonly etag: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly created_at: string;
  readonly description?: string;
  readonly tags?: ObjectTags;
}

/** An object with the key that its tenant knows it by. */
export function storedObject(
  spec: StorageSpec,
  context: ExecutionContext,
  { key, filename, contentSize, contentType, etag, modifiedAt, description, tags }: IndexedObject,
): StoredObject {
  return {
    key: key.slice(prefixOf(spec, context.tenant).length),
    filename,
    size: contentSize,
    content_type: contentType,
    etag,
    created_at: new Date(modifiedAt).toISOString(),
    ...(description === null ? {} : { description }),
    ...(tags === undefined ? {} : { tags }),
  };
}
