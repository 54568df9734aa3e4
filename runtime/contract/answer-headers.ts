// The headers that answers carry, each with what it says: documents name them, and pages of other
// origins may read some (RFC 9110, decisions.md §1 "Errors").

export interface AnswerHeader {
  readonly description: string;
  readonly type: "string" | "integer";
  /**
   * Whether pages of origins that may read answers at all may read this header, too (Fetch Standard
   * "CORS protocol").
   */
  readonly isExposed: boolean;
}

function exposedHeader(description: string, type: AnswerHeader["type"] = "string"): AnswerHeader {
  return { description, type, isExposed: true };
}

/**
 * Headers for caches, browsers and connections; pages may read some of them anyway, without being
 * told so.
 */
function unexposedHeader(description: string, type: AnswerHeader["type"] = "string"): AnswerHeader {
  return { description, type, isExposed: false };
}

/**
 * Each header besides those of the connection, of CORS and of authors, and `Content-Type`, which
 * the content says.
 */
export const answerHeaders = {
  "Accept-Patch": unexposedHeader("The media types of a patch that are taken (RFC 5789)."),
  "Accept-Ranges": exposedHeader("bytes, or none for a file that is only served as a whole."),
  "Cache-Control": unexposedHeader("Whether the answer may be kept, and by whom."),
  "Content-Disposition": exposedHeader("attachment, with the name of the file (RFC 6266)."),
  "Content-Encoding": unexposedHeader(
    "How the answer is compressed, where the service does that and the caller accepts it.",
  ),
  "Content-Length": unexposedHeader("The size in bytes, where it is known before.", "integer"),
  "Content-Range": exposedHeader("Which bytes of how many."),
  "Content-Security-Policy": unexposedHeader("Keeps browsers from running the answer."),
  Deprecation: exposedHeader("Since when the operation is deprecated, as @ and seconds of Unix."),
  ETag: exposedHeader(
    "The version, as a strong entity tag; a weak one where the answer is compressed.",
  ),
  "Idempotency-Replayed": exposedHeader("true where the answer was stored earlier."),
  "Last-Modified": exposedHeader("When this version was made, once that second is over."),
  "Retry-After": exposedHeader("Seconds until another attempt may succeed.", "integer"),
  Sunset: exposedHeader("When the operation may be gone."),
  Vary: unexposedHeader("The request headers on which the answer depends."),
  "WWW-Authenticate": unexposedHeader("The schemes of credentials that the service takes."),
  "X-Content-Type-Options": unexposedHeader("nosniff: the content is of the type that is said."),
  "X-Correlation-ID": exposedHeader(
    "The correlation id of the request, or one that was made for it.",
  ),
  "X-Error-Code": exposedHeader("The code of the error."),
  "X-Request-ID": exposedHeader("The id of the request, which the service's log has as well."),
} as const satisfies Readonly<Record<string, AnswerHeader>>;

export type AnswerHeaderName = keyof typeof answerHeaders;
