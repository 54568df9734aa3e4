// Statements on one SQLite connection, prepared once and kept, in least-recently-used order.
import { fail } from "../../contract/errors.js";
import { hasEnded, type SqlRow, type SqlSession, type SqlValue } from "../sql/session.js";
import { sqliteDialect } from "./dialect.js";
import type { SqliteConnection, SqliteStatement, SqliteValue } from "./driver.js";

const maxPrepared = 512;

/** A connection with its prepared statements. Errors of SQLite become `core.infrastructure`. */
export class PreparedConnection {
  readonly #connection: SqliteConnection;
  readonly #prepared = new Map<string, SqliteStatement>();

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  all(text: string, parameters: readonly SqlValue[]): readonly SqlRow[] {
    return translated(() => this.#statement(text).all(parameters.map(bound)));
  }

  run(text: string, parameters: readonly SqlValue[]): number {
    return translated(() => this.#statement(text).run(parameters.map(bound)));
  }

  exec(text: string): void {
    translated(() => this.#connection.exec(text));
  }

  close(): void {
    this.#prepared.clear();
    this.#connection.close();
  }

  #statement(text: string): SqliteStatement {
    const known = this.#prepared.get(text);
    if (known !== undefined) {
      this.#prepared.delete(text);
      this.#prepared.set(text, known);
      return known;
    }
    const statement = this.#connection.prepare(text);
    this.#prepared.set(text, statement);
    if (this.#prepared.size > maxPrepared) {
      const [oldest] = this.#prepared.keys();
      if (oldest !== undefined) this.#prepared.delete(oldest);
    }
    return statement;
  }
}

/** A session that refuses to work once its transaction has ended. */
export function sqliteSession(connection: PreparedConnection, isOpen: () => boolean): SqlSession {
  const guard = (): void => {
    if (!isOpen()) throw hasEnded();
  };
  return {
    dialect: sqliteDialect,
    async all(text, parameters) {
      guard();
      return connection.all(text, parameters);
    },
    async run(text, parameters) {
      guard();
      return connection.run(text, parameters);
    },
  };
}

function bound(value: SqlValue): SqliteValue {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "object" && value !== null) return JSON.stringify(value);
  return value;
}

function translated<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const isBusy =
      cause instanceof Error &&
      /SQLITE_BUSY|database is locked/.test(
        `${String((cause as { code?: unknown }).code)} ${cause.message}`,
      );
    throw isBusy
      ? fail("core.unavailable", {}, { cause, headers: { "Retry-After": "1" } })
      : fail("core.infrastructure", {}, { cause });
  }
}
