// A log that a test reads: each line with its level, and the messages of errors with their causes.
import type { Log } from "../../runtime/ports/log.js";

export interface RecordedLine {
  readonly level: keyof Log;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
  /** What the error of the line says, and its causes. */
  readonly error: string;
}

/** Keeps every line. */
export function recordingLog(): Log & { readonly lines: RecordedLine[] } {
  const lines: RecordedLine[] = [];
  const at =
    (level: keyof Log): Log["info"] =>
    (fields, message) => {
      lines.push({ level, fields, message, error: errorText(fields["err"]) });
    };
  return { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

function errorText(error: unknown): string {
  if (!(error instanceof Error)) return "";
  return [error.message, ...(error.cause === undefined ? [] : [errorText(error.cause)])].join(": ");
}
