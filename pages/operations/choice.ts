// Which operations the page shows.
import { namespaceOf, type Entry } from "../openapi/catalog.js";
import { hasWords } from "../openapi/operations.js";

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
  return entries.filter((entry) => {
    const { key, path, summary, guard, source } = entry;
    return (
      hasWords(`${key} ${path ?? ""} ${summary} ${guard} ${source}`, choice.search) &&
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
