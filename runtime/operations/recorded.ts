// What a transaction has changed, as families that keep it are told (decisions.md "Audit trail").
import { isUuid } from "../contract/uuid.js";
import type { Identity } from "./identity.js";

/** How something was changed: `call` is whatever else an operation has done. */
export type ChangeKind = "create" | "update" | "delete" | "restore" | "kill" | "write" | "call";

/** A change, as whoever makes it notes it. */
export interface RecordedChange {
  readonly change: ChangeKind;
  /** The document or storage; null for what is neither. */
  readonly resource: string | null;
  /** The id of the document, or the key of the object. */
  readonly resourceId: string | null;
  /** The revision of the document afterwards; of one that was removed for good, its last. */
  readonly rev: number | null;
  /** The members of the document that are new. */
  readonly fields: readonly string[];
  /** What the audit log names besides: ids, never secrets. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** A change with whose it was. */
export interface Recorded extends RecordedChange {
  readonly tenant: string;
  /** Null where nobody was signed in, and for the service itself. */
  readonly by: Identity | null;
}

/** Fields that an invocation says of its changes in one tenant. */
export interface SaidNote {
  readonly tenant: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** Where changes are noted: the invocation whose transaction makes them. */
interface Recording {
  readonly tenant: string;
  readonly author: Identity | null;
  readonly ending: { readonly recorded: Recorded[] };
  readonly resources: { readonly recorded: unknown };
}

/**
 * Notes what the running transaction has changed in a tenant, for families that keep it
 * (`Family.recorded`). Where none does, nothing happens.
 */
export function recordChange(
  { tenant: here, author: by, ending, resources }: Recording,
  change: RecordedChange,
  tenant = here,
): void {
  if (resources.recorded !== null) ending.recorded.push({ ...change, tenant, by });
}

/** As `recordChange`, what an operation has done besides changing documents and objects. */
export function recordCall(
  context: Recording,
  details: RecordedChange["details"],
  tenant?: string,
): void {
  const ofNone = { resource: null, resourceId: null, rev: null, fields: [] };
  recordChange(context, { change: "call", ...ofNone, details }, tenant);
}

/** What is told of a call: members of its input that are named. */
export function toldOf(members: readonly string[], input: unknown): RecordedChange["details"] {
  const given = (input ?? {}) as Readonly<Record<string, unknown>>;
  const named = members.filter((name) => Object.hasOwn(given, name));
  return Object.fromEntries(named.map((name) => [name, given[name]]));
}

/** What says nothing personal: ids, numbers and answers of yes or no, without free texts. */
export function plainOf(details: RecordedChange["details"]): RecordedChange["details"] {
  const isPlain = (value: unknown): boolean =>
    ["number", "boolean"].includes(typeof value) || (typeof value === "string" && isUuid(value));
  return Object.fromEntries(Object.entries(details).filter(([, value]) => isPlain(value)));
}
