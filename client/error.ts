// Errors by their codes: those that the service tells, and those of the client itself.

/** Codes of errors that the client itself has. */
export type ClientCode =
  | "client.network"
  | "client.timeout"
  | "client.aborted"
  | "client.unreadable"
  | "client.cursor_repeated"
  | "client.upload_refused"
  | "client.too_large"
  | "client.invalid"
  | "client.closed"
  | "client.lagging";

/**
 * An error by its code, as the service told it, or one of the client itself. The status is 0 where
 * no answer was refused.
 */
export class ApiError<Code extends string = string> extends Error {
  readonly code: Code;
  readonly status: number;
  readonly kind: string;
  readonly context: Readonly<Record<string, unknown>>;
  /** The answer's body, if the service has its own envelope: `ErrorBody`, or its other name. */
  readonly body: unknown;
  /** The request's id in the service's log. */
  readonly requestId: string | null;

  constructor(
    code: Code,
    detail: string,
    told: {
      readonly status?: number;
      readonly kind?: string | undefined;
      readonly context?: Readonly<Record<string, unknown>> | undefined;
      readonly body?: unknown;
      readonly requestId?: string | null;
      readonly cause?: unknown;
    } = {},
  ) {
    super(detail, { cause: told.cause });
    this.name = "ApiError";
    this.code = code;
    this.status = told.status ?? 0;
    this.kind = told.kind ?? "client";
    this.context = told.context ?? {};
    this.body = told.body;
    this.requestId = told.requestId ?? null;
  }
}

/**
 * Whether something that was caught is an error of a call; with codes, whether it has one of them.
 */
export function isApiError<Code extends string = string>(
  error: unknown,
  ...codes: readonly Code[]
): error is ApiError<Code> {
  return error instanceof ApiError && (codes.length === 0 || codes.includes(error.code as Code));
}

/**
 * The error of a body that the service answered with. The header tells its code, whatever the body
 * is; realtime has no header.
 */
export function errorOf(body: unknown, response?: Response): ApiError {
  const { code, detail, kind, context } = (body ?? {}) as Readonly<Record<string, unknown>>;
  const text = (value: unknown): string | undefined =>
    typeof value === "string" ? value : undefined;
  // An answer to HEAD has no body.
  const told = response?.headers.get("x-error-code") ?? text(code) ?? "client.unreadable";
  return new ApiError(told, text(detail) ?? response?.statusText ?? "", {
    status: response?.status ?? 0,
    requestId: response?.headers.get("x-request-id") ?? null,
    kind: text(kind),
    context:
      typeof context === "object" && context !== null
        ? (context as Readonly<Record<string, unknown>>)
        : undefined,
    body,
  });
}
