// Migrations take their time, and so do processes that wait for them: what bounds callers' statements is not for them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { applyMigrations } from "../../runtime/engines/sql/migrations.js";
import { openDatabase } from "../../runtime/server/engines.js";
import { engines, type FreshDatabase } from "../engines.js";

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
      const applied = await Promise.all(
        databases.map((database) => applyMigrations(database, folder)),
      );
      expect(applied.flat()).toEqual(["0001_slow.sql"]);
    } finally {
      for (const database of databases) await database.close();
    }
  });
});
