// What every generated function of a client goes through: one request, its credential, its repetitions, its errors.
// It is copied into each generated client, for browsers and Node.js alike, and has no dependency.
import { ApiError, errorOf, type ClientCode } from "./error.js";
import { within } from "./signals.js";
import { callerOf } from "./token.js";

export * from "./error.js";

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
  /** The header that carries the token; the generated `createClient` knows it. */
  readonly tokenHeader?: string;
  /** What stands before it; Bearer where left out. */
  readonly tokenScheme?: string;
}

export interface Client extends ClientOptions {
  /** Refreshes that are under way, by the token that they replace: calls that need one share it. */
  readonly refreshing: Map<string, Promise<boolean>>;
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
  /** Whether it looks at no credential: it is sent without, and its 401 is its own. */
  readonly ignoresTokens?: true;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMillis?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** One of the caller's own; a call that honours one has one of its own otherwise. */
  readonly idempotencyKey?: string;
  /** Is told the status and the headers of an answer before the call resolves. */
  readonly onAnswer?: (answer: Pick<Response, "status" | "headers">) => void;
}

/** What an operation answers whose result is bytes: a response, to be read as a stream. */
export type Bytes = Response;

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
  // What is no address at all is told by the first call.
  const baseUrl = String(options.baseUrl).replace(/\/+$/, "");
  return { ...options, baseUrl, refreshing: new Map() };
}

/** Calls an operation: with the token that is kept, again after a refresh where it has expired, again where that is safe. */
export function call<Result, Code extends string>(
  client: Client,
  operation: Operation,
  input: unknown = {},
  options: CallOptions = {},
): Call<Result, Code> {
  return callOf(run(client, operation, input as Input, options) as Promise<Result>);
}

/** A call of what is under way, which rejects with nothing but `ApiError`. */
export function callOf<Result, Code extends string>(result: Promise<Result>): Call<Result, Code> {
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
  const millis = options.timeoutMillis ?? client.timeoutMillis ?? 30_000;
  const work = async (signal: AbortSignal): Promise<unknown> => {
    const until = Date.now() + millis;
    const response = await repeated(client, operation, input, options, signal, until);
    options.onAnswer?.(response);
    // Bytes go on to be read after the call: whoever gives it up then ends their stream as well.
    if (operation.isBytes === true && response.ok) return response;
    const body = response.status === 204 ? undefined : await bodyOf(response);
    if (response.ok) return body;
    throw errorOf(body, response);
  };
  try {
    return await within(millis, work, options.signal, operation.isBytes);
  } catch (cause) {
    if (options.signal?.aborted === true)
      throw new ApiError("client.aborted", "the call was given up", { cause });
    // What is left is the application's own: its input, its store, its options.
    throw told(cause, "client.invalid", String(cause));
  }
}

/** An error that has a code already, or one of the client's. */
function told(cause: unknown, code: ClientCode, detail: string): ApiError {
  return cause instanceof ApiError ? cause : new ApiError(code, detail, { cause });
}

/** Where no answer has come, or not all of one. */
function lost(cause: unknown): never {
  throw told(cause, "client.network", "the service cannot be reached");
}

/** Sends a request until it has an answer that stands: a good one, a refusal, or the last that may be tried. */
async function repeated(
  client: Client,
  operation: Operation,
  input: Input,
  options: CallOptions,
  signal: AbortSignal,
  until: number,
): Promise<Response> {
  const { url, body, headers } = requestOf(client, operation, input, options);
  // Where the platform has none, that is no failure of the service.
  const send = client.fetch ?? fetch;
  const left = operation.repeats === undefined ? 0 : (client.retries ?? 2);
  let began: Tokens | null | undefined;
  let isRefreshed = false;
  for (let attempt = 0; ; attempt += 1) {
    const tokens = operation.ignoresTokens === true ? null : await raced(tokensOf(client), signal);
    if (began === undefined) began = tokens;
    // What one caller began is nothing for another to finish.
    if (!isSameCaller(began, tokens))
      throw new ApiError("client.aborted", "another caller signed in");
    if (tokens !== null) authorize(client, headers, tokens);
    let response: Response | undefined;
    try {
      response = await send(url, {
        method: operation.method,
        headers,
        body,
        signal,
      });
    } catch (error) {
      if (signal.aborted) throw error;
      if (attempt >= left) lost(error);
    }
    if (response?.status === 401 && tokens !== null && !isRefreshed) {
      isRefreshed = true;
      attempt -= 1;
      if (await raced(refreshTokens(client, tokens), signal)) {
        await response.body?.cancel();
        continue;
      }
    }
    const millis = retryAfterMillis(response) ?? 2 ** attempt * 400 * Math.random();
    // An answer that says to come back when nobody waits any more stands as well.
    const isLast = attempt >= left || Date.now() + millis > until;
    if (response !== undefined && (isLast || !isPassing(response))) return response;
    await response?.body?.cancel();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const pause = new Promise((resolve) => (timer = setTimeout(resolve, millis)));
    await raced(pause, signal).finally(() => clearTimeout(timer));
  }
}

/** When the service would like to be asked again, in milliseconds (RFC 9110 §10.2.3); undefined where it does not say. */
export function retryAfterMillis(response: Response | undefined): number | undefined {
  const told = response?.headers.get("retry-after") ?? "";
  const millis = /^\d+$/.test(told) ? Number(told) * 1_000 : Date.parse(told) - Date.now();
  return Number.isNaN(millis) ? undefined : Math.max(0, millis);
}

export async function tokensOf({ tokens }: Client): Promise<Tokens | null> {
  return (await tokens?.get()) ?? null;
}

/** Who is signed in now; "" where nobody is, or the token does not say. */
export async function currentCaller(client: Client): Promise<string> {
  return callerOf((await tokensOf(client))?.access_token ?? "");
}

/** Puts a token into the header that the service looks at. */
export function authorize(
  { tokenHeader = "authorization", tokenScheme = "Bearer" }: Client,
  headers: Headers,
  tokens: Pick<Tokens, "access_token">,
): void {
  headers.set(tokenHeader, `${tokenScheme} ${tokens.access_token}`);
}

/** Whether both are of one caller, as far as tokens say. */
function isSameCaller(left: Tokens | null, right: Tokens | null): boolean {
  if (left === null || right === null) return left === right;
  return callerOf(left.access_token) === callerOf(right.access_token);
}

/** Answers that another try may better: too many requests, a service that goes away, a key that is in use. */
function isPassing({ status, headers }: Response): boolean {
  const code = headers.get("x-error-code");
  return [429, 502, 503, 504].includes(status) || code === "idempotency_in_flight";
}

/** What is waited for, unless the signal comes first. */
function raced<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason as Error);
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave);
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}

/** Random letters and digits, which are no secret; `crypto.randomUUID` is missing on plain HTTP, all of it on some platforms. */
export function randomKey(): string {
  const random = (): number => Math.random() * 256;
  const bytes = new Uint8Array(16).map(random);
  globalThis.crypto?.getRandomValues(bytes);
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * New tokens in place of those, at once for all calls that found them expired; false where there are none to be had, or
 * somebody else has signed in or out. Rejects where the service has none to give now.
 */
export function refreshTokens(client: Client, used: Tokens): Promise<boolean> {
  const key = used.access_token;
  let refreshing = client.refreshing.get(key);
  if (refreshing === undefined) {
    refreshing = alone(client, () => refresh(client, used));
    client.refreshing.set(key, refreshing);
    const forget = (): void => void client.refreshing.delete(key);
    refreshing.then(forget, forget);
  }
  return refreshing;
}

/** Web Locks, where the platform has them. */
type Locks = { request<Result>(name: string, work: () => Promise<Result>): Promise<Result> };

/** Runs after what other tabs do of the same. */
function alone(client: Client, work: () => Promise<boolean>): Promise<boolean> {
  const { navigator } = globalThis as { readonly navigator?: { readonly locks?: Locks } };
  let running: Promise<boolean> | undefined;
  const once = (): Promise<boolean> => (running ??= work());
  // A page without an origin has locks, which refuse.
  return (
    navigator?.locks?.request(`opwright refresh ${client.baseUrl}`, once).catch(once) ?? once()
  );
}

async function refresh(client: Client, used: Tokens): Promise<boolean> {
  const { refreshPath, tokens } = client;
  const kept = await tokensOf(client);
  if (kept === null) return false;
  // Another call, or another tab, has been quicker.
  if (kept.access_token !== used.access_token) return isSameCaller(kept, used);
  if ((refreshPath ?? "") === "" || used.refresh_token == null) return false;
  const operation = { method: "POST", path: refreshPath ?? "", body: "input", ignoresTokens: true };
  const input = { refresh_token: used.refresh_token };
  // Not the time of the call that came first: others wait for this as well.
  const send = (timeoutMillis: number): Promise<unknown> =>
    run(client, operation as Operation, input, { timeoutMillis }).catch((error: ApiError) => {
      if (error.code.startsWith("client.")) throw error;
      return error;
    });
  // An answer that is lost is asked for again at once: later the token counts as stolen.
  const answer = await send(4_000).catch(() => send(client.timeoutMillis ?? 30_000));
  const fresh = answer instanceof ApiError ? null : (answer as Tokens);
  const now = await tokensOf(client);
  // Who has signed out, or in as somebody else, stays that.
  if (now?.access_token !== used.access_token) return now !== null && isSameCaller(now, used);
  // A refusal is for good; a service that does not answer well now may later.
  if (answer instanceof ApiError && answer.status !== 401) throw answer;
  await tokens?.set(fresh);
  return fresh !== null;
}

/** Refuses an address that leads nowhere; one without a host is of the page, or of the application's own `fetch`. */
function checkAddress({ baseUrl, fetch: own }: Client): void {
  const isPath = /^(\/(?!\/)|$)/.test(baseUrl);
  if (isPath && (own !== undefined || "location" in globalThis)) return;
  if (!/^https?:\/\/[^/?#@]+(\/[^?#]*)?$/i.test(new URL(baseUrl).href)) throw new Error(baseUrl);
}

function requestOf(client: Client, operation: Operation, input: Input, options: CallOptions) {
  checkAddress(client);
  const used = new Set<string>();
  const path = operation.path.replace(/\{(\+?)([^}]+)\}/g, (_, plus: string, name: string) => {
    used.add(name);
    return pathText(name, input[name], plus === "+");
  });
  const query = new URLSearchParams();
  for (const name of operation.query ?? []) {
    used.add(name);
    if (input[name] !== undefined) query.set(name, String(input[name]));
  }
  const headers = new Headers(client.headers);
  for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value);
  if (operation.repeats === "keyed")
    headers.set("idempotency-key", options.idempotencyKey ?? randomKey());
  const rest = Object.entries(input).filter(([name]) => !used.has(name));
  const body = bodyOfRequest(operation, input, rest);
  if (typeof body === "string") headers.set("content-type", "application/json");
  return {
    url: `${client.baseUrl}${path}${String(query) && `?${query}`}`,
    headers,
    body,
  };
}

/** A member as part of a path. A segment that is empty or dots would lead to another operation. */
function pathText(name: string, value: unknown, hasSegments: boolean): string {
  const text = String(value ?? "");
  const segments = hasSegments ? text.split("/") : [text];
  if (segments.some((segment) => ["", ".", ".."].includes(segment)))
    throw new ApiError("client.invalid", `${name} cannot be part of a path`);
  return segments.map(encodeURIComponent).join("/");
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
  const text = await response.text().catch(lost);
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
