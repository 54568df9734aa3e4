// Where a request is in a trace, as others say it (W3C Trace Context §3.2).

/** Whether a text is a `traceparent` whose ids are ids. */
export function isTraceparent(text: string): boolean {
  return (
    /^(?!ff)[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(text) &&
    !/^..-0{32}/.test(text) &&
    !/^.{35}-0{16}/.test(text)
  );
}
