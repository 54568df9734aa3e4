// What callers know: which documents there are, and what they were told of each.
export interface Told {
  readonly type: string;
  readonly tenant: string;
  readonly id: string;
  readonly rev: number;
  readonly note: string;
  readonly isDeleted: boolean;
}

export interface Ledger {
  /** Every revision that was told, in the order of the answers. */
  readonly told: Told[];
  /** Documents that somebody wanted removed, and types of which somebody wanted whatever a filter finds removed. */
  readonly unwanted: Set<string>;
  /** Documents that were removed for good, as it was answered. */
  readonly removed: Set<string>;
  /** What answers said that they must not say. */
  readonly faults: string[];
}

export function emptyLedger(): Ledger {
  return { told: [], unwanted: new Set(), removed: new Set(), faults: [] };
}

/** The last that was told of each document of a type and tenant, in the order in which they became known. */
export function known({ told, removed }: Ledger, type: string, tenant: string): readonly Told[] {
  const last = new Map<string, Told>();
  for (const one of told)
    if (one.type === type && one.tenant === tenant && one.rev >= (last.get(one.id)?.rev ?? 0))
      last.set(one.id, one);
  return [...last.values()].filter(({ id }) => !removed.has(id));
}
