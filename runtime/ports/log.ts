// The log port: one structured line per event. The server logs with pino; a test logs into an
// array.

/** Writes one line with fields and a message. Never throws. */
export interface Log {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** A log whose lines have these fields as well; the log itself if there are none. */
export function withFields(log: Log, fields: Readonly<Record<string, unknown>> | null): Log {
  if (fields === null) return log;
  const write =
    (level: keyof Log): Log[keyof Log] =>
    (given, message) =>
      log[level](mergeFields(fields, given), message);
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
  };
}

/** Authors give anything: an error, a text, what can't be read. The log tells it as it can. */
function mergeFields(
  fields: Readonly<Record<string, unknown>>,
  given: unknown,
): Readonly<Record<string, unknown>> {
  try {
    if (given instanceof Error) return { ...fields, err: given };
    if (typeof given === "object" && given !== null) return { ...fields, ...given };
  } catch {
    // A getter has thrown.
  }
  return given as Readonly<Record<string, unknown>>;
}

/** Drops every line. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
};
