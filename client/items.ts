// The values of an operation that answers with many, read as they come.
import { ApiError } from "./error.js";
import type { Items } from "./options.js";

/**
 * The values of a stream, one by one: `for await (const price of readItems(prices.watch(client)))`.
 * Leaving the loop ends the call. One that breaks off throws `client.network`: what has come may
 * not be all.
 */
export async function* readItems<Item>(
  answer: Items<Item> | PromiseLike<Items<Item>>,
): AsyncGenerator<Item, void, undefined> {
  const { body } = await answer;
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const piece = await reader?.read().catch((cause: unknown) => {
        throw new ApiError("client.network", "the stream has broken off", { cause });
      });
      if (piece?.value === undefined) break;
      const lines = (rest + piece.value).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line !== "") yield JSON.parse(line) as Item;
    }
    if (rest !== "") throw new ApiError("client.network", "the stream has broken off");
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
}
