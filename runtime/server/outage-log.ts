// What an outage makes of the log: each request fails for the same reason, which is worth a line a
// second and not one for each.
import { ServiceError } from "../contract/errors.js";
import { startTimer } from "../ports/ambient.js";
import type { Log } from "../ports/log.js";
import { isError, messageOf } from "../operations/thrown.js";

/** Milliseconds for which further faults of one cause are counted. */
const gatheringMillis = 1_000;
/** Causes that are counted at a time; faults of further ones have a line each. */
const mostCauses = 64;
/** How many causes of causes are told, and how many characters of each. */
const mostDeep = 4;
const mostCharacters = 500;

export interface GatheringLog extends Log {
  /** Tells what has been counted so far. */
  flush(): void;
}

interface Gathered {
  count: number;
  fields: Readonly<Record<string, unknown>>;
}

/**
 * A log in which errors that say that something is unavailable or takes too long are gathered by
 * what happened and why: the first is told at once, with its stack; those of the next second as one
 * line with their `count`, the fields of the last one, and its error without stacks.
 */
export function gatherOutages(log: Log): GatheringLog {
  const causes = new Map<string, Gathered & { readonly message: string }>();

  const tell = ({ message, count, fields }: Gathered & { readonly message: string }): void => {
    if (count > 0)
      log.error({ ...fields, err: textOf(fields["err"] as ServiceError), count }, message);
  };
  const countOn = (cause: string): void => {
    startTimer(() => {
      const gathered = causes.get(cause);
      if (gathered === undefined) return;
      tell(gathered);
      if (gathered.count === 0) return void causes.delete(cause);
      gathered.count = 0;
      countOn(cause);
    }, gatheringMillis).unref();
  };

  return {
    debug: log.debug.bind(log),
    info: log.info.bind(log),
    warn: log.warn.bind(log),
    error(fields, message) {
      const cause = outageOf(fields["err"]);
      if (cause === null) return log.error(fields, message);
      const key = `${message}: ${cause}`;
      const known = causes.get(key);
      if (known !== undefined) {
        known.count += 1;
        known.fields = fields;
        return;
      }
      log.error(fields, message);
      if (causes.size >= mostCauses) return;
      causes.set(key, { message, count: 0, fields });
      countOn(key);
    },
    flush() {
      for (const gathered of causes.values()) {
        tell(gathered);
        gathered.count = 0;
      }
    },
  };
}

/** Why something is unavailable or took too long; null for any other error. */
function outageOf(error: unknown): string | null {
  if (!(error instanceof ServiceError)) return null;
  const { kind } = error.definition;
  return kind === "unavailable" || kind === "timeout" ? textOf(error) : null;
}

/** Its code, and the messages of its causes, the outer one first. */
function textOf({ code, message, cause }: ServiceError): string {
  return [code, ...(cause === undefined ? [message] : messagesOf(cause, mostDeep))].join(": ");
}

function messagesOf(error: unknown, depth: number): readonly string[] {
  const { cause } = isError(error) ? error : {};
  const text = messageOf(error).slice(0, mostCharacters);
  return cause === undefined || depth === 1 ? [text] : [text, ...messagesOf(cause, depth - 1)];
}
