// What a handler reads of the request and says of the answer besides input and body.
import type { OperationDeclaration } from "./format.js";
import { durationSeconds } from "../../load/quantities.js";
import type { ReplyDeclaration } from "../../model/registry.js";
import type { FamilyContext } from "../../kernel/family.js";

/** Credentials, which `identity` knows. */
const unread = /^(?:authorization|proxy-authorization|cookie)$/;

/** What the service itself says, or the protocol. */
const unsaid =
  /^(?:set-cookie|location|content-(?:type|length|encoding|range|security-policy)|transfer-encoding|connection|keep-alive|upgrade|trailer|te|date|vary|etag|last-modified|www-authenticate|deprecation|sunset|idempotency-replayed|strict-transport-security|access-control-.*|cross-origin-.*|x-(?:error-code|request-id|correlation-id|content-type-options|frame-options))$/;

const redirects: readonly number[] = [301, 302, 303, 307, 308];

/**
 * The reply of an operation; null if it says nothing of it. Reports what opwright has to itself,
 * and what cannot be together.
 */
export function replyModel(
  { tree, report }: FamilyContext,
  key: string,
  declaration: OperationDeclaration,
  hasOutput: boolean,
): ReplyDeclaration | null {
  const { headers: reads = [], reply, idempotency } = declaration;
  if (reads.length === 0 && reply === undefined) return null;
  const refuse = (
    code: "OPW013" | "OPW015" | "OPW016" | "OPW025",
    message: string,
    ...path: (string | number)[]
  ) => report({ code, message, at: tree.at("operations", key, ...path) });
  const named = (
    names: readonly string[],
    isOurs: RegExp,
    ...path: string[]
  ): readonly string[] => {
    for (const [index, name] of names.entries())
      if (isOurs.test(name.toLowerCase()))
        refuse("OPW015", `${name} is opwright's own`, ...path, index);
    return [...new Set(names.map((name) => name.toLowerCase()))];
  };
  const { status = [], redirect = [] } = reply ?? {};
  for (const [index, one] of status.entries())
    if (one > 299 || [204, 205, 206].includes(one))
      refuse(
        "OPW013",
        "a further status of success is from 200 to 299, and none of 204, 205, 206",
        "reply",
        "status",
        index,
      );
  for (const [index, one] of redirect.entries())
    if (!redirects.includes(one))
      refuse("OPW013", `a redirect is one of ${redirects.join(", ")}`, "reply", "redirect", index);
  if (reply !== undefined && idempotency === true)
    refuse("OPW016", "what is said besides the body is not kept under an Idempotency-Key", "reply");
  if (redirect.length > 0 && hasOutput)
    refuse("OPW016", "an operation that redirects has no `out`", "reply", "redirect");
  const cookies = Object.entries(reply?.cookies ?? {}).map(([name, cookie]) => {
    if (name in {})
      refuse("OPW025", `${JSON.stringify(name)} cannot be a cookie`, "reply", "cookies", name);
    const {
      max_age: maxAge,
      path = "/",
      same_site: sameSite = "lax",
      http_only: httpOnly = true,
    } = cookie;
    const maxAgeSeconds = maxAge === undefined ? null : durationSeconds(maxAge);
    return [name, { path, maxAgeSeconds, sameSite, httpOnly }] as const;
  });
  return {
    reads: named(reads, unread, "headers"),
    statuses: [...new Set(status)],
    headers: named(reply?.headers ?? [], unsaid, "reply", "headers"),
    cookies: Object.fromEntries(cookies),
    redirects: [...new Set(redirect)],
  };
}
