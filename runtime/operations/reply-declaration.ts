// What an operation declares that its handler reads of the request and says of the answer, besides input and body.

/** How a cookie is kept. Every cookie is `Secure`. */
export interface CookieDeclaration {
  readonly path: string;
  /** Null ends with the browser. */
  readonly maxAgeSeconds: number | null;
  readonly sameSite: "lax" | "strict" | "none";
  readonly httpOnly: boolean;
}

/** What an operation declares; names of headers are in lower case. */
export interface ReplyDeclaration {
  /** Fields of the request that the handler reads. */
  readonly reads: readonly string[];
  readonly statuses: readonly number[];
  readonly headers: readonly string[];
  readonly cookies: Readonly<Record<string, CookieDeclaration>>;
  readonly redirects: readonly number[];
}

/** What a handler has said of its answer besides the body. */
export interface SaidReply {
  /** Undefined where it is the operation's own. */
  readonly status: number | undefined;
  /** Header fields, names and values in turn. */
  readonly fields: readonly string[];
}
