// Idempotency-Key: the same request runs once and is answered alike afterwards (decisions.md
// "Idempotency").
import { createHash } from "node:crypto";
import {
  errorKinds,
  errors,
  fail,
  row,
  ServiceError,
  toEnvelope,
  type ErrorCode,
  type ErrorEnvelope,
  type ErrorKind,
} from "../contract/errors.js";
import { canonicalJson } from "../contract/canonical-json.js";
import type { ExecutionContext } from "./context.js";
import { noPreconditions } from "./preconditions.js";
import type { IdempotencyRecord } from "../ports/idempotency.js";
import { JsonText, type Output } from "./json-text.js";
import type { KeptForm } from "./kept-values.js";

const timeToLiveMillis = 24 * 60 * 60 * 1000;
const replayed = { "Idempotency-Replayed": "true" };

/** Arguments as they were sent, as canonical JSON. */
const asked = new WeakMap<ExecutionContext, string>();

/**
 * Notes what was sent under a key, before defaults are filled in: those of another version may be
 * others.
 */
export function noteAsked(context: ExecutionContext, sent: unknown): void {
  if (context.idempotencyKey !== undefined) asked.set(context, canonicalJson(sent));
}

/** The outcome of an invocation. `replayed` says that the output was stored earlier. */
export interface Outcome<Result> {
  readonly output: Output<Result>;
  readonly replayed: boolean;
}

/**
 * The scope of an invocation's key, or undefined if it carries none or the operation does not
 * honour it.
 */
export function idempotencyScope(
  context: ExecutionContext,
  isHonoured: boolean | undefined,
): string | undefined {
  if (isHonoured !== true || context.idempotencyKey === undefined) return undefined;
  const { tenant, identity, operationId, idempotencyKey } = context;
  // Strangers who choose the same key must not meet: without an identity, the address says who it
  // is.
  const caller =
    identity === null
      ? [context.clientAddress()]
      : // What a key may not see, it must not be told again.
        [identity.principalId, identity.actorId, ...(identity.scopes ? [identity.scopes] : [])];
  return JSON.stringify([tenant, caller, operationId, idempotencyKey]);
}

/**
 * Runs `work` once per scope, inside a write transaction that holds the scope exclusively. A replay
 * returns the stored output, or throws the stored error. Throws `idempotency_key_reused`. An error
 * below 500 that is not retryable is stored as well; its writes are undone first.
 */
export async function onceOnly<Input, Result>(
  context: ExecutionContext,
  scope: string,
  input: Input,
  work: () => Promise<Output<Result>>,
): Promise<Outcome<Result> | { readonly failure: ServiceError }> {
  const given = asked.get(context) ?? canonicalJson(input);
  const { preconditions } = context;
  const told = preconditions === noPreconditions ? given : given + canonicalJson(preconditions);
  const fingerprint = createHash("sha256").update(told).digest("base64url");
  const { transaction } = context;
  const store = transaction.idempotency;
  const now = context.clock.now();
  const form = context.resources.kept.answers(context.operationId);
  const kept = await store.find(scope, now);
  if (kept !== null) {
    if (kept.fingerprint !== fingerprint) throw fail("idempotency_key_reused");
    return { output: replay<Result>(kept, form), replayed: true };
  }
  const record = { scope, fingerprint, expiresAt: now + timeToLiveMillis };
  try {
    const output = await context.transact(work);
    const text = output instanceof JsonText ? output.text : JSON.stringify(output);
    await store.save({
      ...record,
      status: 200,
      body: text === undefined ? null : form.stored(text),
      shape: form.shape,
      etag: output instanceof JsonText ? (output.etag ?? null) : null,
    });
    return { output, replayed: false };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500 || error.retryable) throw error;
    await store.save({
      ...record,
      status: error.status,
      body: JSON.stringify(toEnvelope(error)),
      shape: null,
      etag: null,
    });
    return { failure: error };
  }
}

function replay<Result>(record: IdempotencyRecord, form: KeptForm): Output<Result> {
  if (record.status >= 400) {
    throw restoreError(JSON.parse(record.body ?? "{}") as ErrorEnvelope);
  }
  // The stored text was printed from a Result of this very operation; null stands for "no body".
  if (record.body === null) return undefined as Result;
  return new JsonText<Result>(form.told(record.body, record.shape), tagIn(form, record.etag));
}

/** The entity tag of a kept answer, in this version's form of answers (`validatorsOf`). */
function tagIn({ form }: KeptForm, etag: string | null): string | undefined {
  if (etag === null || form === null) return etag ?? undefined;
  return etag.replace(/^"(\d+)(?:-\d+)?"$/, form === 1 ? '"$1"' : `"$1-${form}"`);
}

/** An error as it was stored: one of the table, or of the author's own. */
function restoreError({ code, kind, detail, context }: ErrorEnvelope): ServiceError {
  const options = { headers: replayed };
  if (Object.hasOwn(errors, code)) return fail(code as ErrorCode, context, options);
  const known: ErrorKind = Object.hasOwn(errorKinds, kind) ? (kind as ErrorKind) : "conflict";
  // A stored answer is repeated as it was, even if the declaration has changed.
  return new ServiceError(code, row(known, detail), context, options);
}
