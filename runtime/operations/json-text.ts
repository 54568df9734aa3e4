// JSON that is already text: a stored document goes to the wire without being parsed and printed
// again.

/**
 * JSON text of a `T`. `etag` is the strong entity tag (RFC 9110 §8.8.3) that the reply carries,
 * quotes included; `modifiedAt` is when this version was made, in milliseconds.
 */
export class JsonText<T> {
  readonly text: string;
  readonly etag: string | undefined;
  readonly modifiedAt: number | undefined;
  /** Never set; it only keeps `T` in the type. */
  declare readonly carries?: T;

  constructor(text: string, etag?: string, modifiedAt?: number) {
    this.text = text;
    this.etag = etag;
    this.modifiedAt = modifiedAt;
  }

  /** The value itself, parsed anew at each call. */
  parse(): T {
    return JSON.parse(this.text) as T;
  }
}

/** The values that a handler may return for an output of type `T`. */
export type Output<T> = T | JsonText<T>;

/** The value of an output, parsed if it is still text. */
export function outputValue<T>(output: Output<T>): T {
  return output instanceof JsonText ? output.parse() : output;
}
