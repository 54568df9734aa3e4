// Walking through JSON, and naming the places in it.

/** Whether the value is a JSON object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A JSON Pointer (RFC 6901) with one more token. */
export function pointer(base: string, token: string): string {
  return `${base}/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The value at a path, undefined if there is none. */
export function valueAt(body: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, step) => (isObject(value) ? value[step] : undefined), body);
}
