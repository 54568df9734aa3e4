// What every generated function of a client goes through: one request, its credential, its
// repetitions, its errors. It is copied into each generated client, for browsers and Node.js alike,
// and has no dependency.
import { anotherCaller, callerOf, heldBy } from "./caller.js";
import { ApiError, errorOf, type ClientCode } from "./error.js";
import type {
  Call,
  CallerSource,
  CallerClient,
  CallOptions,
  Client,
  ClientOptions,
  Held,
  Operation,
  Tokens,
  TokenStore,
} from "./options.js";
import { backOffMillis, isPassing, isTokens, renewTokens, type Refreshed } from "./refresh.js";
import { requestOf, type Input } from "./request.js";
import { givesUp, pause, raceSignal, within } from "./signals.js";

export * from "./error.js";
export { randomKey } from "./request.js";
export type * from "./options.js";

/**
 * A client of a service. Caches take one that is told who calls: by its token store, or by
 * `caller`.
 */
export function createClient(
  options: ClientOptions & ({ readonly tokens: TokenStore } | CallerSource),
): CallerClient;
export function createClient(options: ClientOptions): Client;
export function createClient(options: ClientOptions): Client {
  // A base URL that can't be parsed fails the first call.
  const baseUrl = String(options.baseUrl).replace(/\/+$/, "");
  // Without types a store may have none.
  const tokens: Partial<TokenStore> | undefined = options.tokens;
  const caller = options.caller ?? tokens?.caller?.bind(tokens);
  const told = caller === undefined ? {} : { caller };
  return { ...options, ...told, baseUrl, refreshing: new Map(), leaving: new Map() };
}

/** Calls an operation with the stored token; retries after a refresh, and where that is safe. */
export function call<Result, Code extends string>(
  client: Client,
  operation: Operation,
  input: unknown = {},
  options: CallOptions = {},
): Call<Result, Code> {
  return callOf(run(client, operation, input as Input, options) as Promise<Result>);
}

/** A call under way. It rejects only with `ApiError`. */
export function callOf<Result, Code extends string>(result: Promise<Result>): Call<Result, Code> {
  return Object.assign(result, {
    settled: () =>
      result.then(
        (data) => ({ ok: true as const, data }),
        (error: unknown) => ({ ok: false as const, error: error as ApiError<Code> }),
      ),
  });
}

async function run(
  client: Client,
  operation: Operation,
  input: Input,
  options: CallOptions,
): Promise<unknown> {
  const millis = options.timeoutMillis ?? client.timeoutMillis ?? 30_000;
  const work = async (signal: AbortSignal): Promise<unknown> => {
    const until = Date.now() + millis;
    const response = await sendUntilAnswered(client, operation, input, options, signal, until);
    options.onAnswer?.(response);
    // Bytes go on to be read after the call: whoever gives it up then ends their stream as well.
    if (operation.isBytes === true && response.ok) {
      givesUp.set(response, options.signal);
      return response;
    }
    const body = response.status === 204 ? undefined : await bodyOf(response);
    if (response.ok) return body;
    throw errorOf(body, response);
  };
  try {
    return await within(millis, work, options.signal, operation.isBytes);
  } catch (cause) {
    if (options.signal?.aborted === true)
      throw new ApiError("client.aborted", "the call was given up", { cause });
    // Any other error comes from the application: its input, its token store, its options.
    throw toApiError(cause, "client.invalid", String(cause));
  }
}

/** An error that has a code already, or one of the client's. */
function toApiError(cause: unknown, code: ClientCode, detail: string): ApiError {
  return cause instanceof ApiError ? cause : new ApiError(code, detail, { cause });
}

/** Where no answer has come, or not all of one. */
function failUnreachable(cause: unknown): never {
  throw toApiError(cause, "client.network", "the service cannot be reached");
}

/**
 * Sends a request until it has an answer that stands: a good one, a refusal, or the last that may
 * be tried.
 */
async function sendUntilAnswered(
  client: Client,
  operation: Operation,
  input: Input,
  options: CallOptions,
  signal: AbortSignal,
  until: number,
): Promise<Response> {
  // Noted before anything is waited for: what one caller starts is nothing for another to finish.
  const caller = options.caller === undefined ? callerOf(client) : options.caller || null;
  const { url, body, headers } = requestOf(client, operation, input, options);
  // A platform without it is not the service's fault.
  const send = client.fetch ?? fetch;
  const left = operation.repeats === undefined ? 0 : (client.retries ?? 2);
  let hasTokens: boolean | undefined;
  let isRefreshed = false;
  for (let attempt = 0; ; attempt += 1) {
    const held = await heldFor(client, operation, caller, signal);
    if (options.caller !== undefined && caller === null && held.tokens !== null)
      throw new ApiError("client.invalid", "there are tokens, and `caller` does not tell whose");
    // Who holds no tokens is another than who does.
    hasTokens ??= held.tokens !== null;
    if (hasTokens !== (held.tokens !== null)) throw anotherCaller();
    if (held.tokens !== null) authorize(client, headers, held.tokens);
    let response: Response | undefined;
    let fault: unknown;
    try {
      const sent = send(url, { method: operation.method, headers, body, signal });
      if (operation.leavesSession === true) noteLeaving(client, held, sent);
      // Also where a `fetch` of somebody's looks at no signal.
      response = await raceSignal(sent, signal);
    } catch (error) {
      fault = error;
    }
    if (response?.status === 401 && held.tokens !== null && !isRefreshed) {
      const leaving = client.leaving.get(held.tokens.access_token);
      // Nobody has signed out: the session was left for that of another tenant.
      if (leaving !== undefined && (await raceSignal(leaving, signal))) throw anotherCaller();
      isRefreshed = true;
      attempt -= 1;
      if (await raceSignal(refreshTokens(client, held), signal)) {
        void drop(response);
        continue;
      }
    }
    const millis = retryAfterMillis(response) ?? backOffMillis(attempt);
    // An answer that says to come back when nobody waits any more stands as well.
    const isLast = attempt >= left || Date.now() + millis > until;
    if (isLast || (response !== undefined && !mayPass(response)))
      return response ?? failUnreachable(fault);
    void drop(response);
    await pause(millis, signal);
  }
}

/** Leaves an answer unread, which may have broken off. */
function drop(response: Response | undefined): Promise<void> | undefined {
  return response?.body?.cancel().catch(() => undefined);
}

/** The credentials for a call of that caller. */
async function heldFor(
  client: Client,
  operation: Operation,
  caller: string | null,
  signal: AbortSignal,
): Promise<Held> {
  if (operation.ignoresTokens === true) return { tokens: null, caller: null };
  if (client.tokens !== undefined && client.caller === undefined)
    throw new ApiError(
      "client.invalid",
      "the token store has no `caller`, which tells whose they are",
    );
  return raceSignal(heldBy(client, caller), signal);
}

/** Remembers the session that a call leaves, so its running calls don't count as signed out. */
function noteLeaving(client: Client, { tokens }: Held, sent: Promise<Response>): void {
  // One at a time: nobody is in two tenants at once.
  client.leaving.clear();
  client.leaving.set(
    tokens?.access_token ?? "",
    sent.then(
      ({ ok }) => ok,
      () => false,
    ),
  );
}

/** `Retry-After` in milliseconds (RFC 9110 §10.2.3), or undefined. */
export function retryAfterMillis(
  response: Pick<Response, "headers"> | undefined,
): number | undefined {
  const told = response?.headers.get("retry-after") ?? "";
  const millis = /^\d+$/.test(told) ? Number(told) * 1_000 : Date.parse(told) - Date.now();
  return Number.isNaN(millis) ? undefined : Math.max(0, millis);
}

/** Puts a token into the header that the service looks at. */
export function authorize(
  { tokenHeader = "authorization", tokenScheme = "Bearer" }: Client,
  headers: Headers,
  tokens: Pick<Tokens, "access_token">,
): void {
  headers.set(tokenHeader, `${tokenScheme} ${tokens.access_token}`);
}

/**
 * Answers that another try may better: those of a service that goes away, or a key that is in use.
 */
function mayPass({ status, headers }: Response): boolean {
  return isPassing(status) || headers.get("x-error-code") === "idempotency_in_flight";
}

/** New tokens in place of those, once for all who need them, as `renewTokens` has it. */
export function refreshTokens(client: Client, used: Held): Promise<boolean> {
  return renewTokens(client, used, async (refresh_token, timeoutMillis): Promise<Refreshed> => {
    const operation: Operation = {
      method: "POST",
      path: client.refreshPath ?? "",
      body: "input",
      ignoresTokens: true,
    };
    let afterMillis: number | undefined;
    const onAnswer = (answer: Pick<Response, "headers">): void => {
      afterMillis = retryAfterMillis(answer);
    };
    try {
      // Not in the time of the call that came first: others wait for this as well.
      const tokens = await run(client, operation, { refresh_token }, { timeoutMillis, onAnswer });
      if (isTokens(tokens)) return { tokens };
      return { error: new ApiError("client.unreadable", "the refresh answered without a token") };
    } catch (cause) {
      const error = cause as ApiError;
      // An error without a code of the service comes from a proxy.
      const isRefused = error.status === 401 && error.code !== "client.unreadable";
      return isRefused ? { tokens: null } : { error, afterMillis };
    }
  });
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text().catch(failUnreachable);
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    // A refusal has its code in a header as well.
    if (!response.ok) return undefined;
    throw new ApiError("client.unreadable", "the answer is no JSON", { cause });
  }
}
