// The log of a process: a line of JSON each, on stdout.
import { pino } from "pino";
import { describedThrown, isError, messageOf, stackOf } from "../operations/thrown.js";
import type { Log } from "../ports/log.js";
import type { Settings } from "./settings.js";

/** Members that hold credentials are redacted. Fields that can't be read are told as far as they can. */
export function processLog({ logLevel }: Pick<Settings, "logLevel">): Log {
  const lines = pino({
    level: logLevel,
    base: null,
    redact: ["*.password", "*.token", "*.secret", "*.authorization", "*.cookie"],
  });
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

function readable(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.keys(fields).map((name) => [name, readableField(() => fields[name])]),
  );
}

function readableField(look: () => unknown): unknown {
  try {
    const value = look();
    if (isError(value)) return { type: "Error", message: messageOf(value), stack: stackOf(value) };
    return typeof value === "object" ? describedThrown(value) : value;
  } catch {
    return "can't be read";
  }
}
