// Objects as engines know them: one version, and parts of its content.

/** What an upload says of itself. */
export interface ObjectDescription {
  readonly contentType: string;
  readonly filename: string;
  readonly description: string | null;
  /** Short texts by name; absent where there are none. */
  readonly tags?: ObjectTags;
}

export type ObjectTags = Readonly<Record<string, string>>;

/** One version of an object. */
export interface ObjectHead extends ObjectDescription {
  /** As the engine has it; never seen by clients. */
  readonly key: string;
  /** Bytes as they are stored. */
  readonly size: number;
  /** Bytes of the content, which are fewer where the service encrypts it. */
  readonly contentSize: number;
  /** Whether it is sealed in one piece, of which no part can be opened by itself. */
  readonly isOnePiece?: boolean;
  /** Without quotes; another one after every write. */
  readonly etag: string;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
}

/** What an engine says of an object when it lists many. */
export interface ListedObject {
  readonly key: string;
  /** Null where only a look at the object tells. */
  readonly etag: string | null;
}

/** Bytes of the content of an object, both ends included. */
export interface ByteWindow {
  readonly first: number;
  readonly last: number;
}
