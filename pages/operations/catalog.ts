// The catalog: every operation of the service, also those without a route.

export interface Entry {
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
  readonly error_groups: Readonly<Record<string, readonly string[]>>;
}

/** What is chosen among the operations; an empty text is no choice. */
export interface Choice {
  readonly search: string;
  readonly namespace: string;
  readonly guard: string;
  /** A method, `deprecated`, or `unrouted`. */
  readonly kind: string;
}

/** The operations that a choice leaves. */
export function chosenEntries(entries: readonly Entry[], choice: Choice): readonly Entry[] {
  const words = choice.search.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter((entry) => {
    const { key, path, summary, guard, source } = entry;
    const text = `${key} ${path ?? ""} ${summary} ${guard} ${source}`.toLowerCase();
    return (
      words.every((word) => text.includes(word)) &&
      (choice.namespace === "" || namespaceOf(entry) === choice.namespace) &&
      (choice.guard === "" || guard === choice.guard) &&
      isOfKind(entry, choice.kind)
    );
  });
}

function isOfKind({ method, deprecated }: Entry, kind: string): boolean {
  if (kind === "") return true;
  if (kind === "deprecated") return deprecated !== undefined;
  return kind === "unrouted" ? method === null : method === kind;
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

/** What a hook does, in words. */
export function hookText({ phase, id }: Entry["hooks"][number]): string {
  const [name = "", ...rest] = id.split(" ");
  const given = rest.join(" ");
  const texts: Readonly<Record<string, string>> = {
    principal: "The caller has to be signed in.",
    session: "The caller needs a session of its own, not an API key.",
    any: "The caller needs a session, with or without a tenant.",
    tenant: "The caller has to be in a tenant.",
    authorize: `The caller needs the permission ${given}.`,
    rate_limit: `At most ${given} a caller.`,
    idempotency: "A request that is repeated with its key is answered as before.",
  };
  return (
    texts[name] ??
    `${phase === "before" ? "Before" : phase === "after" ? "After" : "Around"} it runs ${id}.`
  );
}
