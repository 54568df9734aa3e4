// What a change of the registry does to clients, as data.

/** `breaking` needs clients to change; `additive` gives them more; `documentation` is to be read only. */
export const levels = ["breaking", "additive", "documentation"] as const;
export type ChangeLevel = (typeof levels)[number];

/** What a change is about. */
export type ChangeArea =
  | "http"
  | "schema"
  | "permission"
  | "deadline"
  | "realtime"
  | "storage"
  | "version";

export interface Change {
  /** One sentence, which also names the change: an approval repeats it. */
  readonly text: string;
  readonly level: ChangeLevel;
  readonly area: ChangeArea;
  /** The operation, type, event or storage that has changed. */
  readonly subject: Subject;
  /** Operations, events and commands that clients meet it in, sorted. */
  readonly affects: readonly string[];
  /** Where in a schema; absent where it is about none. */
  readonly at?: SchemaPlace;
  /** The member of the document that it is about. */
  readonly field?: string;
  /** What it follows from, where that is known as it is found. */
  readonly cause?: string;
}

export interface SchemaPlace {
  /** Such as `.labels[]`; empty for the value itself. */
  readonly path: string;
  /** What has changed there, without a subject and a direction. */
  readonly what: string;
  /** What the member there is called by now. */
  readonly called?: string;
  /** The value that has come or gone. */
  readonly value?: unknown;
  /** The type that stood there before; absent where it is the same. */
  readonly from?: string;
}

export interface Subject {
  readonly kind:
    | "operation"
    | "hook"
    | "type"
    | "document"
    | "event"
    | "integration event"
    | "error"
    | "command"
    | "realtime"
    | "storage"
    | "service";
  readonly name: string;
}

/** Takes changes as they are found. */
export type Note = (change: Change) => void;
