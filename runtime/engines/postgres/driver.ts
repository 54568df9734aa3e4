// The package `pg`, which is imported only when PostgreSQL is configured, and how its values are
// read.
import type { TypeParser } from "./pools.js";

type Pg = (typeof import("pg"))["default"];

/** Imports the package. Throws if it is not installed. */
export async function loadDriver(): Promise<Pg> {
  const { default: pg } = await import("pg").catch((cause: unknown) => {
    throw new Error("PostgreSQL needs the package pg: npm install pg", { cause });
  });
  return pg;
}

/**
 * Reads values by their type's OID: JSON stays text, 64-bit integers become numbers, timestamps RFC
 * 3339 in UTC.
 */
const readers = new Map<number, (text: string) => unknown>([
  [20, Number],
  [114, (text) => text],
  [3802, (text) => text],
  [1184, (text) => new Date(text).toISOString()],
]);

/** The process id that the server, or a pooler, has given for a connection. */
export function processIdOf(client: object): number | null {
  return (client as { readonly processID?: number | null }).processID ?? null;
}

/** Our readers, or else those of the package. */
export function typeParserOf(pg: Pick<Pg, "types">): TypeParser {
  return (oid, format) => readers.get(oid) ?? pg.types.getTypeParser(oid, format);
}
