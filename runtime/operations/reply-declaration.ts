// What an operation declares besides input and body: headers that its handler reads, and what it
// may set on the answer.

/** How a cookie is kept. Every cookie is `Secure`. */
export interface CookieDeclaration {
  readonly path: string;
  /** Null ends with the browser. */
  readonly maxAgeSeconds: number | null;
  readonly sameSite: "lax" | "strict" | "none";
  readonly httpOnly: boolean;
}

/** The declaration of a reply; names of headers are in lower case. */
export interface ReplyDeclaration {
  /** Fields of the request that the handler reads. */
  readonly reads: readonly string[];
  readonly statuses: readonly number[];
  readonly headers: readonly string[];
  readonly cookies: Readonly<Record<string, CookieDeclaration>>;
  readonly redirects: readonly number[];
}

/** The parts of an answer that a handler has set besides the body. */
export interface SaidReply {
  /** Undefined for the operation's usual status. */
  readonly status: number | undefined;
  /** Header fields, names and values in turn. */
  readonly fields: readonly string[];
}
