// Answers of any number of values, one after the other: JSON lines, or Server-Sent Events for
// callers who ask for these (https://html.spec.whatwg.org/multipage/server-sent-events.html).
import { Readable } from "node:stream";
import { UndeclaredAnswer, type Answer } from "./answer.js";
import { ByteReply } from "./byte-reply.js";
import { nameAfter } from "./check-answers.js";
import type { ExecutionContext } from "./context.js";
import { JsonText } from "./json-text.js";
import type { Handler } from "./operation.js";
import { startInterval } from "../ports/ambient.js";
import { weightsOf } from "../contract/accepted.js";

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
    const body = framesOf(
      iteratorOf(items),
      (item) => frame(textOf(declared, item), item),
      isEvents,
    );
    const headers = {
      "Content-Type": isEvents ? "text/event-stream; charset=utf-8" : "application/jsonl",
      "Cache-Control": "no-store",
      Vary: "Accept",
      // Proxies that collect what they pass on, such as nginx, would hold items back.
      "X-Accel-Buffering": "no",
    };
    return new ByteReply(status, headers, body);
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

type ItemIterator = Iterator<unknown> | AsyncIterator<unknown>;

function iteratorOf(items: ItemStream<unknown>): ItemIterator {
  return Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
}

/** Whether events are named, and not less welcome than lines (RFC 9110 §12.5.1). */
function asksForEvents({ requestHeader }: ExecutionContext): boolean {
  const weights = weightsOf(requestHeader("accept"));
  const [events, lines] = ["text/event-stream", "application/jsonl"].map(
    (type) => weights.get(type) ?? 0,
  );
  return events !== undefined && events > 0 && events >= (lines ?? 0);
}

function textOf<Item>(declared: Answer<Item>, item: unknown): string {
  const checked = declared(item);
  const text: unknown = checked instanceof JsonText ? checked.text : JSON.stringify(checked);
  if (typeof text === "string") return text;
  throw new UndeclaredAnswer([{ path: "", keyword: "type", message: "must be a JSON value" }]);
}

/** How often something is sent while no item comes, in milliseconds: silence ends connections. */
const beatMillis = 20_000;

/**
 * The items as they are sent, with a sign of life between those that are far apart. Whoever leaves
 * ends the iterator at once, also one that has not begun or still waits for its next item.
 */
function framesOf(
  iterator: ItemIterator,
  frame: (item: unknown) => string,
  isEvents: boolean,
): Readable {
  let isPulling = false;
  let beats: NodeJS.Timeout | undefined;
  const pull = async (): Promise<void> => {
    isPulling = true;
    beats = startInterval(() => body.push(isEvents ? ":\n\n" : "\n"), beatMillis).unref();
    try {
      const { done, value } = await iterator.next();
      clearInterval(beats);
      isPulling = false;
      if (done !== true) body.push(frame(value));
      else {
        // Browsers connect again to what has ended, unless they are told that this is all.
        if (isEvents) body.push("event: end\ndata: {}\n\n");
        body.push(null);
      }
    } catch (error) {
      body.destroy(error as Error);
    }
  };
  const body = new Readable({
    objectMode: true,
    read() {
      if (!isPulling) void pull();
    },
    destroy(error, done) {
      clearInterval(beats);
      void endIterator(iterator);
      done(error);
    },
  });
  return body;
}

/** What it throws now is heard by nobody. */
async function endIterator(iterator: ItemIterator): Promise<void> {
  try {
    await iterator.return?.();
  } catch {
    // Its caller has left.
  }
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
