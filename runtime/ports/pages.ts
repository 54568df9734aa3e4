// What ports list page by page, as one sequence.

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
