// A content type that somebody gives to an object that is there: with `accept`, its bytes have to
// fit.
import { storeFor } from "./resources.js";
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { ObjectHead } from "../../ports/object-head.js";
import type { StorageSpec } from "../../ports/storage-spec.js";
import { isStrict } from "./content-type.js";
import { fits, recognizeType, sniffedBytes, usualType } from "./recognition.js";
import { refusedType } from "./refused-type.js";

/**
 * Throws `upload_type_unsupported` if a strict storage has bytes that do not fit the type,
 * `core.concurrency` if they change.
 */
export async function checkFits(
  spec: StorageSpec,
  { resources, signal }: ExecutionContext,
  { key, etag, contentSize }: ObjectHead,
  type: string,
): Promise<void> {
  if (!isStrict(spec)) return;
  const window = { first: 0, last: Math.min(sniffedBytes, contentSize) - 1 };
  const opened = await storeFor(spec, resources).open(key, {
    etag,
    signal,
    ...(contentSize > 0 ? { window } : {}),
  });
  if (opened === null) throw fail("core.concurrency");
  const beginning: Buffer[] = [];
  let size = 0;
  for await (const chunk of opened.body) {
    beginning.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    // An object that is sealed in one piece comes as a whole.
    if (size >= sniffedBytes) break;
  }
  const found = await recognizeType(
    Buffer.concat(beginning).subarray(0, sniffedBytes),
    contentSize <= sniffedBytes,
  );
  if (!fits(found, type)) throw refusedType(type, "request", usualType(found));
}
