// Answers of any number of values, one after the other: JSON lines, or Server-Sent Events for
// callers who ask for these (https://html.spec.whatwg.org/multipage/server-sent-events.html).
import { Readable } from "node:stream";
import { UndeclaredAnswer, type Answer } from "./answer.js";
import { ByteReply } from "./byte-reply.js";
import { nameAfter } from "./check-answers.js";
import type { ExecutionContext } from "./context.js";
import { JsonText } from "./json-text.js";
import type { Handler } from "./operation.js";
import { sleep } from "../ports/ambient.js";

/** What a handler of an operation with `stream` returns: values, as they come. */
export type ItemStream<Item> = Iterable<Item> | AsyncIterable<Item>;

/**
 * A handler whose values are cut and checked one by one, and sent as they come, with its status of
 * success. One that isn't as declared breaks the stream, so that it can't be taken for whole.
 */
export function streamItems<Input, Item>(
  declared: Answer<Item>,
  run: Handler<Input, ItemStream<NoInfer<Item>>>,
  status = 200,
): Handler<Input, ItemStream<Item>> {
  const handler = async (input: Input, context: ExecutionContext): Promise<ByteReply> => {
    const items = itemsOf(await run(input, context));
    const isEvents = asksForEvents(context);
    const frame = isEvents ? eventOf : lineOf;
    const texts = framesOf(items, (item) => frame(textOf(declared, item), item), isEvents);
    const headers = {
      "Content-Type": isEvents ? "text/event-stream; charset=utf-8" : "application/jsonl",
      "Cache-Control": "no-store",
      Vary: "Accept",
      // Proxies that collect what they pass on, such as nginx, would hold items back.
      "X-Accel-Buffering": "no",
    };
    return new ByteReply(status, headers, Readable.from(texts, { objectMode: true }));
  };
  // What is sent stands for what was returned.
  return nameAfter(handler as unknown as Handler<Input, ItemStream<Item>>, run);
}

function itemsOf(output: unknown): ItemStream<unknown> {
  const is = typeof output === "object" && output !== null;
  if (is && (Symbol.asyncIterator in output || Symbol.iterator in output))
    return output as ItemStream<unknown>;
  const fault = { path: "", keyword: "type", message: "must be values to iterate over" };
  throw new UndeclaredAnswer([fault]);
}

function asksForEvents({ requestHeader }: ExecutionContext): boolean {
  return /(?:^|,)\s*text\/event-stream\b/i.test(requestHeader("accept") ?? "");
}

function textOf<Item>(declared: Answer<Item>, item: unknown): string {
  const checked = declared(item);
  return checked instanceof JsonText ? checked.text : JSON.stringify(checked);
}

/** How often something is sent while no item comes, in milliseconds: silence ends connections. */
const beatMillis = 20_000;

/** The items as they are sent, with a sign of life between those that are far apart. */
async function* framesOf(
  items: ItemStream<unknown>,
  frame: (item: unknown) => string,
  isEvents: boolean,
): AsyncGenerator<string> {
  const iterator =
    Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const ending = new AbortController();
  let late = waitLate(ending.signal);
  try {
    for (;;) {
      const next = Promise.resolve(iterator.next());
      let result = await Promise.race([next, late]);
      while (result === null) {
        late = waitLate(ending.signal);
        yield isEvents ? ":\n\n" : "\n";
        result = await Promise.race([next, late]);
      }
      if (result.done === true) break;
      yield frame(result.value);
    }
  } finally {
    ending.abort();
    // Whoever leaves doesn't wait for what the author's code still waits for.
    Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
  // Browsers connect again to what has ended, unless they are told that this is all.
  if (isEvents) yield "event: end\ndata: {}\n\n";
}

/** Null after a while. */
function waitLate(signal: AbortSignal): Promise<null> {
  return sleep(beatMillis, null, { signal, ref: false }).catch(() => null);
}

function lineOf(text: string): string {
  return `${text}\n`;
}

/** An event; the member `id` of an item is its id, with which browsers continue. */
function eventOf(text: string, item: unknown): string {
  const { id } = (item ?? {}) as { readonly id?: unknown };
  const isId = typeof id === "number" || (typeof id === "string" && !/[\n\r\0]/.test(id));
  return `${isId ? `id: ${id}\n` : ""}data: ${text}\n\n`;
}
