// What handlers read and set besides input and body, in openapi.json: headers, cookies, statuses.
import type { ReplyDeclaration } from "../model/registry.js";

const text = { type: "string" } as const;

/** The headers that a handler reads, as parameters. */
export function readHeaders(reply: ReplyDeclaration | null): readonly object[] {
  return (reply?.reads ?? []).map((name) => ({
    name,
    in: "header",
    required: false,
    schema: text,
  }));
}

/** The headers that a handler may set, cookies included. */
export function saidHeaders(reply: ReplyDeclaration | null): Readonly<Record<string, object>> {
  const cookies = Object.keys(reply?.cookies ?? {});
  return {
    ...Object.fromEntries((reply?.headers ?? []).map((name) => [name, { schema: text }])),
    ...(cookies.length === 0
      ? {}
      : { "Set-Cookie": { description: `Cookies: ${cookies.join(", ")}.`, schema: text } }),
  };
}

/**
 * Responses of a handler's other statuses: successes are like `success`, redirects have a Location.
 */
export function furtherResponses(
  reply: ReplyDeclaration | null,
  success: object,
  headersOfRedirect: object,
): Readonly<Record<string, object>> {
  const { statuses = [], redirects = [] } = reply ?? {};
  const location = { description: "Where the caller is sent.", schema: text };
  return Object.fromEntries([
    ...statuses.map((status) => [String(status), success] as const),
    ...redirects.map((status) => {
      const headers = { Location: location, ...headersOfRedirect };
      return [String(status), { description: "Goes on elsewhere.", headers }] as const;
    }),
  ]);
}
