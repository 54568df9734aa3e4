// Ids of durable events on the wire: opaque to clients; they contain the event's id and its
// position in the mailbox (decisions.md §2).
import { isUuid } from "../contract/uuid.js";

export interface EventId {
  readonly eventId: string;
  readonly position: number;
}

/** The id of a place in a mailbox at which no event is kept (any more). */
export const noEvent = "00000000-0000-0000-0000-000000000000";

/** `<uuid>.<position in base 36>`. */
export function printEventId({ eventId, position }: EventId): string {
  return `${eventId}.${position.toString(36)}`;
}

/** The parts of an id; null for a text that `printEventId` can't have printed. */
export function parseEventId(text: string): EventId | null {
  const dot = text.indexOf(".");
  const [eventId, digits] = [text.slice(0, dot), text.slice(dot + 1)];
  if (dot < 0 || !isUuid(eventId) || !/^(?:0|[1-9a-z][0-9a-z]{0,9})$/.test(digits)) return null;
  const position = Number.parseInt(digits, 36);
  return Number.isSafeInteger(position) ? { eventId, position } : null;
}
