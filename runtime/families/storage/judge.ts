// Whether a storage takes in what came past the service, by its bytes (decisions.md "Object
// storage").
import { buffer } from "node:stream/consumers";
import { fail, ServiceError } from "../../contract/errors.js";
import type { IndexedObject } from "../../ports/object-index.js";
import type { ObjectStore } from "../../ports/objects.js";
import type { StorageSpec } from "../../ports/storage-spec.js";
import { admittedType, isStrict } from "./content-type.js";
import { sniffedBytes } from "./recognition.js";

/** Why a storage does not take in what its engine has; null if it does. */
export type Judge = (object: IndexedObject) => Promise<ServiceError | null>;

/**
 * Judges what came to a strict storage past the service; undefined if nothing can, or everything
 * may.
 */
export function judgeOf(spec: StorageSpec, store: ObjectStore): Judge | undefined {
  if (!isStrict(spec) || store.direct === null) return undefined;
  return async ({ key, etag, contentType, contentSize, filename }) => {
    const window = { first: 0, last: Math.min(sniffedBytes, contentSize) - 1 };
    const opened = await store.open(key, { etag, ...(contentSize > 0 ? { window } : {}) });
    // Another version came meanwhile, and is looked at next.
    if (opened === null) return fail("core.not_found");
    const beginning = (await buffer(opened.body)).subarray(0, sniffedBytes);
    const isWhole = contentSize <= sniffedBytes;
    try {
      await admittedType(spec, { beginning, isWhole }, { filename, told: contentType });
      return null;
    } catch (error) {
      if (error instanceof ServiceError && error.code === "upload_type_unsupported") return error;
      throw error;
    }
  };
}
