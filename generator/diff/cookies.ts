// Cookies that an operation sets, in two registries: who gets at them, and for how long.
import type { ReplyDeclaration } from "../model/registry.js";
import { compareAll, tellExchange, limit, type Rules, type Tell } from "../compare/rules.js";

type Cookie = ReplyDeclaration["cookies"][string];

/** From other sites' requests: the later, the more of them carry the cookie. */
const sites: readonly Cookie["sameSite"][] = ["strict", "lax", "none"];

const cookie: Rules<Cookie> = {
  path: (before, after) => {
    const what = `goes with requests below ${after}`;
    if (isBelow(before, after)) return [["opens", what]];
    return isBelow(after, before) ? [["breaking", what]] : tellExchange(what);
  },
  // Without an age it ends with the browser.
  maxAgeSeconds: (before, after) =>
    limit((text) => `is kept for ${after === null ? "as long as the browser runs" : text}`, " s")(
      before ?? 0,
      after ?? 0,
    ),
  sameSite: (before, after) => [
    [
      sites.indexOf(after) > sites.indexOf(before) ? "opens" : "breaking",
      `has same_site ${after} instead of ${before}`,
    ],
  ],
  httpOnly: (_before, after) => [
    after ? ["breaking", "is hidden from pages"] : ["opens", "is shown to pages"],
  ],
};

/**
 * Reports what changes of the cookies that both set; those that come or go are parts of the answer.
 */
export function compareCookies(
  before: ReplyDeclaration | null,
  after: ReplyDeclaration | null,
  tell: Tell,
): void {
  compareAll(
    before?.cookies ?? {},
    after?.cookies ?? {},
    cookie,
    (name) => (level, what) => tell(level, `sets the cookie ${name}, which ${what}`),
  );
}

/**
 * Whether a browser sends what has the one path with all requests below the other (RFC 6265
 * §5.1.4).
 */
function isBelow(path: string, other: string): boolean {
  return path === other || path.startsWith(other.endsWith("/") ? other : `${other}/`);
}
