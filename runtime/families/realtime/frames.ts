// Frames that clients send, read strictly: nothing is coerced (service.md "Duplex commands").
import { fail, knownError, type ServiceError } from "../../contract/errors.js";
import { isIdempotencyKey, limits } from "../../contract/limits.js";
import { readTraceparent } from "../../contract/traceparent.js";
import { isTopicName, readTopics } from "./handshake.js";

/** A call of an operation, whatever carries it. */
export interface Command {
  readonly event: string;
  readonly payload: unknown;
  readonly idempotencyKey: string | undefined;
  readonly deadlineSeconds: number | undefined;
  /** Where it is in a trace, as W3C `traceparent`, if the caller says so. */
  readonly traceparent: string | undefined;
}

export interface CommandFrame extends Command {
  readonly type: "cmd";
  readonly cid: string | number;
}

export type IngressFrame =
  | CommandFrame
  | { readonly type: "realtime.ack"; readonly upTo: string }
  | { readonly type: "realtime.reauth"; readonly cid: string | number; readonly token: string }
  | {
      readonly type: "realtime.subscribe" | "realtime.unsubscribe";
      readonly cid: string | number;
      readonly topics: readonly string[];
    }
  /** `cid` is present if the frame is an invalid command, which is answered with its error. */
  | { readonly type: "invalid"; readonly cid: unknown; readonly error: ServiceError };

/**
 * Refusals that are always the same are created once, so that a flood of such frames creates no
 * errors.
 */
const refusals = {
  json: invalid("no JSON"),
  object: invalid("no object"),
  type: invalid("unknown type"),
  cid: invalid(`cid must be a number, or a text of up to ${limits.maxCidLength}`),
};

/**
 * Parses a frame as strictly as bodies are, but for U+0000, which a command's own answer refuses.
 */
function parseFrame(data: Buffer, parse: (bytes: Buffer) => unknown): unknown {
  try {
    return parse(data);
  } catch (error) {
    if (knownError(error).code === "core.validation") return JSON.parse(data.toString("utf8"));
    throw error;
  }
}

/** The answer to a frame that isn't JSON of ours. */
function refusalOf(error: unknown): IngressFrame {
  const { code } = knownError(error);
  return code === "json_malformed" ? refusals.json : (strictly[code] ?? refusals.json);
}

/** Reads one text frame, by what parses bodies (http/strict-json.ts); never throws. */
export function readFrame(data: Buffer, parse: (bytes: Buffer) => unknown): IngressFrame {
  let frame: unknown;
  try {
    frame = parseFrame(data, parse);
  } catch (error) {
    return refusalOf(error);
  }
  if (typeof frame !== "object" || frame === null || Array.isArray(frame)) return refusals.object;
  const { type, cid, ...members } = frame as Readonly<Record<string, unknown>>;
  if (type === "realtime.ack") return read(undefined, () => ({ type, upTo: readUpTo(members) }));
  if (!isAnswered(type)) return refusals.type;
  if (!isCid(cid)) return refusals.cid;
  return read(cid, () => {
    if (type === "realtime.reauth") return { type, cid, token: readToken(members["auth"]) };
    if (type !== "cmd") return { type, cid, topics: readTopicNames(members) };
    const { event, payload, ...options } = members;
    if (typeof event !== "string") throw invalidFrame("event must be a text");
    return { type, cid, event, payload, ...readCommandOptions(options) };
  });
}

const answered = ["cmd", "realtime.reauth", "realtime.subscribe", "realtime.unsubscribe"] as const;

/** Whether frames of a type have a `cid` and an answer. */
function isAnswered(type: unknown): type is (typeof answered)[number] {
  return answered.some((one) => one === type);
}

/** Refusals of JSON that means nothing certain, or is more than is read. */
const strictly: Readonly<Record<string, IngressFrame>> = {
  json_duplicate_key: invalid("a name is repeated"),
  json_too_deep: invalid("nested too deeply"),
  json_too_complex: invalid("too many values"),
  number_not_exact: invalid("a number that is not exact"),
};

/** A frame, or its fault. */
function read(cid: unknown, frame: () => IngressFrame): IngressFrame {
  try {
    return frame();
  } catch (error) {
    return { type: "invalid", cid, error: knownError(error) };
  }
}

/** The id of `{up_to}`. Throws `realtime_invalid_frame`. */
export function readUpTo(given: unknown): string {
  const upTo = memberOf(given, "up_to");
  if (typeof upTo === "string" && upTo !== "") return upTo;
  throw invalidFrame("up_to must be a text that is not empty");
}

/**
 * The topics of `{topics}`, each once. Throws `realtime_invalid_frame`, `realtime_topics_limit`.
 */
export function readTopicNames(given: unknown): readonly string[] {
  const topics = memberOf(given, "topics");
  const isNames =
    Array.isArray(topics) &&
    topics.length > 0 &&
    topics.every((topic) => typeof topic === "string" && isTopicName(topic));
  if (!isNames) throw invalidFrame("topics must be a list of names that is not empty");
  return readTopics(topics as readonly string[]);
}

/** The token of `{token, …}`. Throws `realtime_invalid_frame`. */
export function readToken(given: unknown): string {
  const token = memberOf(given, "token");
  if (typeof token === "string" && token !== "") return token;
  throw invalidFrame("token must be a text that is not empty");
}

/** The key, the budget and the trace of one command. Throws `realtime_invalid_frame`. */
export function readCommandOptions(
  given: unknown,
): Pick<Command, "idempotencyKey" | "deadlineSeconds" | "traceparent"> {
  const [key, budget] = [memberOf(given, "idempotency_key"), memberOf(given, "deadline_budget")];
  if (key !== undefined && !isIdempotencyKey(key))
    throw invalidFrame("idempotency_key must be 1 to 255 visible ASCII characters");
  const isBudget =
    budget === undefined || (typeof budget === "number" && Number.isFinite(budget) && budget > 0);
  if (!isBudget) throw invalidFrame("deadline_budget must be a positive number of seconds");
  // As with the header, one that can't be read is none.
  const traceparent = readTraceparent(memberOf(given, "traceparent"));
  return { idempotencyKey: key, deadlineSeconds: budget, traceparent };
}

function memberOf(given: unknown, name: string): unknown {
  const isObject = typeof given === "object" && given !== null && Object.hasOwn(given, name);
  return isObject ? (given as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** A `cid`, which comes back verbatim: a text of bounded length, or a number. */
function isCid(cid: unknown): cid is string | number {
  return typeof cid === "number" || (typeof cid === "string" && cid.length <= limits.maxCidLength);
}

function invalid(reason: string): IngressFrame {
  return { type: "invalid", cid: undefined, error: invalidFrame(reason) };
}

export function invalidFrame(reason: string): ServiceError {
  return fail("realtime_invalid_frame", { reason });
}
