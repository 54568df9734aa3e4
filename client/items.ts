// The values of an operation that answers with many, read as they come.
import { ApiError } from "./error.js";
import type { Items } from "./options.js";
import { givesUp } from "./signals.js";

/**
 * The values of a stream, one by one: `for await (const price of readItems(prices.watch(client)))`.
 * Leaving the loop ends the call. One that breaks off throws `client.network`: what has come may
 * not be all. One that was given up by its `signal` throws `client.aborted`.
 */
export async function* readItems<Item>(
  answer: Items<Item> | PromiseLike<Items<Item>>,
): AsyncGenerator<Item, void, undefined> {
  const given = await answer;
  const { body } = given;
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  // A long value comes in many pieces, which are put together once.
  let begun: string[] = [];
  try {
    for (;;) {
      const piece = await reader?.read().catch((cause: unknown) => {
        throw givesUp.get(given)?.aborted === true
          ? new ApiError("client.aborted", "the call was given up", { cause })
          : new ApiError("client.network", "the stream has broken off", { cause });
      });
      if (piece?.value === undefined) break;
      const [end = "", ...lines] = piece.value.split("\n");
      begun.push(end);
      if (lines.length === 0) continue;
      const whole = [begun.join(""), ...lines];
      begun = [whole.pop() ?? ""];
      for (const line of whole) if (line !== "") yield readItem<Item>(line);
    }
    if (begun.join("") !== "") throw new ApiError("client.network", "the stream has broken off");
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
}

function readItem<Item>(line: string): Item {
  try {
    return JSON.parse(line) as Item;
  } catch (cause) {
    throw new ApiError("client.unreadable", "a value of the stream is no JSON", { cause });
  }
}
