// Splits messages into parts that fit into notifications, and joins them again.

/**
 * Base64 characters per part. A notification must be shorter than 8 000 bytes, including the
 * prefix.
 */
const partLength = 7_800;

/** Splits a message into ASCII parts: `<origin>.<message>.<index>.<parts>.<base64>`. */
export function partsOf(origin: string, message: number, text: string): readonly string[] {
  const encoded = Buffer.from(text, "utf8").toString("base64");
  const length = Math.ceil(encoded.length / partLength);
  return Array.from({ length }, (_none, index) => {
    const slice = encoded.slice(index * partLength, (index + 1) * partLength);
    return `${origin}.${message}.${index}.${length}.${slice}`;
  });
}

export interface MessagePart {
  readonly origin: string;
  readonly message: number;
  readonly index: number;
  readonly length: number;
  readonly slice: string;
}

/** The parts of a process's current message that have arrived so far. */
export interface Assembly {
  readonly message: number;
  readonly slices: string[];
}

/** Reads the part in a notification; null if the notification is not one of ours. */
export function readPart(payload: string): MessagePart | null {
  const [, origin, message, index, length, slice] =
    /^([0-9a-f]{16})\.(\d+)\.(\d+)\.(\d+)\.([A-Za-z0-9+/=]*)$/.exec(payload) ?? [];
  if (origin === undefined || slice === undefined) return null;
  return {
    origin,
    message: Number(message),
    index: Number(index),
    length: Number(length),
    slice,
  };
}

/**
 * Adds a part to `incoming` (by origin). Returns the message if this was its last part, otherwise
 * null. The parts of one process arrive in order; if one is missing, the message is dropped.
 */
export function assembleMessage(incoming: Map<string, Assembly>, part: MessagePart): string | null {
  const { origin, message, index, length, slice } = part;
  const before = incoming.get(origin);
  const slices = index === 0 ? [] : before?.message === message ? before.slices : undefined;
  if (slices === undefined || slices.length !== index) {
    incoming.delete(origin);
    return null;
  }
  slices.push(slice);
  if (slices.length < length) {
    incoming.set(origin, { message, slices });
    return null;
  }
  incoming.delete(origin);
  return Buffer.from(slices.join(""), "base64").toString("utf8");
}
