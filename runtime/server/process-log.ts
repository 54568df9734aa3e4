// The log of a process: a line of JSON each, on stdout.
import { pino, type DestinationStream } from "pino";
import { describedThrown, isError, messageOf, stackOf } from "../operations/thrown.js";
import type { Log } from "../ports/log.js";
import type { Settings } from "./settings.js";

/**
 * Members that hold credentials are redacted. Fields that can't be read are told as far as they
 * can. Lines go to stdout where no destination is given.
 */
export function processLog(
  { logLevel }: Pick<Settings, "logLevel">,
  destination?: DestinationStream,
): Log {
  const options = {
    level: logLevel,
    base: null,
    serializers: { err: cutError },
    redact: ["*.password", "*.token", "*.secret", "*.authorization", "*.cookie"],
  };
  const lines = destination === undefined ? pino(options) : pino(options, destination);
  const write =
    (level: keyof Log): Log[keyof Log] =>
    (fields, message) => {
      try {
        lines[level](fields, message);
      } catch {
        // An error of the author's, frozen or with a getter that throws.
        lines[level](readable(fields), message);
      }
    };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
  };
}

/**
 * Characters of a text of an error that a line keeps: what an author throws may be as long as a
 * file.
 */
const maxText = 16 * 1024;

/** An error as the log prints it, with the beginning of each of its texts. */
function cutError(error: unknown): unknown {
  const told: unknown = isError(error) ? pino.stdSerializers.err(error) : error;
  if (typeof told === "string") return cutText(told);
  if (typeof told !== "object" || told === null || !isError(error)) return told;
  const members = Object.entries(told).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === "string" ? cutText(value) : value,
  ]);
  return Object.fromEntries(members);
}

function cutText(text: string): string {
  return text.length > maxText ? `${text.slice(0, maxText)}… (${text.length} characters)` : text;
}

function readable(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.keys(fields).map((name) => [name, readableField(() => fields[name])]),
  );
}

function readableField(look: () => unknown): unknown {
  try {
    const value = look();
    if (isError(value))
      return {
        type: "Error",
        message: cutText(messageOf(value)),
        stack: cutText(stackOf(value) ?? ""),
      };
    return typeof value === "object" ? describedThrown(value) : value;
  } catch {
    return "can't be read";
  }
}
