// Answers of any number of values, one after the other: JSON lines, or Server-Sent Events for
// callers who ask for these, or rows of CSV.
import { Readable } from "node:stream";
import { UndeclaredAnswer, type Answer } from "./answer.js";
import { ByteReply } from "./byte-reply.js";
import { nameAfter } from "./check-answers.js";
import type { ExecutionContext } from "./context.js";
import { JsonText } from "./json-text.js";
import type { Handler } from "./operation.js";
import { startInterval } from "../ports/ambient.js";
import { weightsOf } from "../contract/accepted.js";
import { events, lines, rowsOf, type Wire } from "./item-wires.js";

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
  const wireOf = (context: ExecutionContext): Wire => (asksForEvents(context) ? events : lines);
  // Proxies that collect what they pass on, such as nginx, would hold items back.
  const headers = { Vary: "Accept", "X-Accel-Buffering": "no" };
  return streamOn(wireOf, headers, declared, run, status);
}

/** As `streamItems`, but the values are rows of CSV with these columns, in their order. */
export function streamRows<Input, Item>(
  columns: readonly (keyof Item & string)[],
  declared: Answer<Item>,
  run: Handler<Input, ItemStream<NoInfer<Item>>>,
  status = 200,
): Handler<Input, ItemStream<Item>> {
  const rows = rowsOf(columns);
  return streamOn(() => rows, {}, declared, run, status);
}

function streamOn<Input, Item>(
  wireOf: (context: ExecutionContext) => Wire,
  further: Readonly<Record<string, string>>,
  declared: Answer<Item>,
  run: Handler<Input, ItemStream<NoInfer<Item>>>,
  status: number,
): Handler<Input, ItemStream<Item>> {
  const handler = async (input: Input, context: ExecutionContext): Promise<ByteReply> => {
    const items = itemsOf(await run(input, context));
    const wire = wireOf(context);
    const body = framesOf(iteratorOf(items), wire, (item) => textOf(declared, item));
    const headers = {
      "Content-Type": wire.contentType,
      "Cache-Control": "no-store",
      ...further,
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
function framesOf(iterator: ItemIterator, wire: Wire, textOf: (item: unknown) => string): Readable {
  const { beat } = wire;
  let isPulling = false;
  let beats: NodeJS.Timeout | undefined;
  const pull = async (): Promise<void> => {
    isPulling = true;
    if (beat !== null) beats = startInterval(() => body.push(beat), beatMillis).unref();
    try {
      const { done, value } = await iterator.next();
      clearInterval(beats);
      isPulling = false;
      if (done !== true) body.push(wire.frame(textOf(value), value));
      else {
        if (wire.end !== "") body.push(wire.end);
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
  if (wire.begin !== "") body.push(wire.begin);
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
