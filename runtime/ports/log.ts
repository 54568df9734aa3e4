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
  return {
    debug: (given, message) => log.debug({ ...fields, ...given }, message),
    info: (given, message) => log.info({ ...fields, ...given }, message),
    warn: (given, message) => log.warn({ ...fields, ...given }, message),
    error: (given, message) => log.error({ ...fields, ...given }, message),
  };
}

/** Drops every line. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
};
