// Whether a server holds signed uploads to the headers that were signed. AWS refuses any other
// `x-amz-…`; one that takes them lets whoever has the address copy an object of anybody
// (`x-amz-copy-source`), or make their own public (`x-amz-acl`).
import { fail, unavailable } from "../../contract/errors.js";
import type { SignedRequest } from "../../ports/direct-transfers.js";
import { uuidv7 } from "../../ports/uuid.js";
import type { S3Access } from "./upload.js";

/** Milliseconds for the answer to the question. */
const patienceMillis = 10_000;

/**
 * A check that throws `presigned_upload_unsafe` if the server takes headers that nobody has signed.
 * It is asked once, by an upload to a key beside the one that is given.
 */
export function signedHeadersOnly(
  { client, sdk, calls }: S3Access,
  Bucket: string,
  signPut: (key: string) => Promise<SignedRequest>,
): (key: string) => Promise<void> {
  const ask = async (key: string): Promise<boolean> => {
    const Key = `${key.split("/", 1)[0] ?? ""}/~uploads/${uuidv7()}`;
    const { url, method, headers } = await signPut(Key);
    const signal = AbortSignal.timeout(patienceMillis);
    const unsigned = { ...headers, "x-amz-meta-unsigned": "1" };
    const answer = await fetch(url, { method, headers: unsigned, signal }).catch(
      (cause: unknown) => {
        throw unavailable(cause);
      },
    );
    await answer.body?.cancel();
    if (answer.status >= 500) throw unavailable(new Error(`S3 answered ${answer.status}`));
    if (!answer.ok) return true;
    const head = new sdk.HeadObjectCommand({ Bucket, Key });
    const found = await calls.orNull((until) => client.send(head, until));
    const removal = new sdk.DeleteObjectCommand({ Bucket, Key });
    await calls.orNull((until) => client.send(removal, until));
    return found?.Metadata?.["unsigned"] === undefined;
  };
  let asked: Promise<boolean> | undefined;
  return async (key) => {
    asked ??= ask(key);
    const isHeld = await asked.catch((error: unknown) => {
      asked = undefined;
      throw error;
    });
    if (!isHeld) throw fail("presigned_upload_unsafe");
  };
}
