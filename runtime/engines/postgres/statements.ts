// Statements of PostgreSQL that each connection prepares once, and the session that sends them.
import { createHash } from "node:crypto";
import type { SqlValue } from "../sql/dialect/values.js";
import { withParts, type SqlRow, type SqlSession } from "../sql/session.js";
import { postgresDialect } from "./dialect.js";

export interface Answered {
  readonly rows: readonly SqlRow[];
  readonly rowCount: number | null;
  readonly command: string;
}

/** A statement for `pg`. Each connection prepares a named one only once. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
}

/**
 * A session whose statements go through `send`, which resolves with the answer. Those that nobody
 * asks about go through `pipeline`; where that is left out, they are waited for.
 */
export function sessionOver(
  send: (statement: Statement) => Promise<Answered>,
  pipeline: (statement: Statement) => Promise<unknown> = send,
): SqlSession {
  const all: SqlSession["all"] = async (text, parameters) =>
    (await send(statementOf(text, parameters))).rows;
  return {
    dialect: postgresDialect,
    all,
    scan: (text, parameters, columns) => all(withParts(text, columns), parameters),
    run: async (text, parameters) => (await send(statementOf(text, parameters))).rowCount ?? 0,
    runPipelined: async (text, parameters) => {
      await pipeline(statementOf(text, parameters));
    },
  };
}

/**
 * A statement with its values. It is named, so that each connection prepares it only once, unless
 * too many texts are known.
 */
function statementOf(text: string, parameters: readonly SqlValue[]): Statement {
  const name = statementName(text);
  const values = [...parameters];
  return name === undefined ? { text, values } : { name, text, values };
}

const statementNames = new Map<string, string>();
const maxNamed = 1_000;

/**
 * A stable name for a statement's text; undefined (unnamed) once too many different texts have been
 * seen.
 */
function statementName(text: string): string | undefined {
  const known = statementNames.get(text);
  if (known !== undefined) return known;
  if (statementNames.size >= maxNamed) return undefined;
  const name = `ow_${createHash("sha256").update(text).digest("base64url").slice(0, 16)}`;
  statementNames.set(text, name);
  return name;
}
