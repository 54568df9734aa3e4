// Statements as parts of a trace (OpenTelemetry, "Semantic conventions for database client spans").
import { tracePart, type Attributes, type TraceSpan } from "../../ports/tracer.js";
import { withParts, type SqlSession } from "./session.js";

/** What a span says of a statement. */
interface StatementFacts {
  readonly name: string;
  readonly attributes: Attributes;
}

/** The names that OpenTelemetry has for engines. */
export type DatabaseSystem = "postgresql" | "sqlite";

/** A session whose statements are parts of a trace; the session itself where nothing is traced. */
export function tracedSession(
  session: SqlSession,
  trace: TraceSpan | null | undefined,
  system: DatabaseSystem,
): SqlSession {
  if (trace === null || trace === undefined) return session;
  const within = <T>(text: string, run: () => Promise<T>): Promise<T> => {
    const { name, attributes } = factsOf(text, system);
    return tracePart(trace, name, "client", run, attributes);
  };
  return {
    dialect: session.dialect,
    all: (text, parameters) => within(text, () => session.all(text, parameters)),
    scan: (text, parameters, columns) =>
      within(withParts(text, columns), () => session.scan(text, parameters, columns)),
    run: (text, parameters) => within(text, () => session.run(text, parameters)),
    // It is waited for, so that its span says how long it took.
    runPipelined: async (text, parameters) => {
      await within(text, () => session.run(text, parameters));
    },
  };
}

/** Characters of a text that a span has: those of some lists are as long as a book's chapter. */
const longestText = 4_000;

/** Texts that are known of each engine, at most: callers' filters make more of them, and longer. */
const mostKnown = 2_000;
const known = {
  postgresql: new Map<string, StatementFacts>(),
  sqlite: new Map<string, StatementFacts>(),
};

function factsOf(text: string, system: DatabaseSystem): StatementFacts {
  const ofSystem = known[system];
  const found = ofSystem.get(text);
  if (found !== undefined) return found;
  const facts = describe(text, system);
  if (text.length > longestText) return facts;
  if (ofSystem.size >= mostKnown) ofSystem.clear();
  ofSystem.set(text, facts);
  return facts;
}

function describe(text: string, system: DatabaseSystem): StatementFacts {
  const main = withoutParts(text);
  const operation = /\b(?:SELECT|INSERT|UPDATE|DELETE)\b/.exec(main)?.[0] ?? "EXECUTE";
  const tables = /\b(?:FROM|INTO|UPDATE|JOIN) "([^"]+)"/g;
  // Queries that the statement names are no tables.
  const collection = [...main.matchAll(tables), ...text.matchAll(tables)]
    .map(([, name]) => name)
    .find((name) => !text.includes(`"${name}" AS (`));
  const name = collection === undefined ? operation : `${operation} ${collection}`;
  const attributes = {
    "db.system.name": system,
    "db.operation.name": operation,
    ...(collection === undefined ? {} : { "db.collection.name": collection }),
    "db.query.summary": name,
    "db.query.text": withoutLiterals(text).slice(0, longestText),
  };
  return { name, attributes };
}

/** The statement itself, without the queries in parentheses that it is made of. */
function withoutParts(text: string): string {
  let left = text;
  for (let before = ""; before !== left;) {
    before = left;
    left = left.replaceAll(/\([^()]*\)/g, " ");
  }
  return left;
}

/** Values are parameters; what is left are sizes of pages, and constants of the service's. */
function withoutLiterals(text: string): string {
  return text.replaceAll(/"[^"]*"|'(?:[^']|'')*'|(?<![\w$?])\d+(?:\.\d+)?/g, (found) =>
    found.startsWith('"') ? found : "?",
  );
}
