// What a token says of itself, read without a proof: the service alone judges it (RFC 7519).

/** The claims of a JWT; none of any other token. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    const [, claims = ""] = token.split(".");
    return { ...(JSON.parse(atob(claims.replaceAll("-", "+").replaceAll("_", "/"))) as object) };
  } catch {
    return {};
  }
}

/** Whose token it is, and in which tenant; "" where it does not say. */
export function callerOf(token: string): string {
  const { sub, tid } = claimsOf(token);
  return sub === undefined ? "" : `${String(sub)}@${String(tid ?? "")}`;
}
