// What ports list page by page: one page and how many items there are, and all pages as one
// sequence.

/** The items of a page, and the number of all items, both of the same moment. */
export interface CountedPage<Item> {
  readonly rows: readonly Item[];
  readonly count: number;
}

/**
 * Reads pages of up to `size` items, each beginning after the last item of the one before, whose
 * place `placeOf` says.
 */
export async function* walkPages<Item, Place>(
  size: number,
  read: (after: Place | null) => Promise<readonly Item[]>,
  placeOf: (item: Item) => Place,
): AsyncGenerator<Item> {
  for (let after: Place | null = null; ;) {
    const page = await read(after);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < size) return;
    after = placeOf(last);
  }
}
