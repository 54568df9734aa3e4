// The upload form as handlers see it: it is read when they ask for it, after hooks have let the request pass.

/** The file of a form while it arrives. */
export interface IncomingFile {
  readonly filename: string;
  /** What the client says it is. */
  readonly contentType: string;
  /** Text fields that stood before the file. */
  readonly fields: Readonly<Record<string, string>>;
  readonly content: AsyncIterable<Buffer>;
}

export interface IncomingForm {
  /** Bytes of the whole form, where the request tells. */
  readonly declaredBytes: number | null;
  /**
   * Reads the form and hands its one file to `store`. Where the form turns out to be faulty behind the file, `undo` is
   * called with what `store` made; with null what follows the file does not matter. Throws `upload_malformed`,
   * `request_timeout`, or what `store` throws.
   */
  receive<Stored>(
    store: (file: IncomingFile) => Promise<Stored>,
    undo: ((stored: Stored) => Promise<void>) | null,
    signal: AbortSignal,
  ): Promise<Stored>;
}
