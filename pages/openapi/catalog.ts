// The catalog: every operation of the service, also those without a route.

/** What the catalog knows of a function of the client. */
export interface ClientCall {
  /** `tasks.update`; none if the operation has no route. */
  readonly call?: string;
  /** The member of the input that is the body; its members stand beside the others if none. */
  readonly body_member?: string;
}

export interface Entry extends ClientCall {
  readonly key: string;
  readonly family: string;
  readonly summary: string;
  readonly method: string | null;
  readonly path: string | null;
  readonly guard: string;
  readonly hooks: readonly { readonly phase: string; readonly id: string }[];
  readonly transaction: string;
  readonly deadline_seconds: number | null;
  readonly idempotency_key: boolean;
  readonly error_groups: readonly string[];
  readonly errors: readonly string[];
  /** The signals that it sends, as far as the registry says. */
  readonly emits?: readonly string[];
  /** The file of the registry that declares it. */
  readonly source: string;
  readonly deprecated?: {
    readonly since: string;
    readonly sunset: string | null;
    /** What to use in its place. */
    readonly use: string | null;
  };
}

export interface Catalog {
  readonly operations: readonly Entry[];
  /** Where the references of documents lead, by member; catalogs of earlier versions don't say. */
  readonly documents?: Readonly<
    Record<string, { readonly references: Readonly<Record<string, string>> }>
  >;
  readonly error_groups: Readonly<Record<string, readonly string[]>>;
}

/** `tasks`, of `tasks.create`. */
export function namespaceOf({ key }: Pick<Entry, "key">): string {
  return key.split(".")[0] ?? "";
}

/** All error codes of an operation, by name. */
export function codesOf(
  catalog: Catalog,
  { error_groups: groups, errors }: Entry,
): readonly string[] {
  const shared = groups.flatMap((group) => catalog.error_groups[group] ?? []);
  return [...new Set([...shared, ...errors])].sort();
}
