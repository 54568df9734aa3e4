// A change of the registry and its effect on clients, as data.

/**
 * The first counts where several hold. `opens` removes or weakens a protection, so that callers may
 * do, see or send what they could not; `breaking` requires clients to change; `additive` gives them
 * more, under the same protection; `documentation` only changes texts.
 */
export const levels = ["opens", "breaking", "additive", "documentation"] as const;
export type ChangeLevel = (typeof levels)[number];

/** Whether somebody has to approve it. */
export function needsApproval(level: ChangeLevel): boolean {
  return level === "opens" || level === "breaking";
}

/**
 * The part of the contract that a change is about, in reports for machines; a family's changes are
 * in one of these.
 */
export type ChangeArea =
  | "http"
  | "schema"
  | "permission"
  | "deadline"
  | "realtime"
  | "storage"
  | "version";

export interface Change {
  /** One sentence, which also identifies the change: an approval repeats it. */
  readonly text: string;
  readonly level: ChangeLevel;
  /** Whether opening it also requires clients to change; absent if it doesn't. */
  readonly breaks?: true;
  readonly area: ChangeArea;
  /** The subject that has changed. */
  readonly subject: ChangeSubject;
  /** Operations, events and commands in which clients meet it, sorted. */
  readonly affects: readonly string[];
  /** The place in a schema; absent for other subjects. */
  readonly at?: SchemaPlace;
  /** The member of the document that it is about. */
  readonly field?: string;
  /** Its cause, if that is known when it is found. */
  readonly cause?: string;
}

export interface SchemaPlace {
  /** Such as `.labels[]`; empty for the value itself. */
  readonly path: string;
  /** The change there, without naming subject and direction. */
  readonly what: string;
  /** The member's current name. */
  readonly called?: string;
  /** The value that was added or removed. */
  readonly value?: unknown;
  /** The previous type; absent if it is the same. */
  readonly from?: string;
}

export interface ChangeSubject {
  /**
   * `operation`, `hook`, `type` or `service`, or what a family calls what it declares, such as
   * `document` or `event`.
   */
  readonly kind: string;
  readonly name: string;
  /** The path of its declaration in the registry, such as `["storage", "files"]`. */
  readonly declared?: readonly [section: string, ...path: string[]];
}

/** Collects changes as they are found. */
export type Note = (change: Change) => void;
