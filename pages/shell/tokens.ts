// Who is signed in: an access token in the tab's own storage, which every page of the service
// shares.
import { config } from "./config.js";

const key = "opwright docs tokens";
const listeners = new Set<() => void>();
let expiry: ReturnType<typeof setTimeout> | undefined;

/** The token that requests are made with; null if nobody is signed in. */
export function heldToken(): string | null {
  const kept: unknown = JSON.parse(sessionStorage.getItem(key) ?? "null");
  const token = (kept as { readonly access_token?: unknown } | null)?.access_token;
  return typeof token === "string" ? token : null;
}

/** Keeps a token, or none; an expired one is forgotten by itself. */
export function keepToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(key);
  else sessionStorage.setItem(key, JSON.stringify({ access_token: token }));
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
