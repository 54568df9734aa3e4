// The upload form as handlers see it: it is read when they ask for it, after hooks have let the
// request pass.

/** The file of a form while it arrives. */
export interface IncomingFile {
  readonly filename: string;
  /** The type that the client names. */
  readonly contentType: string;
  /** Text fields that stood before the file. */
  readonly fields: Readonly<Record<string, string>>;
  readonly content: AsyncIterable<Buffer>;
}

/** What becomes of the file of a form. */
export interface FileHandling<Stored> {
  /** Stores the file, of which the text fields before it are known. */
  store(file: IncomingFile): Promise<Stored>;
  /**
   * Takes in text fields that came behind the file, with all fields; what is null leaves them out.
   */
  readonly late:
    | ((stored: Stored, fields: Readonly<Record<string, string>>) => Promise<Stored>)
    | null;
  /**
   * Takes back what was stored where the form turns out to be faulty behind it; with null that does
   * not matter.
   */
  readonly undo: ((stored: Stored) => Promise<void>) | null;
}

export interface IncomingForm {
  /** Bytes of the whole form, if the request tells. */
  readonly declaredBytes: number | null;
  /**
   * Reads the form, whose one file is handled. Throws `upload_malformed`, `request_timeout`, or
   * the errors of the handling.
   */
  receive<Stored>(handling: FileHandling<Stored>, signal: AbortSignal): Promise<Stored>;
}
