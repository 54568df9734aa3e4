// What a connection says when it begins: protocol, device, topics, and where to continue
// (service.md "Connect handshake").
import { fail, unavailable } from "../../contract/errors.js";
import {
  devicePattern,
  handshakeParameters,
  maxTopicLength,
  maxTopics,
  protocolVersion,
} from "../../contract/realtime.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { Identity } from "../../operations/identity.js";
import { runHeld } from "../../operations/held-calls.js";
import { within } from "../../work/within.js";
import { parseEventId } from "../../ports/event-id.js";
import type { MailboxOwner, MailboxStore } from "../../ports/mailbox.js";
import type { RealtimeSpec } from "./spec.js";

const deviceName = new RegExp(devicePattern);

export interface Handshake {
  /** The device that the client named itself: it has one connection at a time. */
  readonly named: string | null;
  /** Whether the session stands for a device where none is named. */
  readonly isSessionDevice: boolean;
  readonly topics: readonly string[];
  /** The id after which to continue, as the client sent it. */
  readonly lastEventId: string | null;
  /** Whether a device without a cursor begins behind all that is there by now. */
  readonly fromNow: boolean;
}

/**
 * Reads the handshake of a query, which may hold credentials beside it. Throws
 * `realtime_protocol_unsupported`, `realtime_topics_limit`, `core.validation`.
 */
export function readHandshake(
  query: ReadonlyMap<string, string>,
  lastEventId: string | undefined,
  credentials: readonly string[] = [],
): Handshake {
  expectParameters(query, [...handshakeParameters, ...credentials]);
  checkProtocol(query.get("protocol"));
  return {
    named: readDevice(query.get("device_id")),
    isSessionDevice: false,
    topics: readTopics(topicsOfQuery(query.get("topics") ?? "")),
    lastEventId: lastEventId ?? query.get("last_event_id") ?? null,
    fromNow: readFrom(query.get("from")),
  };
}

/**
 * Reads the handshake of Socket.IO's `auth`, whose further members are left alone. Throws
 * `realtime_protocol_unsupported`, `realtime_topics_limit`, `core.validation`.
 */
export function readAuth(auth: Readonly<Record<string, unknown>>): Handshake {
  const { protocol, device_id: id, topics = [], last_event_id: lastEventId, from } = auth;
  checkProtocol(typeof protocol === "number" ? String(protocol) : protocol);
  const isTopics = Array.isArray(topics) && topics.every((topic) => typeof topic === "string");
  if (!isTopics) throw invalid("/topics", "must be a list of names");
  return {
    named: readDevice(id),
    isSessionDevice: true,
    topics: readTopics(topics),
    lastEventId: typeof lastEventId === "string" ? lastEventId : null,
    fromNow: readFrom(from),
  };
}

/**
 * Topics with commas between them, or as a JSON list: only there a name may have a comma. Throws
 * `core.validation`.
 */
function topicsOfQuery(text: string): readonly string[] {
  if (!text.startsWith('["')) return text === "" ? [] : text.split(",");
  const topics = listIn(text);
  if (topics === null) throw invalid("/topics", "must be names, or a JSON list of names");
  return topics;
}

/** The texts of a list that is JSON; null for anything else. */
function listIn(text: string): readonly string[] | null {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) && list.every((one) => typeof one === "string") ? list : null;
  } catch {
    return null;
  }
}

function checkProtocol(given: unknown): void {
  if (given === undefined || given === String(protocolVersion)) return;
  const range = { lowest: protocolVersion, highest: protocolVersion };
  throw fail("realtime_protocol_unsupported", range);
}

/** Whether a new device begins now. Throws `core.validation`. */
export function readFrom(from: unknown): boolean {
  if (from === undefined || from === "now") return from === "now";
  throw invalid("/from", "must be now, if it is given");
}

/** The device that is named, or null. Throws `core.validation`. */
export function readDevice(device: unknown): string | null {
  if (device === undefined) return null;
  if (typeof device === "string" && deviceName.test(device)) return device;
  throw invalid("/device_id", "must be 1 to 128 visible ASCII characters");
}

/** The device of a connection: what it has acknowledged is kept for it; null for none. */
export function deviceOf(
  { named, isSessionDevice }: Pick<Handshake, "named" | "isSessionDevice">,
  { sessionId }: Pick<Identity, "sessionId">,
): string | null {
  return named ?? (isSessionDevice ? sessionId : null);
}

/** Topics, each once. Throws `realtime_topics_limit`, `core.validation`. */
export function readTopics(given: readonly string[]): readonly string[] {
  if (given.length > maxTopics) throw fail("realtime_topics_limit", { most: maxTopics });
  if (given.every(isTopicName)) return [...new Set(given)];
  throw invalid("/topics", "must be names");
}

/** Whether a text can be a topic. */
export function isTopicName(text: string): boolean {
  return text !== "" && [...text].length <= maxTopicLength;
}

/** All topics are granted, or none is: throws `realtime_topics_unauthorized`. */
export async function checkTopics(
  spec: RealtimeSpec,
  topics: readonly string[],
  context: ExecutionContext,
): Promise<void> {
  const granted = await grantedTopics(spec, topics, context);
  if (!topics.every((topic) => granted.has(topic))) throw fail("realtime_topics_unauthorized");
}

/**
 * Milliseconds that the authorizer has for an answer, at the handshake and whenever it is asked
 * again.
 */
const authorizerMillis = 5_000;

/**
 * Those of the topics that the caller of a context may hear now; perhaps others beside them. Throws
 * the errors of the authorizer.
 */
export async function grantedTopics(
  { authorizeTopics }: RealtimeSpec,
  topics: readonly string[],
  context: ExecutionContext,
): Promise<ReadonlySet<string>> {
  if (topics.length === 0 || authorizeTopics === null) return new Set();
  const asked = async (): Promise<Iterable<string>> =>
    runHeld(context, authorizeTopics, (own) => authorizeTopics(topics, own));
  const granted = await within(authorizerMillis, asked(), () => {
    const seconds = authorizerMillis / 1000;
    const text = `the topics function ${authorizeTopics.name} has not answered within ${seconds} s`;
    return unavailable(new Error(text));
  });
  return new Set(granted);
}

/** What says where a connection continues. */
interface ResumeFrom extends Pick<Handshake, "lastEventId" | "fromNow"> {
  readonly device: string | null;
}

/**
 * The position after which to continue: the id that the client names if it is from this mailbox,
 * even if the cursor is ahead; otherwise the cursor of its device (decisions.md §2). A device that
 * has neither begins at the beginning, or where the mailbox ends by now: then `begun` stores its
 * cursor, so that the next connection misses nothing that comes meanwhile.
 */
export async function resumePoint(
  mailbox: Pick<MailboxStore, "state" | "has">,
  owner: MailboxOwner,
  { device, lastEventId, fromNow }: ResumeFrom,
  begun: (position: number) => Promise<void>,
): Promise<number> {
  const { cursor, floor, head } = await mailbox.state(owner, device);
  const named =
    lastEventId === null ? null : await knownPosition(mailbox, owner, floor, lastEventId);
  const known = named ?? cursor;
  if (known !== null) return known;
  if (!fromNow) return 0;
  await begun(head);
  return head;
}

/**
 * The position of an id of this mailbox, whose entries up to `floor` are gone; null for any other
 * text.
 */
export async function knownPosition(
  mailbox: Pick<MailboxStore, "has">,
  owner: MailboxOwner,
  floor: number,
  id: string,
): Promise<number | null> {
  const named = parseEventId(id);
  if (named === null) return null;
  // A removed entry can't be looked up any more, but its position still shows its place.
  const isKnown =
    named.position <= floor || (await mailbox.has(owner, named.position, named.eventId));
  return isKnown ? named.position : null;
}

/** Throws `core.validation` for a parameter that isn't one of these. */
export function expectParameters(
  query: ReadonlyMap<string, string>,
  names: readonly string[],
): void {
  for (const name of query.keys())
    if (!names.includes(name))
      throw fail("core.validation", {
        errors: [
          {
            path: `/${name}`,
            keyword: "additionalProperties",
            message: "is not a parameter of this endpoint",
          },
        ],
      });
}

function invalid(path: string, message: string): Error {
  return fail("core.validation", { errors: [{ path, keyword: "pattern", message }] });
}
