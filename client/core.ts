// What every generated function of a client goes through: one request, its credential, its repetitions, its errors.
// It is copied into each generated client, for browsers and Node.js alike, and imports nothing.

/** Where tokens are kept: in memory, in a browser's storage, wherever the application likes. */
export interface TokenStore {
  get(): Tokens | null | Promise<Tokens | null>;
  /** Null forgets them: nobody is signed in any more. */
  set(tokens: Tokens | null): void | Promise<void>;
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token?: string | null;
}

export interface ClientOptions {
  /** The address of the service, such as `https://api.example.com`. */
  readonly baseUrl: string;
  readonly tokens?: TokenStore;
  /** Sent with every request, such as `X-API-Key`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How often a call that may be repeated is tried again; 2 where left out. */
  readonly retries?: number;
  /** How long a call takes at most, its repetitions included, in milliseconds; 30 000 where left out. */
  readonly timeoutMillis?: number;
  readonly fetch?: typeof fetch;
  /** The path that gives new tokens for a refresh token; the generated `createClient` knows it. Empty is none. */
  readonly refreshPath?: string;
}

export interface Client extends ClientOptions {
  /** A refresh that is under way: calls that need one share it. */
  refreshing: Promise<boolean> | undefined;
}

/** What a generated function knows of its operation. */
export interface Operation {
  readonly method: string;
  /** With `{name}` for members of the input; `{+name}` may have slashes. */
  readonly path: string;
  /** Members of the input that travel in the query. */
  readonly query?: readonly string[];
  /** What the body is: the input (`input`), the members that travel nowhere else (`rest`), a form of them, or one member. */
  readonly body?: "input" | "rest" | "form" | { readonly member: string };
  /** `safe` changes nothing; `keyed` honours an Idempotency-Key. Others are not tried again. */
  readonly repeats?: "safe" | "keyed";
  /** Whether it answers with bytes, which are handed over as the response. */
  readonly isBytes?: true;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMillis?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** One of the caller's own; a call that honours one has one of its own otherwise. */
  readonly idempotencyKey?: string;
}

/** Codes of errors that the client itself has. */
export type ClientCode =
  | "client.network"
  | "client.timeout"
  | "client.aborted"
  | "client.unreadable";

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
      readonly kind?: string;
      readonly context?: Readonly<Record<string, unknown>>;
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

/** A result, or its error as a value. */
export type Settled<Result, Code extends string> =
  | { readonly ok: true; readonly data: Result }
  | { readonly ok: false; readonly error: ApiError<Code> };

/** A call that is under way. Awaited, it throws its error. */
export interface Call<Result, Code extends string = string> extends Promise<Result> {
  /** Resolves with the result or with the error, whose `code` tells which. Never rejects. */
  settled(): Promise<Settled<Result, Code | ClientCode>>;
}

/** A client of a service. */
export function createClient(options: ClientOptions): Client {
  return { ...options, baseUrl: options.baseUrl.replace(/\/+$/, ""), refreshing: undefined };
}

/** Calls an operation: with the token that is kept, again after a refresh where it has expired, again where that is safe. */
export function call<Result, Code extends string>(
  client: Client,
  operation: Operation,
  input: unknown = {},
  options: CallOptions = {},
): Call<Result, Code> {
  const result = run(client, operation, input as Input, options) as Promise<Result>;
  return Object.assign(result, {
    settled: () =>
      result.then(
        (data) => ({ ok: true as const, data }),
        (error: unknown) => ({ ok: false as const, error: error as ApiError<Code> }),
      ),
  });
}

type Input = Readonly<Record<string, unknown>>;

async function run(
  client: Client,
  operation: Operation,
  input: Input,
  options: CallOptions,
): Promise<unknown> {
  const patience = new AbortController();
  const millis = options.timeoutMillis ?? client.timeoutMillis ?? 30_000;
  const timer = setTimeout(
    () => patience.abort(new ApiError("client.timeout", `no answer in ${millis} ms`)),
    millis,
  );
  const leave = (): void =>
    patience.abort(
      new ApiError("client.aborted", "the call was given up", { cause: options.signal?.reason }),
    );
  if (options.signal?.aborted === true) leave();
  options.signal?.addEventListener("abort", leave);
  try {
    const response = await repeated(client, operation, input, options, patience.signal);
    if (operation.isBytes === true && response.ok) return response;
    const body = response.status === 204 ? undefined : await bodyOf(response);
    if (response.ok) return body;
    throw toldError(response, body);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (patience.signal.aborted) throw patience.signal.reason;
    throw new ApiError("client.network", "the service cannot be reached", { cause: error });
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", leave);
  }
}

/** Sends a request until it has an answer that stands: a good one, a refusal, or the last that may be tried. */
async function repeated(
  client: Client,
  operation: Operation,
  input: Input,
  options: CallOptions,
  signal: AbortSignal,
): Promise<Response> {
  const { url, body, headers } = requestOf(client, operation, input, options);
  const left = operation.repeats === undefined ? 0 : (client.retries ?? 2);
  let isRefreshed = false;
  for (let attempt = 0; ; attempt += 1) {
    const tokens = (await client.tokens?.get()) ?? null;
    if (tokens !== null) headers.set("authorization", `Bearer ${tokens.access_token}`);
    let response: Response | undefined;
    try {
      response = await (client.fetch ?? fetch)(url, {
        method: operation.method,
        headers,
        body: body(),
        signal,
      });
    } catch (error) {
      if (signal.aborted || attempt >= left) throw error;
    }
    if (response?.status === 401 && tokens !== null && !isRefreshed) {
      isRefreshed = true;
      attempt -= 1;
      if (await refreshed(client, tokens)) {
        await response.body?.cancel();
        continue;
      }
    }
    if (response !== undefined && (attempt >= left || !isPassing(response))) return response;
    const told = Number(response?.headers.get("retry-after") ?? Number.NaN);
    await response?.body?.cancel();
    await pause(Number.isFinite(told) ? told * 1_000 : 2 ** attempt * 400 * Math.random(), signal);
  }
}

/** Answers that another try may better: too many requests, a service that goes away, a key that is in use. */
function isPassing({ status, headers }: Response): boolean {
  const code = headers.get("x-error-code");
  return [429, 502, 503, 504].includes(status) || code === "idempotency_in_flight";
}

function pause(millis: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, millis);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** New tokens in place of those, at once for all calls that found them expired; false where there are none to be had. */
async function refreshed(client: Client, used: Tokens): Promise<boolean> {
  const kept = await client.tokens?.get();
  // Another call has been quicker.
  if (kept != null && kept.access_token !== used.access_token) return true;
  client.refreshing ??= refresh(client, used).finally(() => {
    client.refreshing = undefined;
  });
  return client.refreshing;
}

async function refresh(client: Client, used: Tokens): Promise<boolean> {
  const { refreshPath, tokens } = client;
  if (refreshPath === undefined || refreshPath === "" || used.refresh_token == null) return false;
  const response = await (client.fetch ?? fetch)(client.baseUrl + refreshPath, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ refresh_token: used.refresh_token }),
    // Not that of the call that came first: others wait for this as well.
    signal: AbortSignal.timeout(client.timeoutMillis ?? 30_000),
  });
  if (response.ok) await tokens?.set((await response.json()) as Tokens);
  // A refusal is for good; a service that does not answer well now may later.
  else if (response.status < 500 && response.status !== 429) await tokens?.set(null);
  return response.ok;
}

function requestOf(client: Client, operation: Operation, input: Input, options: CallOptions) {
  const used = new Set<string>();
  const path = operation.path.replace(/\{(\+?)([^}]+)\}/g, (_, plus: string, name: string) => {
    used.add(name);
    const text = encodeURIComponent(String(input[name]));
    return plus === "" ? text : text.replaceAll("%2F", "/");
  });
  const query = new URLSearchParams();
  for (const name of operation.query ?? []) {
    used.add(name);
    if (input[name] !== undefined) query.set(name, String(input[name]));
  }
  const headers = new Headers({ ...client.headers, ...options.headers });
  if (operation.repeats === "keyed")
    headers.set("idempotency-key", options.idempotencyKey ?? crypto.randomUUID());
  const rest = Object.entries(input).filter(([name]) => !used.has(name));
  const body = bodyOfRequest(operation, input, rest);
  if (typeof body === "string") headers.set("content-type", "application/json");
  return {
    url: `${client.baseUrl}${path}${query.size === 0 ? "" : `?${query}`}`,
    headers,
    body: () => body,
  };
}

function bodyOfRequest(
  { body }: Operation,
  input: Input,
  rest: readonly (readonly [string, unknown])[],
): string | FormData | null {
  if (body === undefined) return null;
  if (body === "input") return JSON.stringify(input);
  if (body === "rest") return JSON.stringify(Object.fromEntries(rest));
  if (body !== "form") return JSON.stringify(input[body.member] ?? null);
  const form = new FormData();
  // Files stand behind the fields.
  for (const isFile of [false, true])
    for (const [name, value] of rest)
      if (value !== undefined && value instanceof Blob === isFile)
        form.set(name, value instanceof Blob ? value : String(value));
  return form;
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ApiError("client.unreadable", "the answer is no JSON", {
      status: response.status,
      cause,
    });
  }
}

function toldError(response: Response, body: unknown): ApiError {
  const { code, detail, kind, context } = (body ?? {}) as Partial<ApiError & { detail: string }>;
  return new ApiError(code ?? "client.unreadable", detail ?? response.statusText, {
    status: response.status,
    requestId: response.headers.get("x-request-id"),
    ...(kind === undefined ? {} : { kind }),
    ...(context === undefined ? {} : { context }),
  });
}

/** A list by cursor, as generated code has it. */
type ListByCursor<ListInput, Hit> = (
  client: Client,
  input: ListInput | undefined,
  options?: CallOptions,
) => Promise<{ readonly hits: readonly Hit[]; readonly next_cursor: string | null }>;

/**
 * All that a list by cursor finds, page after page: `for await (const task of each(tasks.listCursor, client, {}))`. A cursor
 * that comes twice would never end, and throws `client.cursor_repeated`.
 */
export async function* each<ListInput extends { readonly after?: string }, Hit>(
  list: ListByCursor<ListInput, Hit>,
  client: Client,
  input: NoInfer<ListInput>,
  options?: CallOptions,
): AsyncGenerator<Hit, void, undefined> {
  const seen = new Set<string>();
  let next: string | null | undefined = input.after;
  do {
    const page = await list(client, next == null ? input : { ...input, after: next }, options);
    yield* page.hits;
    next = page.next_cursor;
    if (next !== null && seen.has(next))
      throw new ApiError("client.cursor_repeated", "the service gave a cursor twice");
    if (next !== null) seen.add(next);
  } while (next !== null);
}
