// The content of a part of a delta: a line of JSON, the numbers of its pages, and the pages, all of
// it compressed (RFC 1952), whose checksum finds what was damaged.
import { promisify } from "node:util";
import { constants, gunzip, gzip } from "node:zlib";
import { isObject } from "../../../contract/json-pointer.js";

/** What a part says of itself. */
export interface PartFacts {
  /** The service's name and version. */
  readonly service: string;
  readonly version: string;
  readonly pageSize: number;
  /** How many pages the whole database has in the state that the delta leads to. */
  readonly pageCount: number;
}

export interface PartContent extends PartFacts {
  readonly numbers: readonly number[];
  readonly pages: readonly Buffer[];
}

const numberBytes = 4;
const lineFeed = 0x0a;
/** SQLite's bounds (https://www.sqlite.org/fileformat2.html#pages). */
const pageSizes = { least: 512, most: 65_536 };
/** Two terabytes of usual pages: what hashes have room for. */
const mostPages = 2 ** 29;
/** More than any part has. */
const mostBytes = 256 * 1024 * 1024;

/** Bytes that come out of the library at once: its usual 16 KiB make a part cost twice as much. */
const chunkSize = 1 << 20;
/** Nearly as small as with more effort, and several times faster. */
const effort = { level: constants.Z_BEST_SPEED, chunkSize };

export function writePart({ numbers, pages, ...facts }: PartContent): Promise<Buffer> {
  const head = Buffer.from(`${JSON.stringify({ format: 1, ...facts, pages: numbers.length })}\n`);
  const list = Buffer.alloc(numbers.length * numberBytes);
  for (const [at, number] of numbers.entries()) list.writeUInt32LE(number, at * numberBytes);
  return promisify(gzip)(Buffer.concat([head, list, ...pages]), effort) as Promise<Buffer>;
}

/** Rejects with why it is no part of a backup. */
export async function readPart(compressed: Buffer): Promise<PartContent> {
  const bytes = (await promisify(gunzip)(compressed, {
    maxOutputLength: mostBytes,
    chunkSize,
  })) as Buffer;
  const end = bytes.indexOf(lineFeed);
  const facts = readFacts(bytes.subarray(0, end).toString());
  const { count, pageSize, pageCount } = facts;
  const first = end + 1 + count * numberBytes;
  if (bytes.length !== first + count * pageSize) throw new Error("it has another length");
  const numbers = Array.from({ length: count }, (_none, at) =>
    bytes.readUInt32LE(end + 1 + at * numberBytes),
  );
  if (pageCount > mostPages) throw new Error("it has an impossible number of pages");
  if (numbers.some((number) => number < 1 || number > pageCount))
    throw new Error("it has a page outside of the database");
  const pages = numbers.map((_number, at) =>
    bytes.subarray(first + at * pageSize, first + (at + 1) * pageSize),
  );
  const { service, version } = facts;
  return { service, version, pageSize, pageCount, numbers, pages };
}

function readFacts(line: string): PartFacts & { readonly count: number } {
  const facts: unknown = JSON.parse(line);
  const isPart =
    isObject(facts) &&
    facts["format"] === 1 &&
    [facts["service"], facts["version"]].every((one) => typeof one === "string") &&
    [facts["pageSize"], facts["pageCount"], facts["pages"]].every(Number.isSafeInteger);
  if (!isPart) throw new Error("it isn't ours, or of a later version");
  const { pages: count, ...others } = facts as unknown as PartFacts & { readonly pages: number };
  if (others.pageSize < pageSizes.least || others.pageSize > pageSizes.most)
    throw new Error("its pages have an impossible size");
  return { ...others, count };
}
