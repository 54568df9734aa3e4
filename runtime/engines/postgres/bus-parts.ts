// Messages in parts that fit into notifications: cut, read, and put together again.

/** Characters of one notification's part of a message: PostgreSQL takes less than 8 000 bytes. */
const partLength = 7_800;

/** A message in parts that are ASCII: `<origin>.<message>.<index>.<parts>.<base64>`. */
export function partsOf(origin: string, message: number, text: string): readonly string[] {
  const encoded = Buffer.from(text, "utf8").toString("base64");
  const length = Math.ceil(encoded.length / partLength);
  return Array.from({ length }, (_none, index) => {
    const slice = encoded.slice(index * partLength, (index + 1) * partLength);
    return `${origin}.${message}.${index}.${length}.${slice}`;
  });
}

export interface Part {
  readonly origin: string;
  readonly message: number;
  readonly index: number;
  readonly length: number;
  readonly slice: string;
}

/** What has arrived of a process's message. */
export interface Assembly {
  readonly message: number;
  readonly slices: string[];
}

/** A part from a notification; null for what is none of ours. */
export function readPart(payload: string): Part | null {
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

/** The message, once its last part is there; parts of one process come in order, or with a hole that loses the message. */
export function assembled(incoming: Map<string, Assembly>, part: Part): string | null {
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
