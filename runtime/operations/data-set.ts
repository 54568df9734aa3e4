// What a service keeps, as files of JSON lines: `export` writes them, `import` reads them
// (decisions.md "Bring your data").
import { createHash } from "node:crypto";
import { fail } from "../contract/errors.js";
import { isUuid } from "../contract/uuid.js";
import type { ValidationFault } from "../contract/validation.js";

/** The operation under whose name lines are added. */
export const importing = "data.import";

/** Bytes beside the lines, each by the SHA-256 of what it is, in hexadecimal digits. */
export interface Contents {
  /** Keeps bytes, and returns their hash. */
  keep(bytes: AsyncIterable<Buffer>): Promise<string>;
  /** How many bytes there are with a hash; null if there are none, or others. */
  sizeOf(hash: string): Promise<number | null>;
  open(hash: string): AsyncIterable<Buffer>;
}

/** The hash of bytes, as `Contents` has it. */
export async function hashContent(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of bytes) hash.update(chunk);
  return hash.digest("hex");
}

/** What the lines of an import name, and what is there to be named. */
export interface Naming {
  /** A line has this; sets call each of theirs by one text. */
  note(set: string, key: string): void;
  isNoted(set: string, key: string): boolean;
  /**
   * A line names this, at a path in it. It has to be there in the end: in a line before or behind,
   * or in the service.
   */
  expect(set: string, key: string, path: string): void;
  /** Whether there are lines of a set. */
  brings(set: string): boolean;
}

/** One kind of thing that a service keeps. */
export interface DataSet<Line> {
  /** The path of its file, without `.jsonl`. */
  readonly name: string;
  /** All that is kept, a line of JSON each, in an order that only depends on what is kept. */
  lines(contents: Contents): AsyncIterable<string>;
  /** Reads a line. Throws `core.validation` with the paths in it. */
  read(value: unknown, naming: Naming, contents: Contents): Line | Promise<Line>;
  /** Which of these the service has, as `Naming` calls them; absent where nothing names them. */
  known?(keys: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Adds what isn't there yet, or nothing at all; returns how many were added. What is there as
   * the line says stays. Throws `core.conflict` where it is otherwise, and what the rules of the
   * service say.
   */
  add(lines: readonly Line[], naming: Naming, contents: Contents): Promise<number>;
}

/** Any set; lines are only ever handed back to the set that read them. */
// oxlint-disable-next-line typescript/no-explicit-any -- a set's lines are tied to the set itself
export type AnyDataSet = DataSet<any>;

/** Refuses a line. Throws `core.validation`. */
export function refuseLine(path: string, keyword: string, message: string): never {
  throw refusedLine([{ path, keyword, message }]);
}

/** A UUID in its canonical form. */
export function uuidAt(value: unknown, path: string): string {
  if (typeof value === "string" && isUuid(value)) return value.toLowerCase();
  return refuseLine(path, "format", "must be a UUID");
}

/** The refusal of a line for all these faults. */
export function refusedLine(errors: readonly ValidationFault[]) {
  return fail("core.validation", { errors });
}

/** The refusal of a line that says otherwise of something that is there. */
export function differs(what: string) {
  return fail("core.conflict", { reason: `${what} is there, and is another one` });
}
