// Somebody who is erased: who it was, and what of others speaks of them (decisions.md "Erasure").

/** Somebody who is erased. */
export interface Erased {
  readonly principalId: string;
  /** How they signed in, in the one canonical form. */
  readonly login: string;
  /** The documents in which personal fields were replaced; families that come later read them. */
  readonly documents: Set<string>;
  /** The tenants in which they were a member, or have documents. */
  readonly tenants: Set<string>;
}

/** How many of each kind were erased. */
export type ErasedCounts = Readonly<Record<string, number>>;

/** Adds counts to others, kind by kind. */
export function addCounts(counts: Record<string, number>, more: ErasedCounts): void {
  for (const [kind, count] of Object.entries(more)) counts[kind] = (counts[kind] ?? 0) + count;
}

const uuids = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g;

/**
 * Whether a JSON text names the person, or one of their documents: by an id, or by the login as a
 * whole value, because a login may be part of any word.
 */
export function isAbout({ principalId, login, documents }: Erased, text: string): boolean {
  const plain = text.toLowerCase();
  if (plain.includes(JSON.stringify(login.toLowerCase()))) return true;
  return (plain.match(uuids) ?? []).some((id) => id === principalId || documents.has(id));
}
