// Answers of a type that is not JSON: text or bytes, which an author's handler makes.
import { Readable } from "node:stream";
import { type Answer, UndeclaredAnswer } from "./answer.js";
import { ByteReply } from "./byte-reply.js";

/** A piece of an answer. */
type Piece = string | Uint8Array;

/** What a handler of an operation with `media` returns: all of it, or pieces as they come. */
export type MediaAnswer = Piece | Iterable<Piece> | AsyncIterable<Piece>;

/**
 * The answer of an operation that sends one type, with its status of success. Text is sent as
 * UTF-8.
 */
export function mediaAnswer(type: string, status = 200): Answer<MediaAnswer> {
  const isText = type.startsWith("text/") && !type.includes(";");
  const headers = {
    "Content-Type": isText ? `${type}; charset=utf-8` : type,
    "Cache-Control": "no-store",
  };
  const answer = (output: unknown): ByteReply => {
    // Passed on by a hook around the handler.
    if (output instanceof ByteReply) return output;
    const whole = wholeOf(output);
    if (whole === null) return new ByteReply(status, headers, piecesOf(output));
    const length = { "Content-Length": String(whole.byteLength) };
    return new ByteReply(status, { ...headers, ...length }, Readable.from([whole]));
  };
  // What is sent stands for what was returned.
  return answer as unknown as Answer<MediaAnswer>;
}

function wholeOf(output: unknown): Buffer | null {
  if (typeof output === "string") return Buffer.from(output);
  if (!(output instanceof Uint8Array)) return null;
  return Buffer.from(output.buffer, output.byteOffset, output.byteLength);
}

function piecesOf(output: unknown): Readable {
  if (output instanceof Readable) return output;
  if (isPieces(output)) return Readable.from(output, { objectMode: true });
  const message = "must be text, bytes, or pieces of them";
  const fault = { path: "", keyword: "type", message };
  throw new UndeclaredAnswer([fault], {}, "the answer is not what `media` declares");
}

function isPieces(output: unknown): output is Iterable<Piece> | AsyncIterable<Piece> {
  const is = typeof output === "object" && output !== null;
  return is && (Symbol.asyncIterator in output || Symbol.iterator in output);
}
