// Refreshes expired tokens: once for all calls and tabs, retried while the service is away.
import { callerOf, heldBy } from "./caller.js";
import { ApiError } from "./error.js";
import type { Client, Held, Tokens } from "./options.js";
import { pause } from "./signals.js";

/** The outcome of a refresh: tokens, null if refused for good, or the error and when to retry. */
export type Refreshed =
  | { readonly tokens: Tokens | null }
  | { readonly error: ApiError; readonly afterMillis?: number | undefined };

/** Asks the service once. */
export type AskForTokens = (refreshToken: string, timeoutMillis: number) => Promise<Refreshed>;

/**
 * The first try is short and the next comes at once where its answer is lost: a refresh token works
 * once, but gives the same successor for 10 s (decisions.md "Refresh").
 */
const firstMillis = 4_000;
/** A tab waits this long for another one, which may stand still; well within those 10 s. */
const lockMillis = 5_000;

/**
 * Refreshes expired tokens once for all calls that found them expired. False if they are refused,
 * or the caller has changed. Rejects if the service can't answer, after retries.
 */
export function renewTokens(client: Client, used: Held, ask: AskForTokens): Promise<boolean> {
  const key = used.tokens?.access_token ?? "";
  let refreshing = client.refreshing.get(key);
  if (refreshing === undefined) {
    refreshing = alone(client, used, () => refresh(client, used, ask));
    client.refreshing.set(key, refreshing);
    const forget = (): void => void client.refreshing.delete(key);
    refreshing.then(forget, forget);
  }
  return refreshing;
}

/** Web Locks, if the platform has them. */
interface Locks {
  request<Result>(
    name: string,
    options: { readonly signal?: AbortSignal; readonly steal?: boolean },
    work: () => Promise<Result>,
  ): Promise<Result>;
}

/** Waits for other tabs of the same caller, but takes the lock from a tab that stands still. */
async function alone(
  client: Client,
  { caller }: Held,
  work: () => Promise<boolean>,
): Promise<boolean> {
  const { navigator } = globalThis as { readonly navigator?: { readonly locks?: Locks } };
  const locks = navigator?.locks;
  let running: Promise<boolean> | undefined;
  const once = (): Promise<boolean> => (running ??= work());
  if (locks === undefined) return once();
  const name = `opwright refresh ${client.baseUrl} ${caller ?? ""}`;
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), lockMillis);
  const held = (): Promise<boolean> => {
    clearTimeout(timer);
    return once();
  };
  return (
    locks
      .request(name, { signal: patience.signal }, held)
      .catch(() => running ?? locks.request(name, { steal: true }, once))
      // Locks refuse a page without an origin. A page that loses its lock finishes its refresh.
      .catch(once)
      .finally(() => clearTimeout(timer))
  );
}

async function refresh(client: Client, used: Held, ask: AskForTokens): Promise<boolean> {
  const { refreshPath = "", retries = 2, timeoutMillis = 30_000 } = client;
  const { access_token, refresh_token } = used.tokens ?? {};
  const kept = await heldBy(client);
  // Another call, or another tab, has been quicker; or somebody has signed out, or in as somebody
  // else.
  const isReplaced = ({ tokens }: Held): boolean => tokens?.access_token !== access_token;
  const isHers = ({ tokens, caller }: Held): boolean => tokens !== null && caller === used.caller;
  if (isReplaced(kept)) return isHers(kept);
  if (refreshPath === "" || refresh_token == null) return false;
  for (let attempt = 0; ; attempt += 1) {
    const answer = await ask(refresh_token, attempt === 0 ? firstMillis : timeoutMillis);
    const now = await heldBy(client);
    if (isReplaced(now)) return isHers(now);
    if ("tokens" in answer) {
      // A caller who signed in as somebody else with the same token stays signed in.
      if (callerOf(client) !== used.caller) return false;
      await client.tokens?.set(answer.tokens);
      return answer.tokens !== null;
    }
    const { error, afterMillis } = answer;
    const isLost = error.status === 0 || error.code === "client.unreadable";
    const most = isLost ? Math.max(1, retries) : retries;
    const millis = afterMillis ?? (isLost && attempt === 0 ? 0 : backOffMillis(attempt));
    if (attempt >= most || !(isLost || isPassing(error.status)) || millis > timeoutMillis)
      throw error;
    await pause(millis);
  }
}

/** Statuses that another try may better: too many requests, a service that goes away. */
export function isPassing(status: number): boolean {
  return [429, 502, 503, 504].includes(status);
}

/** A random pause before a try, longer after each failure. */
export function backOffMillis(attempt: number): number {
  return 2 ** attempt * 400 * Math.random();
}

/**
 * Whether that is an answer to be kept: one without a token would end the session of whoever is
 * signed in.
 */
export function isTokens(answer: unknown): answer is Tokens {
  const { access_token } = (answer ?? {}) as Partial<Tokens>;
  return typeof access_token === "string" && access_token !== "";
}
