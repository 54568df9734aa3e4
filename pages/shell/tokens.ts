// Who is signed in: an access token in the tab's own storage, which every page of the service
// shares.
import { config } from "./config.js";

const key = "opwright docs tokens";
const listeners = new Set<() => void>();
let expiry: ReturnType<typeof setTimeout> | undefined;

/** What is known of a token's holder beside the token, in words for people. */
export interface Holder {
  readonly login?: string;
  readonly tenant?: string;
}

interface Held extends Holder {
  readonly access_token?: unknown;
}

function held(): Held | null {
  return JSON.parse(sessionStorage.getItem(key) ?? "null");
}

/** The token that requests are made with; null if nobody is signed in. */
export function heldToken(): string | null {
  const token = held()?.access_token;
  return typeof token === "string" ? token : null;
}

/** Who is signed in, as far as it is known. */
export function holder(): Holder {
  return held() ?? {};
}

/** `ada@example.test in acme`: who requests are made as. */
export function holderText(): string {
  const { login = "you", tenant } = holder();
  return tenant === undefined ? login : `${login} in ${tenant}`;
}

/**
 * Keeps a token, or none; an expired one is forgotten by itself. What is known of the holder stays
 * as long as somebody is signed in.
 */
export function keepToken(token: string | null, holder: Holder = {}): void {
  if (token === null) sessionStorage.removeItem(key);
  else {
    const { login, tenant } = { ...held(), ...holder };
    sessionStorage.setItem(key, JSON.stringify({ access_token: token, login, tenant }));
  }
  forgetLater();
  for (const listener of listeners) listener();
}

/** Calls `listener` whenever somebody else is signed in; returns how to end that. */
export function onTokenChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The headers that requests are made with. */
export function credentials(): Record<string, string> {
  const token = heldToken();
  return token === null ? {} : { [config.tokenHeader]: `${config.tokenScheme} ${token}` };
}

/** What a token says of itself; nothing if it is no JWT. */
export function claimsOf(token: string | null): Readonly<Record<string, unknown>> {
  try {
    const [, payload = ""] = (token ?? "").split(".");
    return JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
  } catch {
    return {};
  }
}

/** Forgets the token once it has expired. */
export function forgetLater(): void {
  clearTimeout(expiry);
  const { exp } = claimsOf(heldToken());
  if (typeof exp !== "number") return;
  const millis = exp * 1_000 - Date.now();
  if (millis <= 0) return keepToken(null);
  expiry = setTimeout(() => keepToken(null), Math.min(millis, 0x7fff_ffff));
}
