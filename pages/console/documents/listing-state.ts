// What a list shows, kept in its address, so that users can return to it and share it.
import type { DocumentKind } from "./document.js";
import type { Condition } from "./filters.js";

export interface Sort {
  readonly member: string;
  readonly direction: "asc" | "desc";
}

/** Where a page begins: a cursor, or its number where lists know no cursors. */
export type Place = { readonly after?: string; readonly before?: string; readonly page?: number };

export interface ListingState {
  readonly words: string;
  readonly isDeleted: boolean;
  readonly sort: Sort | null;
  readonly conditions: readonly Condition[];
  /** How many of the conditions must hold. */
  readonly match: "all" | "any";
  readonly place: Place;
}

const everything: ListingState = {
  words: "",
  isDeleted: false,
  sort: null,
  conditions: [],
  match: "all",
  place: {},
};

/** The state in the address, or the first one if a list of this kind can't have it. */
export function readListingState(kind: DocumentKind): ListingState {
  const [, text] = location.hash.split("?");
  try {
    const kept: unknown = JSON.parse(new URLSearchParams(text).get("list") ?? "{}");
    const state = { ...everything, ...(kept as Partial<ListingState>) };
    return fits(kind, state) ? state : everything;
  } catch {
    return everything;
  }
}

/** Addresses are typed, and come from others. */
function fits(
  kind: DocumentKind,
  { words, isDeleted, sort, conditions, match }: ListingState,
): boolean {
  const { operators, sortable } = kind;
  return (
    typeof words === "string" &&
    typeof isDeleted === "boolean" &&
    ["all", "any"].includes(match) &&
    (sort === null || sortable.includes(sort.member)) &&
    conditions.every(
      ({ member, operator, text }) =>
        operators[member]?.includes(operator) === true && typeof text === "string",
    )
  );
}

/** Puts the state into the address, without a step to go back. */
export function keepListingState(state: ListingState): void {
  const [room = ""] = location.hash.split("?");
  const changed = Object.entries(state).filter(
    ([name, value]) =>
      JSON.stringify(value) !== JSON.stringify(everything[name as keyof ListingState]),
  );
  const text = JSON.stringify(Object.fromEntries(changed));
  const query = changed.length === 0 ? "" : `?${new URLSearchParams({ list: text }).toString()}`;
  history.replaceState(history.state, "", `${room}${query}`);
}
