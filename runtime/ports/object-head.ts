// Objects as engines know them: one version, and parts of its content.

/** What an upload says about its object. */
export interface ObjectDescription {
  readonly contentType: string;
  readonly filename: string;
  readonly description: string | null;
  /** Short texts by name; absent if there are none. */
  readonly tags?: ObjectTags;
}

export type ObjectTags = Readonly<Record<string, string>>;

/** One version of an object. */
export interface ObjectHead extends ObjectDescription {
  /** The key in the engine, which clients never see. */
  readonly key: string;
  /** Bytes as they are stored. */
  readonly size: number;
  /** Bytes of the content; fewer than `size` if the service encrypts it. */
  readonly contentSize: number;
  /** Whether it was encrypted in one piece, so that no part of it can be decrypted by itself. */
  readonly isOnePiece?: boolean;
  /**
   * Without quotes. Other bytes have another tag; the same bytes written again may keep theirs, as
   * on S3.
   */
  readonly etag: string;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
}

/** What an engine says about an object in a list. */
export interface ListedObject {
  readonly key: string;
  /** Null if only `head` can tell. */
  readonly etag: string | null;
}

/** A range of the bytes of an object's content, both ends included. */
export interface ByteWindow {
  readonly first: number;
  readonly last: number;
}
