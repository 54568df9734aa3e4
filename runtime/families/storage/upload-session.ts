// Sessions of uploads in parts: what their clients keep of them, and the token that proves it
// (service.md "Direct and resumable uploads").
import { canonicalJson } from "../../contract/canonical-json.js";
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { DirectTransfers } from "../../ports/direct-transfers.js";
import { placeOf, type StorageSpec } from "../../ports/storage-spec.js";
import { physicalKey } from "./key.js";
import { storeWithin } from "./resources.js";
import { stagedKey } from "./staged.js";

/** An upload in parts, as its client keeps it. */
export interface UploadSession {
  readonly key: string;
  readonly upload_id: string;
  readonly content_type?: string;
  readonly expires_at: string;
  /** Proves that this service made the session, for this tenant. */
  readonly token: string;
}

/**
 * The transfers of a storage. Throws `encryption_forbids_direct_transfer` where bytes pass through
 * the service.
 */
export function transfersOf(spec: StorageSpec, context: ExecutionContext): DirectTransfers {
  const transfers = storeWithin(spec, context).direct;
  if (transfers === null) throw fail("encryption_forbids_direct_transfer");
  return transfers;
}

/** The session of a client, once its token has been proven. Throws `upload_session_invalid`. */
export function checkSession(
  spec: StorageSpec,
  context: ExecutionContext,
  session: UploadSession,
): {
  readonly transfers: DirectTransfers;
  /** The engine's id of the upload. */
  readonly key: string;
  /** The key of the future object. */
  readonly place: string;
  readonly uploadId: string;
} {
  const transfers = transfersOf(spec, context);
  const { token, ...claims } = session;
  const { signer } = context.resources;
  const mac = Buffer.from(token, "base64url");
  const isSigned = (isStaged: boolean): boolean =>
    signer.verify("upload", boundText(spec, context, claims, isStaged), mac);
  const isStaged = isSigned(true);
  const isOlder = !isStaged && spec.scan === undefined && isSigned(false);
  if (!(isStaged || isOlder) || Date.parse(session.expires_at) <= context.clock.now())
    throw fail("upload_session_invalid");
  const place = physicalKey(spec, context.tenant, session.key);
  return {
    transfers,
    key: isStaged ? stagedKey(spec, place, session.expires_at) : place,
    place,
    uploadId: session.upload_id,
  };
}

/**
 * What the token of a session is about: the session, its storage, its tenant, and whether it
 * becomes an object elsewhere first.
 */
export function boundText(
  spec: StorageSpec,
  { tenant }: ExecutionContext,
  session: Omit<UploadSession, "token">,
  isStaged: boolean,
): string {
  return canonicalJson([placeOf(spec), tenant, session, ...(isStaged ? ["staged"] : [])]);
}
