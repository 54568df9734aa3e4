// The log port: one structured line per event. The server logs with pino; a test logs into an
// array.

/** Writes one line with fields and a message. Never throws. */
export interface Log {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** Drops every line. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
};
