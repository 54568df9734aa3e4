// When the token of a connection is to be renewed.
import { timerMillis } from "../signals.js";

/**
 * The claims of a JWT, read without a proof and only to know when it ends; none of any other token.
 */
function claimsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    const [, claims = ""] = token.split(".");
    return { ...(JSON.parse(atob(claims.replaceAll("-", "+").replaceAll("_", "/"))) as object) };
  } catch {
    return {};
  }
}

/**
 * Milliseconds until a token that the service has just accepted should be renewed: a minute before
 * its end, or after four fifths of the remaining time. Null if it doesn't say when it ends.
 */
export function millisToRenewal(token: string): number | null {
  const { exp, iat } = claimsOf(token);
  if (typeof exp !== "number") return null;
  const life = typeof iat === "number" ? (exp - iat) * 1_000 : Number.POSITIVE_INFINITY;
  const told = exp * 1_000 - Date.now();
  // The service has taken it, so it has not ended, whatever this clock says.
  const left = told <= 0 ? Math.min(life / 2, 60_000) : Math.min(told, life);
  // A clock that is nearly as far ahead as a token lasts must not renew without end.
  const least = Math.max(1_000, Math.min(30_000, life / 2));
  return timerMillis(Math.max(left - 60_000, left * 0.8, least));
}

/** Whether a token has ended, by this clock. */
export function hasEnded(token: string): boolean {
  const { exp } = claimsOf(token);
  return typeof exp === "number" && exp * 1_000 <= Date.now();
}
