// Lists by cursor, walked to their end.
import { ofCaller } from "./caller.js";
import { ApiError, type CallOptions, type Client } from "./core.js";

/** A list by cursor, as generated code has it. */
interface Lists<ListInput, Hit> {
  // A method, so that lists fit whose input may be left out and those that need one.
  list(
    client: Client,
    input: ListInput | undefined,
    options?: CallOptions,
  ): Promise<{ readonly hits: readonly Hit[]; readonly next_cursor: string | null }>;
}

/**
 * All that a list by cursor finds, page after page: `for await (const task of
 * each(tasks.listCursor, client, {}))`. A cursor that comes twice would never end, and throws
 * `client.cursor_repeated`.
 */
export function each<ListInput extends { readonly after?: string }, Hit>(
  list: Lists<ListInput, Hit>["list"],
  client: Client,
  input: NoInfer<ListInput>,
  options: CallOptions = {},
): AsyncGenerator<Hit, void, undefined> {
  // A generator's own code begins with its first page.
  return walk(list, client, input, ofCaller(client, options));
}

async function* walk<ListInput extends { readonly after?: string }, Hit>(
  list: Lists<ListInput, Hit>["list"],
  client: Client,
  input: ListInput,
  options: CallOptions,
): AsyncGenerator<Hit, void, undefined> {
  const seen = new Set<string>();
  let next: string | null | undefined = input.after;
  do {
    const page = await list(client, next == null ? input : { ...input, after: next }, options);
    yield* page.hits;
    next = page.next_cursor;
    if (next !== null && seen.has(next))
      throw new ApiError("client.cursor_repeated", "the service gave a cursor twice");
    if (next !== null) seen.add(next);
  } while (next !== null);
}
