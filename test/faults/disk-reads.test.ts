// What SQLite makes of a disk that fails to read: no row is missed in silence, and no checkpoint writes what it could not read
// (attack 84).
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, type TestContext } from "vitest";
import { openSqlite, type SqliteConnection } from "../../runtime/engines/sqlite/driver.js";
import { injectEio } from "./disk.js";

const rows = 5_000;
/** Pages that a connection keeps: most of what it is asked for it has to read. */
const keptPages = 20;

describe("reads that answer EIO", () => {
  let folder: string;
  let path: string;
  let connection: SqliteConnection;
  /** Reads of the log fail from now on. Returns what ends that; skips where tracing is not allowed, which is said. */
  const failing = async ({ skip }: TestContext): Promise<() => Promise<void>> =>
    (await injectEio(process.pid, ["pread64"], [`${path}-wal`])) ??
    skip("strace cannot trace here");
  const opened = (): SqliteConnection => {
    const fresh = openSqlite(path);
    fresh.exec(`PRAGMA journal_mode = WAL; PRAGMA cache_size = ${keptPages}`);
    return fresh;
  };
  const count = (by: SqliteConnection): unknown =>
    by.prepare("SELECT count(*) AS n, count(DISTINCT value) AS v FROM things").all([])[0];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "opwright-reads-"));
    path = join(folder, "a name with % and ?.db");
    connection = opened();
    connection.exec(`PRAGMA wal_autocheckpoint = 0;
      CREATE TABLE things (tenant TEXT, key TEXT, value TEXT, PRIMARY KEY (tenant, key));
      WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows - 1})
      INSERT INTO things SELECT 't', 'k' || i, printf('%0200d', i) FROM n;`);
  });
  afterEach(() => {
    connection.close();
    rmSync(folder, { recursive: true });
  });

  test("a row is found, or its read fails", async (context) => {
    const byKey = connection.prepare("SELECT value FROM things WHERE tenant = ? AND key = ?");
    const seen = { found: 0, failed: 0, missed: 0 };
    const look = (at: number): void => {
      try {
        const found = byKey.all(["t", `k${at}`]);
        seen[found.length === 1 ? "found" : "missed"] += 1;
      } catch {
        seen.failed += 1;
      }
    };
    const end = await failing(context);
    for (let at = 0; at < rows; at += 7) look(at);
    await end();
    expect(seen.missed).toBe(0);
    expect(seen.failed).toBeGreaterThan(0);
    seen.failed = 0;
    for (let at = 0; at < rows; at += 7) look(at);
    expect(seen).toMatchObject({ missed: 0, failed: 0 });
  });

  test("a checkpoint that cannot read the log leaves the file as it was", async (context) => {
    const end = await failing(context);
    expect(() => connection.exec("PRAGMA wal_checkpoint(TRUNCATE)")).toThrow();
    await end();
    connection.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    connection.close();
    connection = opened();
    expect(count(connection)).toEqual({ n: rows, v: rows });
    expect(connection.prepare("PRAGMA integrity_check").all([])).toEqual([
      { integrity_check: "ok" },
    ]);
  });
});
