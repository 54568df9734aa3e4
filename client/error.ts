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
  | "client.closed";

/** An error by its code, as the service told it, or one of the client itself, whose status is 0. */
export class ApiError<Code extends string = string> extends Error {
  readonly code: Code;
  readonly status: number;
  readonly kind: string;
  readonly context: Readonly<Record<string, unknown>>;
  /** What the service's log knows the request by. */
  readonly requestId: string | null;

  constructor(
    code: Code,
    detail: string,
    told: {
      readonly status?: number;
      readonly kind?: string | undefined;
      readonly context?: Readonly<Record<string, unknown>> | undefined;
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
    this.requestId = told.requestId ?? null;
  }
}

/** Whether something that was caught is an error of a call; with codes, whether it has one of them. */
export function isApiError<Code extends string = string>(
  error: unknown,
  ...codes: readonly Code[]
): error is ApiError<Code> {
  return error instanceof ApiError && (codes.length === 0 || codes.includes(error.code as Code));
}

/** The error of an envelope that the service answered with. */
export function errorOf(envelope: unknown, response?: Response): ApiError {
  const { code, detail, kind, context } = (envelope ?? {}) as Partial<
    ApiError & { readonly detail: string }
  >;
  // An answer to HEAD has no body.
  const told = code ?? response?.headers.get("x-error-code") ?? "client.unreadable";
  return new ApiError(told, detail ?? response?.statusText ?? "", {
    status: response?.status ?? 0,
    requestId: response?.headers.get("x-request-id") ?? null,
    kind,
    context,
  });
}
