// What a connection says when it begins: protocol, device, topics, where to go on (service.md "Connect handshake").
import { fail } from "../contract/errors.js";
import type { ExecutionContext } from "../operations/context.js";
import { parseEventId } from "./event-id.js";
import type { MailboxOwner, MailboxStore } from "./port.js";
import type { RealtimeSpec } from "./spec.js";

/** The one version of the protocol. */
const protocolVersion = 1;
const maxTopics = 32;
const maxDeviceLength = 128;
const maxTopicLength = 256;

export interface Handshake {
  readonly device: string | null;
  readonly topics: readonly string[];
  /** The id to go on behind, as the client sent it. */
  readonly lastEventId: string | null;
}

/** Reads a handshake. Throws `realtime_protocol_unsupported`, `core.validation`. */
export function readHandshake(
  query: ReadonlyMap<string, string>,
  lastEventId: string | undefined,
): Handshake {
  const known = ["protocol", "device_id", "topics", "last_event_id"];
  for (const name of query.keys())
    if (!known.includes(name)) throw invalid(`/${name}`, "is not a parameter of this endpoint");
  const protocol = query.get("protocol");
  if (protocol !== undefined && protocol !== String(protocolVersion))
    throw fail("realtime_protocol_unsupported", {
      lowest: protocolVersion,
      highest: protocolVersion,
    });
  return {
    device: readDevice(query.get("device_id")),
    topics: readTopics(query.get("topics")),
    lastEventId: lastEventId ?? query.get("last_event_id") ?? null,
  };
}

/** The device of a query, or null. Throws `core.validation`. */
export function readDevice(device: string | undefined): string | null {
  if (device === undefined) return null;
  if (/^[\x21-\x7e]+$/.test(device) && device.length <= maxDeviceLength) return device;
  throw invalid("/device_id", `must be 1 to ${maxDeviceLength} visible ASCII characters`);
}

function readTopics(given: string | undefined): readonly string[] {
  if (given === undefined || given === "") return [];
  const topics = [...new Set(given.split(","))];
  if (topics.length > maxTopics) throw invalid("/topics", `must be ${maxTopics} at most`);
  if (topics.every((topic) => topic !== "" && topic.length <= maxTopicLength)) return topics;
  throw invalid("/topics", "must be names");
}

/** All topics are granted, or none is: throws `realtime_topics_unauthorized`. */
export async function checkTopics(
  { authorizeTopics }: RealtimeSpec,
  topics: readonly string[],
  context: ExecutionContext,
): Promise<void> {
  if (topics.length === 0) return;
  const granted = new Set((await authorizeTopics?.(topics, context)) ?? []);
  if (!topics.every((topic) => granted.has(topic))) throw fail("realtime_topics_unauthorized");
}

/**
 * The position to go on behind: exactly the id that the client names, where it is one of this mailbox, even where the
 * cursor is ahead; else the cursor of its device (decisions.md §2).
 */
export async function resumePoint(
  mailbox: Pick<MailboxStore, "state" | "has">,
  owner: MailboxOwner,
  { device, lastEventId }: Handshake,
): Promise<number> {
  const { cursor, floor } = await mailbox.state(owner, device);
  const named =
    lastEventId === null ? null : await knownPosition(mailbox, owner, floor, lastEventId);
  return named ?? cursor ?? 0;
}

/** The position of an id of this mailbox, whose entries up to `floor` are gone; null for any other text. */
export async function knownPosition(
  mailbox: Pick<MailboxStore, "has">,
  owner: MailboxOwner,
  floor: number,
  id: string,
): Promise<number | null> {
  const named = parseEventId(id);
  if (named === null) return null;
  // What has been removed cannot be looked up any more; its position still says where it was.
  const isKnown =
    named.position <= floor || (await mailbox.has(owner, named.position, named.eventId));
  return isKnown ? named.position : null;
}

function invalid(path: string, message: string): Error {
  return fail("core.validation", { errors: [{ path, keyword: "pattern", message }] });
}
