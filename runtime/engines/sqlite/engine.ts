// The embedded engine: one SQLite file in WAL mode, one writer with group commit, one reader.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Database, Transaction } from "../../operations/database.js";
import { inFlight } from "../sql/in-flight.js";
import type { MigrationTarget } from "../sql/migrations.js";
import { hasEnded, readOnly, type SqlSession } from "../sql/session.js";
import { sqlStores } from "../sql/stores.js";
import { openSqlite } from "./driver.js";
import { PreparedConnection, sqliteSession } from "./session.js";
import { Writer } from "./writer.js";

/** Opens the database at `path`, making its folder. A second process may open the same file. */
export function openSqliteDatabase(path: string): Database & MigrationTarget {
  mkdirSync(dirname(path), { recursive: true });
  const open = (pragmas: string): PreparedConnection => {
    const connection = new PreparedConnection(openSqlite(path));
    connection.exec(
      `PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA case_sensitive_like = ON; ${pragmas}`,
    );
    return connection;
  };
  // The writer waits for other processes without blocking this one (see writer.ts).
  const writing = open("PRAGMA busy_timeout = 0;");
  const reading = open("PRAGMA query_only = ON;");
  const writer = new Writer(writing);
  const held = new Set<string>();
  let attempts = 0;

  return {
    reader: readTransaction(readOnly(sqliteSession(reading, () => true))),

    async write({ lifetime, exclusive }, work) {
      const run = () => writer.run(lifetime, (isOpen) => work(writeTransaction(writing, isOpen)));
      if (exclusive === undefined) return run();
      // A second process is held off by the file lock of its BEGIN IMMEDIATE.
      if (held.has(exclusive)) throw inFlight();
      held.add(exclusive);
      try {
        return await run();
      } finally {
        held.delete(exclusive);
      }
    },

    async ping() {
      reading.all("SELECT 1", []);
    },

    async close() {
      await writer.idle();
      reading.close();
      writing.close();
    },

    engine: "sqlite",

    async migrate(apply) {
      await writer.idle();
      writing.exec("PRAGMA busy_timeout = 5000; BEGIN EXCLUSIVE");
      try {
        const applied = await apply({
          exec: async (text) => writing.exec(text),
          session: sqliteSession(writing, () => true),
        });
        writing.exec("COMMIT");
        return applied;
      } catch (error) {
        writing.exec("ROLLBACK");
        throw error;
      } finally {
        writing.exec("PRAGMA busy_timeout = 0");
      }
    },
  };

  function writeTransaction(connection: PreparedConnection, isOpen: () => boolean): Transaction {
    const session = sqliteSession(connection, isOpen);
    return {
      ...sqlStores(session),
      async attempt(work) {
        if (!isOpen()) throw hasEnded();
        const savepoint = `attempt_${(attempts += 1)}`;
        connection.exec(`SAVEPOINT ${savepoint}`);
        try {
          const value = await work();
          if (isOpen()) connection.exec(`RELEASE ${savepoint}`);
          return value;
        } catch (error) {
          if (isOpen()) connection.exec(`ROLLBACK TO ${savepoint}; RELEASE ${savepoint}`);
          throw error;
        }
      },
    };
  }

  function readTransaction(session: SqlSession): Transaction {
    return {
      ...sqlStores(session),
      attempt: (work) => work(),
    };
  }
}
