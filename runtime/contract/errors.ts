// The one error table: every code a service can answer with (decisions.md §1 "Errors", service.md
// "Errors").

/** Kinds of error and the HTTP status a code of that kind has unless it names its own. */
export const errorKinds = {
  malformed: 400,
  domain: 400,
  authentication: 401,
  authorization: 403,
  not_found: 404,
  validation: 422,
  conflict: 409,
  concurrency: 409,
  precondition: 412,
  throttled: 429,
  unavailable: 503,
  timeout: 504,
  configuration: 500,
  infrastructure: 500,
  internal: 500,
} as const;

export type ErrorKind = keyof typeof errorKinds;

/**
 * One row of the table. `retryable` means that the same request may succeed later without being
 * changed.
 */
export interface ErrorDefinition {
  readonly kind: ErrorKind;
  readonly status: number;
  readonly detail: string;
  readonly retryable: boolean;
}

/** The definition of an error of a kind, of this table or of the author's own. */
export function row(
  kind: ErrorKind,
  detail: string,
  options: { readonly status?: number; readonly retryable?: boolean } = {},
): ErrorDefinition {
  return {
    kind,
    status: options.status ?? errorKinds[kind],
    detail,
    retryable: options.retryable ?? false,
  };
}

const generic = "The service could not answer this request.";

/** The one table of errors: each code with its kind, status and detail. */
export const errors = {
  "core.malformed": row("malformed", "The request is malformed."),
  http_malformed: row("malformed", "The request is not valid HTTP."),
  request_timeout: row("malformed", "The request took too long to arrive.", { status: 408 }),
  headers_too_large: row("malformed", "The request headers are too large.", { status: 431 }),
  expectation_failed: row("malformed", "The Expect header may only ask for 100-continue.", {
    status: 417,
  }),
  upgrade_required: row("malformed", "This address only accepts WebSocket connections.", {
    status: 426,
  }),
  path_malformed: row("malformed", "The path is not valid percent-encoded UTF-8."),
  parameter_malformed: row(
    "malformed",
    "A query parameter or form field is repeated or not well formed.",
  ),
  header_malformed: row("malformed", "A request header is not well formed."),
  json_malformed: row("malformed", "The body is not valid JSON."),
  json_duplicate_key: row("malformed", "The body repeats a key within one object."),
  json_too_deep: row("malformed", "The body is nested too deeply."),
  revision_ambiguous: row("malformed", "The rev parameter and If-Match name different revisions."),
  idempotency_key_malformed: row(
    "malformed",
    "Idempotency-Key must be 1 to 255 visible ASCII characters.",
  ),
  deadline_malformed: row("malformed", "X-Deadline-Budget must be a positive number of seconds."),

  "core.domain": row("domain", "The operation is not possible in the current state."),
  document_deleted: row("domain", "The document is deleted; restore it first."),

  "core.authentication": row("authentication", "Authentication is required."),
  tenant_required: row("authentication", "The credential is not scoped to a tenant."),
  tenant_mismatch: row("authentication", "The tenant is not one of the caller's."),
  tenant_inactive: row("authentication", "The tenant is not active."),
  tenant_conflict: row("authentication", "The request names another tenant than its credential."),
  "core.authorization": row("authorization", "This action is not permitted."),
  profile_required: row("authorization", "The caller has no profile, which this action needs."),
  current_password_wrong: row("authorization", "The current password is not the caller's."),
  origin_forbidden: row("authorization", "A cookie counts only in requests of this origin."),

  realtime_topics_unauthorized: row("authorization", "A topic is not granted to the caller."),
  realtime_origin_forbidden: row("authorization", "This origin may not connect."),
  direct_transfer_forbidden: row(
    "authorization",
    "The signed address is not valid, or has expired.",
  ),

  "core.not_found": row("not_found", "There is nothing at this address."),
  route_not_found: row("not_found", "No operation has this path."),
  method_not_allowed: row("not_found", "This path does not answer that method.", { status: 405 }),

  "core.validation": row("validation", "The input does not match its schema."),
  body_too_large: row("validation", "The request body is too large.", { status: 413 }),
  media_type_unsupported: row(
    "validation",
    "This Content-Type, charset or Content-Encoding is not accepted here.",
    { status: 415 },
  ),
  json_too_complex: row("validation", "The body holds too many values."),
  number_not_exact: row("validation", "A number in the body cannot be represented exactly."),
  upload_too_large: row("validation", "The file is too large.", { status: 413 }),
  upload_malformed: row(
    "validation",
    "The form must have one file, and text fields that are known.",
  ),
  upload_type_unsupported: row("validation", "Files of this type are not accepted here.", {
    status: 415,
  }),
  upload_session_invalid: row(
    "validation",
    "The upload session does not come from this service, or was changed.",
  ),
  upload_parts_invalid: row("validation", "The parts do not make up the object."),
  range_not_satisfiable: row("validation", "The range begins after the end of the object.", {
    status: 416,
  }),
  realtime_protocol_unsupported: row("validation", "This version of the protocol is not spoken."),
  realtime_invalid_frame: row("validation", "The frame does not follow the protocol."),
  realtime_invalid_payload: row("validation", "The payload does not match what the command takes."),
  realtime_command_unknown: row("validation", "There is no such command."),
  realtime_topics_limit: row("validation", "The connection asks for too many topics."),
  query_invalid: row("validation", "The query is not well formed."),
  field_not_queryable: row("validation", "A field in the query is not declared."),
  query_operator_type_mismatch: row(
    "validation",
    "An operator in the query does not fit the type of its field.",
  ),
  query_too_complex: row("validation", "The query is too complex."),
  invalid_cursor: row("validation", "The cursor does not belong to this query."),
  idempotency_key_reused: row(
    "validation",
    "This Idempotency-Key was used with different arguments.",
  ),

  "core.conflict": row("conflict", "The request conflicts with the current state."),
  revision_mismatch: row("conflict", "The document has changed since that revision."),
  reference_in_use: row("conflict", "Other documents refer to this one."),
  restore_refused: row("conflict", "What was deleted with it cannot be restored."),
  bulk_refused: row("conflict", "Some of the items were refused, so none was written."),
  unique_violation: row("conflict", "Another document has these values already."),
  overlap_violation: row("conflict", "The range overlaps with that of another document."),
  transition_not_allowed: row("conflict", "This state does not follow the one before."),
  historical_consistency_violation: row(
    "conflict",
    "The edit overlaps edits made since that revision.",
  ),
  api_keys_limit: row("conflict", "The caller has too many API keys; revoke one first."),
  invitations_limit: row("conflict", "The tenant has too many open invitations; revoke one first."),
  tenants_limit: row("conflict", "The caller is a member of too many tenants; leave one first."),
  last_holder: row("conflict", "Nobody else has this role; give it to another member first."),
  webhooks_limit: row("conflict", "The caller has too many webhooks; delete one first."),
  encryption_forbids_direct_transfer: row(
    "conflict",
    "Files that the service encrypts must pass through the service.",
  ),
  presigned_upload_unsafe: row(
    "conflict",
    "The object server would take more from an upload than was signed; send the file to the service.",
  ),
  job_run_state: row("conflict", "The state of the run does not allow this."),
  realtime_device_replaced: row("conflict", "This device has connected again."),
  idempotency_in_flight: row("conflict", "A request with this Idempotency-Key is still running.", {
    retryable: true,
  }),
  "core.concurrency": row("concurrency", "Concurrent writes kept succeeding first; try again.", {
    retryable: true,
  }),

  "core.precondition": row("precondition", "A precondition failed."),
  precondition_failed: row("precondition", "A condition of the request's headers does not hold."),
  history_not_found_retry: row(
    "precondition",
    "The snapshot of that revision is gone; read the document and try again.",
    { retryable: true },
  ),
  revision_required: row("precondition", "Name the revision with ?rev= or If-Match.", {
    status: 428,
  }),

  realtime_commands_limit: row("throttled", "Too many commands are running on this connection."),
  realtime_connections_limit: row("throttled", "The caller has too many connections."),
  "core.throttled": row("throttled", "Too many requests.", { retryable: true }),

  "core.unavailable": row("unavailable", generic, { retryable: true }),
  service_draining: row("unavailable", generic, { retryable: true }),

  "core.timeout": row("timeout", generic),
  deadline_exceeded: row("timeout", generic),

  "core.configuration": row("configuration", generic),
  "core.infrastructure": row("infrastructure", generic),
  "core.internal": row("internal", generic),
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errors;

/**
 * The JSON body of every error, over HTTP and in realtime command acknowledgements (service.md
 * "Envelope and headers").
 */
export interface ErrorEnvelope {
  readonly detail: string;
  readonly code: string;
  readonly kind: string;
  readonly context: Readonly<Record<string, unknown>>;
}

/**
 * An error a caller may see. `context` is sent only below status 500; `cause` goes to the log
 * alone.
 */
export class ServiceError extends Error {
  readonly code: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly definition: ErrorDefinition;

  constructor(
    code: string,
    definition: ErrorDefinition,
    context: Readonly<Record<string, unknown>>,
    options: { readonly cause?: unknown; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(definition.detail, { cause: options.cause });
    this.name = "ServiceError";
    this.code = code;
    this.definition = definition;
    this.context = context;
    this.headers = options.headers ?? {};
  }

  /**
   * Whether something thrown is one. An author may throw a proxy, and asking for its prototype may
   * throw as well.
   */
  static override [Symbol.hasInstance](thrown: unknown): boolean {
    try {
      return Function.prototype[Symbol.hasInstance].call(this, thrown);
    } catch {
      return false;
    }
  }

  get status(): number {
    return this.definition.status;
  }

  get retryable(): boolean {
    return this.definition.retryable;
  }
}

/** Makes the error of one table row: `throw fail("revision_mismatch", { current_rev: 3 })`. */
export function fail(
  code: ErrorCode,
  context: Readonly<Record<string, unknown>> = {},
  options: { readonly cause?: unknown; readonly headers?: Readonly<Record<string, string>> } = {},
): ServiceError {
  return new ServiceError(code, errors[code], context, options);
}

/**
 * What somebody has come with counts for nothing; in which part of it is at fault, all answers are
 * alike.
 */
export function refusedCredentials(cause?: unknown): ServiceError {
  const code = "core.authentication";
  const definition = { ...errors[code], detail: "The credentials were not accepted." };
  return new ServiceError(code, definition, {}, { cause });
}

/** Whether a transaction failed because others came first, so that it may be tried again. */
export function isConflict(error: unknown): boolean {
  return error instanceof ServiceError && error.code === "core.concurrency";
}

/** What passes by itself or once an engine is mended: 503 with `Retry-After`. */
export function unavailable(cause?: unknown): ServiceError {
  return fail(
    "core.unavailable",
    {},
    { ...(cause === undefined ? {} : { cause }), headers: { "Retry-After": "1" } },
  );
}

/**
 * An error as callers may see it: one that is not of the table becomes a masked `core.internal`.
 */
export function knownError(error: unknown): ServiceError {
  return error instanceof ServiceError ? error : fail("core.internal", {}, { cause: error });
}

/**
 * The headers of an error's answer: its own, and what every answer of its status has. `challenge`
 * is for a 401 without one.
 */
export function headersOf(
  error: ServiceError,
  challenge = "Bearer",
): Readonly<Record<string, string>> {
  const names = Object.keys(error.headers).map((name) => name.toLowerCase());
  const usual: Record<string, string> = { "X-Error-Code": error.code };
  // RFC 9110 §15.5.2 and RFC 6750 §3: which credential a caller should send.
  if (error.status === 401 && !names.includes("www-authenticate"))
    usual["WWW-Authenticate"] = challenge;
  // A fault that passes says when to try again.
  const passes = error.status === 503 || error.status === 429;
  if (passes && !names.includes("retry-after")) usual["Retry-After"] = "1";
  return { ...usual, ...error.headers };
}

/** The envelope a client sees: statuses from 500 up carry neither context nor a specific detail. */
export function toEnvelope(error: ServiceError): ErrorEnvelope {
  const { definition } = error;
  return {
    detail: definition.detail,
    code: error.code,
    kind: definition.kind,
    context: definition.status < 500 ? error.context : {},
  };
}
