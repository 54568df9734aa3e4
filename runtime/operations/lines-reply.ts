// Answers that are lines of JSON, sent as they are read.
import { Readable } from "node:stream";
import { ByteReply } from "./byte-reply.js";

/** A download of values, a line of JSON (`application/jsonl`) each. */
export function linesReply(filename: string, values: AsyncIterable<unknown>): ByteReply {
  const headers = {
    "Content-Type": "application/jsonl",
    "Content-Disposition": `attachment; filename="${filename}"`,
  };
  return new ByteReply(200, headers, Readable.from(linesOf(values)));
}

async function* linesOf(values: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const value of values) yield `${JSON.stringify(value)}\n`;
}
