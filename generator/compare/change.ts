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
}

export interface Subject {
  readonly kind:
    | "operation"
    | "hook"
    | "type"
    | "document"
    | "event"
    | "integration event"
    | "command"
    | "realtime"
    | "storage"
    | "service";
  readonly name: string;
}

/** Takes changes as they are found. */
export type Note = (change: Change) => void;
