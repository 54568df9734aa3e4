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
    const signed = await signPut(Key);
    if (!(await isTaken(signed, { "x-amz-meta-unsigned": "1" }))) {
      // Unless the server takes nothing at all, it has refused the header.
      if (await isTaken(signed, {})) return remove(Key, true);
      throw unavailable(new Error("S3 refuses a signed upload"));
    }
    const command = new sdk.HeadObjectCommand({ Bucket, Key });
    const found = await calls.orNull((until) => client.send(command, until));
    return remove(Key, found?.Metadata?.["unsigned"] === undefined);
  };
  const remove = async (Key: string, isHeld: boolean): Promise<boolean> => {
    const command = new sdk.DeleteObjectCommand({ Bucket, Key });
    await calls.orNull((until) => client.send(command, until));
    return isHeld;
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

async function isTaken(
  { url, method, headers }: SignedRequest,
  unsigned: Readonly<Record<string, string>>,
): Promise<boolean> {
  const signal = AbortSignal.timeout(patienceMillis);
  const init = { method, headers: { ...headers, ...unsigned }, signal };
  const answer = await fetch(url, init).catch((cause: unknown) => {
    throw unavailable(cause);
  });
  await answer.body?.cancel();
  if (answer.status >= 500) throw unavailable(new Error(`S3 answered ${answer.status}`));
  return answer.ok;
}
