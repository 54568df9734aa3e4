// Migrations take their time, and so do processes that wait for them: what bounds callers' statements is not for them.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSqlite } from "../../runtime/engines/sqlite/driver.js";
import type { Database } from "../../runtime/ports/database.js";
import {
  applyMigrations,
  pendingMigrations,
  type MigrationTarget,
} from "../../runtime/engines/sql/migrations.js";
import { openDatabase } from "../../runtime/server/engines.js";
import { engines, type FreshDatabase } from "../support/engines.js";

const postgres = engines.find(({ name }) => name === "postgres");

describe.skipIf(postgres?.isAvailable !== true)("migrations of PostgreSQL", () => {
  let fresh: FreshDatabase;
  const folder = mkdtempSync(join(tmpdir(), "opwright-migrations-"));
  beforeAll(async () => {
    if (postgres === undefined) throw new Error("there is no PostgreSQL");
    fresh = await postgres.create();
    mkdirSync(join(folder, "migrations/postgres"), { recursive: true });
    // The server ends statements of callers 5 s behind the longest deadline, which is 0 here.
    const slow = "SELECT pg_sleep(6); CREATE TABLE made_slowly (id integer);";
    writeFileSync(join(folder, "migrations/postgres/0001_slow.sql"), slow);
  });
  afterAll(async () => {
    await fresh.drop();
    rmSync(folder, { recursive: true });
  });

  test("may take longer than any statement of callers, in one process while another waits", async () => {
    const databases = await Promise.all(
      [1, 2].map(() => openDatabase(fresh.url, { longestSeconds: 0 })),
    );
    try {
      let waiting = 0;
      const onWaiting = (): void => void (waiting += 1);
      const applied = await Promise.all(
        databases.map((database) => applyMigrations(database, folder, { onWaiting })),
      );
      expect(applied.flat()).toEqual(["0001_slow.sql"]);
      // The one that waits says so, once.
      expect(waiting).toBe(1);
    } finally {
      for (const database of databases) await database.close();
    }
  });

  /** A database of its own with these migrations, opened so many times, and connections beside. */
  const withMigrations = async (
    files: Readonly<Record<string, string>>,
    work: (given: {
      readonly open: () => Promise<Database & MigrationTarget>;
      readonly client: () => Promise<Client>;
      readonly at: string;
    }) => Promise<void>,
  ): Promise<void> => {
    if (postgres === undefined) throw new Error("there is no PostgreSQL");
    const { url, drop } = await postgres.create();
    const at = mkdtempSync(join(tmpdir(), "opwright-migrations-"));
    mkdirSync(join(at, "migrations/postgres"), { recursive: true });
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(at, "migrations/postgres", name), text);
    const ends: (() => Promise<void>)[] = [];
    try {
      await work({
        at,
        async open() {
          const database = await openDatabase(url, { longestSeconds: 0 });
          ends.push(() => database.close());
          return database;
        },
        async client() {
          const client = new Client({ connectionString: url });
          await client.connect();
          ends.push(() => client.end());
          return client;
        },
      });
    } finally {
      for (const end of ends) await end();
      await drop();
      rmSync(at, { recursive: true });
    }
  };

  const script = 'CREATE TABLE "rows" ("id" integer, "size" integer);\n';
  const unique =
    '\n-- online\nDROP INDEX CONCURRENTLY IF EXISTS "by_size";\nCREATE UNIQUE INDEX CONCURRENTLY "by_size" ON "rows" ("size");\n';

  test("an interrupted migration continues, and repeats none of its steps", () =>
    withMigrations({ "0001_a.sql": script + unique }, async ({ open, client, at }) => {
      const database = await open();
      const beside = await client();
      // The table is there already when the index is made: the first try meets rows that are alike.
      const failing = { ...database, migrate: database.migrate.bind(database) };
      failing.migrate = (work) =>
        database.migrate(({ transaction, online }) =>
          work({
            transaction,
            async online(statement) {
              if (statement.startsWith("CREATE"))
                await beside.query('INSERT INTO "rows" VALUES (1, 1), (2, 1)');
              await online(statement);
            },
          }),
        );
      await expect(applyMigrations(failing, at)).rejects.toThrow();
      expect(await pendingMigrations(database, at)).toEqual(["0001_a.sql"]);
      await beside.query('DELETE FROM "rows" WHERE "id" = 2');
      expect(await applyMigrations(database, at)).toEqual(["0001_a.sql"]);
      const { rows } = await beside.query(
        `SELECT indisvalid FROM pg_index WHERE indexrelid = 'by_size'::regclass`,
      );
      expect(rows).toEqual([{ indisvalid: true }]);
      expect(await pendingMigrations(database, at)).toEqual([]);
      expect(await applyMigrations(database, at)).toEqual([]);
    }));

  test("an index that takes long says how far it is, and can be stopped and gone on with", () =>
    withMigrations({ "0001_a.sql": script }, async ({ open, client, at }) => {
      const [database, holder] = [await open(), await client()];
      await applyMigrations(database, at);
      writeFileSync(join(at, "migrations/postgres/0002_b.sql"), unique);
      // The index waits for whoever may write to the table, as long as they may.
      await holder.query("BEGIN");
      await holder.query('LOCK "rows" IN ROW EXCLUSIVE MODE');
      const stopping = new AbortController();
      const told: string[] = [];
      const stopped = applyMigrations(database, at, {
        signal: stopping.signal,
        onStatement: (statement) => told.push(statement.split(" ", 1)[0] ?? ""),
        onProgress(done, total) {
          told.push(`${done}/${total}`);
          stopping.abort();
        },
      });
      await expect(stopped).rejects.toThrow();
      expect(told).toEqual(["DROP", "CREATE", "0/1"]);
      expect(await pendingMigrations(database, at)).toEqual(["0002_b.sql"]);
      await holder.query("COMMIT");
      expect(await applyMigrations(database, at)).toEqual(["0002_b.sql"]);
      const { rows } = await holder.query(
        `SELECT indisvalid FROM pg_index WHERE indexrelid = 'by_size'::regclass`,
      );
      expect(rows).toEqual([{ indisvalid: true }]);
    }));

  test("an index is made while others wait for their turn", () =>
    withMigrations({ "0001_a.sql": script + unique }, async ({ open, at }) => {
      const databases = await Promise.all([open(), open(), open()]);
      const applied = await Promise.all(databases.map((one) => applyMigrations(one, at)));
      expect(applied.flat()).toEqual(["0001_a.sql"]);
    }));

  test("a session that holds a table delays the migration alone", () =>
    withMigrations(
      {
        "0001_a.sql": script,
        "0002_b.sql": 'ALTER TABLE "rows" ADD COLUMN "shape" integer NOT NULL DEFAULT 1;\n',
      },
      async ({ open, client, at }) => {
        const [holder, caller] = [await client(), await client()];
        const database = await open();
        const second = join(at, "migrations/postgres/0002_b.sql");
        const text = readFileSync(second, "utf8");
        rmSync(second);
        await applyMigrations(database, at);
        writeFileSync(second, text);
        await holder.query("BEGIN");
        await holder.query('SELECT * FROM "rows"');
        const migration = applyMigrations(database, at);
        // Each of these would wait for the holder, behind a migration that does.
        for (let asked = 0; asked < 5; asked += 1) {
          await caller.query('SELECT * FROM "rows"');
          await new Promise((resolve) => setTimeout(resolve, 200));
        }
        expect(await pendingMigrations(database, at)).toEqual(["0002_b.sql"]);
        await holder.query("COMMIT");
        expect(await migration).toEqual(["0002_b.sql"]);
      },
    ));
});

describe("migrations of SQLite", () => {
  test("others write between two indexes, and processes that migrate at once are fine", async () => {
    const folder = mkdtempSync(join(tmpdir(), "opwright-migrations-"));
    const at = join(folder, "migrations/sqlite");
    mkdirSync(at, { recursive: true });
    const path = join(folder, "test.db");
    const databases = await Promise.all([1, 2].map(() => openDatabase(`sqlite:${path}`)));
    const [first] = databases;
    if (first === undefined) throw new Error("there is no database");
    const caller = openSqlite(path);
    try {
      writeFileSync(
        join(at, "0001_a.sql"),
        'CREATE TABLE "rows" ("id" integer, "size" integer);\n',
      );
      await applyMigrations(first, folder);
      const indexes = ["id", "size"].map(
        (column) =>
          `\n-- online\nCREATE INDEX IF NOT EXISTS "by_${column}" ON "rows" ("${column}");\n`,
      );
      writeFileSync(join(at, "0002_b.sql"), indexes.join(""));
      let written = 0;
      const onStatement = (): void => {
        caller.exec("PRAGMA busy_timeout = 0; INSERT INTO rows VALUES (1, 1)");
        written += 1;
      };
      const applied = await Promise.all(
        databases.map((one) => applyMigrations(one, folder, { onStatement })),
      );
      expect(applied.flat()).toEqual(["0002_b.sql"]);
      expect(written).toBeGreaterThanOrEqual(2);
      const made = caller
        .prepare(`SELECT "name" FROM "sqlite_schema" WHERE "type" = 'index' ORDER BY "name"`)
        .all([]);
      expect(made.map(({ name }) => name)).toEqual(expect.arrayContaining(["by_id", "by_size"]));
    } finally {
      caller.close();
      for (const database of databases) await database.close();
      rmSync(folder, { recursive: true });
    }
  });
});
