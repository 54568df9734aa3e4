// The last lines of the log, for the console: as they are printed, with credentials redacted.
import type { Log } from "../ports/log.js";
import { processLog } from "./process-log.js";

/** How many lines are kept, and how many characters of one. */
const mostLines = 500;
const mostCharacters = 4_000;

export interface KeptLine {
  /** Counted from 1 as long as the process runs. */
  readonly number: number;
  /** JSON; the beginning of it, if it is long. */
  readonly text: string;
}

export interface KeptLog {
  /** Writes to the log that is kept. */
  readonly log: Log;
  /** The kept lines after the one of this number, the oldest first. */
  linesAfter(number: number): readonly KeptLine[];
}

/** A log of which no line is kept. */
export function keepNothing(log: Log): KeptLog {
  return { log, linesAfter: () => [] };
}

/** Keeps the last lines that go to a log. */
export function keepLines(log: Log, logLevel: string): KeptLog {
  const lines: KeptLine[] = [];
  let count = 0;
  const kept = processLog(
    { logLevel },
    {
      write(line) {
        lines.push({ number: (count += 1), text: line.trimEnd().slice(0, mostCharacters) });
        if (lines.length > mostLines) lines.shift();
      },
    },
  );
  const write =
    (level: keyof Log): Log[keyof Log] =>
    (fields, message) => {
      log[level](fields, message);
      kept[level](fields, message);
    };
  return {
    log: {
      debug: write("debug"),
      info: write("info"),
      warn: write("warn"),
      error: write("error"),
    },
    linesAfter: (number) => lines.filter((line) => line.number > number),
  };
}
