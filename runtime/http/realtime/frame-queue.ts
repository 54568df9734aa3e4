// Frames that wait. One read may bring ten thousand of them, so each is kept as a position in the
// buffer that was read: a few bytes instead of the two hundred of an object.

export interface Frame {
  readonly kind: "text" | "binary" | "ping";
  readonly data: Buffer;
}

const kinds = ["text", "binary", "ping"] as const;

/** Frames in memory of one read. */
interface Segment {
  readonly memory: ArrayBufferLike;
  /** Where each begins, and its length with its kind in the lowest two bits. */
  readonly places: number[];
}

export class FrameQueue {
  #segments: Segment[] = [];
  #segment = 0;
  #place = 0;

  get isEmpty(): boolean {
    return this.#segment >= this.#segments.length;
  }

  push({ kind, data }: Frame): void {
    const { buffer: memory, byteOffset, length } = data;
    let last = this.#segments.at(-1);
    // An empty frame has no position.
    if (last === undefined || (last.memory !== memory && length > 0)) {
      last = { memory, places: [] };
      this.#segments.push(last);
    }
    last.places.push(length === 0 ? 0 : byteOffset, (length << 2) | kinds.indexOf(kind));
  }

  /** Removes and returns the oldest frame. */
  shift(): Frame | undefined {
    const segment = this.#segments[this.#segment];
    const [offset, packed] = [segment?.places[this.#place], segment?.places[this.#place + 1]];
    if (segment === undefined || offset === undefined || packed === undefined) return undefined;
    this.#place += 2;
    if (this.#place >= segment.places.length) {
      this.#segment += 1;
      this.#place = 0;
    }
    if (this.isEmpty) this.clear();
    const data = Buffer.from(segment.memory, offset, packed >> 2);
    return { kind: kinds[packed & 3] ?? "text", data };
  }

  clear(): void {
    this.#segments = [];
    this.#segment = 0;
    this.#place = 0;
  }
}
