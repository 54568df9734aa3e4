// A database that is kept: whichever way a process ends, and wherever the next one goes on, each state that may be asked for
// comes back as it was.
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openFolderStore } from "../../runtime/engines/folder/engine.js";
import { openSqlite, type SqliteConnection } from "../../runtime/engines/sqlite/driver.js";
import type { Clock } from "../../runtime/ports/clock.js";
import { ServiceError, unavailable } from "../../runtime/contract/errors.js";
import { ArchiveGap, type HeldLog } from "../../runtime/ports/archive.js";
import type { ObjectStore } from "../../runtime/ports/objects.js";
import { BackupStore } from "../../runtime/server/backup/continuous/backup-store.js";
import { bringBack } from "../../runtime/server/backup/continuous/bring-back.js";
import { KeptDatabase } from "../../runtime/server/backup/continuous/kept-database.js";
import { findSeries } from "../../runtime/server/backup/continuous/series.js";
import { openDatabase } from "../../runtime/server/engines.js";
import { randomOf } from "../faults/drills.js";

const hour = 3_600_000;
const day = 24 * hour;
const days = 2;
/** So that a few hundred small writes go through everything. */
const bounds = { logPages: 60, steps: 12, pages: 300 };

let root: string;
let folder: ObjectStore;
let store: BackupStore;
let now: number;
const clock: Clock = { now: () => now, after: () => () => undefined };
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "opwright-kept-"));
  folder = await openFolderStore(join(root, "backup"), null);
  store = new BackupStore(folder, "demo");
  now = Date.parse("2026-11-30T12:00:00Z");
});
const opened: { end(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.end();
  rmSync(root, { recursive: true, force: true });
});

/** A database with a process that keeps it. */
interface Machine {
  readonly path: string;
  readonly writer: SqliteConnection;
  readonly kept: KeptDatabase;
  readonly written: { count: number; pages: number };
  /** What the log would be told. */
  readonly told: readonly string[];
  /** As a service that is stopped, or one that is killed. */
  end(saves?: boolean): Promise<void>;
}

async function machine(name: string): Promise<Machine> {
  const path = join(root, name, "service.db");
  const database = await openDatabase(`sqlite:${path}`, { isArchived: true });
  const writer = openSqlite(path);
  writer.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE IF NOT EXISTS "opwright_migrations" ("name" TEXT);
    CREATE TABLE IF NOT EXISTS "rows" ("id" INTEGER PRIMARY KEY, "text" TEXT);`);
  const ending = new AbortController();
  const written = { count: 0, pages: 0 };
  const told: string[] = [];
  const log = (await database.archive?.open()) as HeldLog;
  const kept = await KeptDatabase.resume({
    store,
    log,
    openedAt: now,
    database: path,
    series: await findSeries(store, path),
    service: { name: "demo", version: "1" },
    days,
    bounds,
    clock,
    signal: ending.signal,
    written: ({ delta }) => {
      written.count += 1;
      written.pages += delta.pages;
    },
    failed: (_error, what) => told.push(`failed ${what}`),
    emptied: () => told.push("emptied"),
    crossed: () => told.push("crossed"),
  }).catch(async (error: unknown) => {
    await log.close();
    writer.close();
    await database.close();
    throw error;
  });
  let isOver = false;
  const one: Machine = {
    path,
    writer,
    kept,
    written,
    told,
    async end(saves = false) {
      if (isOver) return;
      isOver = true;
      await kept.idle();
      ending.abort();
      if (saves) await kept.save();
      await log.close();
      writer.close();
      await database.close();
    },
  };
  opened.push(one);
  return one;
}

/** What all rows together are: their number, and a hash. */
type Rows = string;

function rowsOf(connection: SqliteConnection): Rows {
  const rows = connection.prepare(`SELECT "id", "text" FROM "rows" ORDER BY "id"`).all([]);
  return `${rows.length} ${createHash("sha256").update(JSON.stringify(rows)).digest("hex")}`;
}

let copies = 0;

/** The newest state until a time. */
async function stateAt(until?: number): Promise<{ readonly at: number; readonly rows: Rows }> {
  const path = join(root, `copy${(copies += 1)}`, "service.db");
  const { at } = await bringBack(store, path, until);
  const copy = openSqlite(path);
  try {
    return { at, rows: rowsOf(copy) };
  } finally {
    copy.close();
  }
}

/**
 * Brings the newest state until a time back to another machine. It is a copy, so that SQLite doesn't take it for the file that
 * this process has looked at.
 */
async function moveTo(name: string, until?: number): Promise<void> {
  const path = join(root, `back${(copies += 1)}`, "service.db");
  await bringBack(store, path, until);
  mkdirSync(join(root, name), { mode: 0o700 });
  for (const end of ["", "-backup"])
    copyFileSync(`${path}${end}`, join(root, name, `service.db${end}`));
}

function write(writer: SqliteConnection, random: () => number): void {
  writer.exec("BEGIN");
  for (let at = Math.ceil(random() * 10); at > 0; at -= 1) {
    const id = Math.floor(random() * 200);
    if (random() < 0.3) writer.prepare(`DELETE FROM "rows" WHERE "id" = ?`).run([id]);
    else
      writer
        .prepare(`INSERT OR REPLACE INTO "rows" VALUES (?, ?)`)
        .run([id, `${random()} `.repeat(Math.floor(random() * 300))]);
  }
  writer.exec("COMMIT");
  if (random() < 0.03) writer.exec("VACUUM");
}

const lives = Number(process.env["OPWRIGHT_TEST_LIVES"] ?? 3);
const start = Number(process.env["OPWRIGHT_TEST_SEED"] ?? 1);
const seeds = Array.from({ length: lives }, (_none, at) => start + at);

describe("each state that may be asked for comes back", () => {
  test.for(seeds)("seed %s", { timeout: 120_000 }, async (seed) => {
    const random = randomOf(seed);
    const resume = async (): Promise<Machine> => {
      now += 1_000;
      const begun = await machine(place);
      states.push({ at: now, rows: rowsOf(begun.writer) });
      return begun;
    };
    /** What was in the database at each time at which it was kept. */
    const states: { readonly at: number; readonly rows: Rows }[] = [];
    let place = "data";
    let one = await resume();
    const seen = { kills: 0, stops: 0, moves: 0, strangers: 0 };
    for (let step = 0; step < 250; step += 1) {
      now += step < 170 && random() < 0.04 ? Math.round(hour * random() * 6) : 1_000;
      for (let times = Math.floor(random() * 3); times > 0; times -= 1) write(one.writer, random);
      const rows = rowsOf(one.writer);
      await one.kept.keep();
      states.push({ at: now, rows });
      const what = random();
      if (what < 0.02) {
        seen.kills += 1;
        await one.end();
        one = await resume();
      } else if (what < 0.04) {
        seen.stops += 1;
        await one.end(true);
        // Somebody else writes while nobody keeps it.
        if (random() < 0.5) {
          seen.strangers += 1;
          const other = openSqlite(one.path);
          write(other, random);
          other.close();
        }
        one = await resume();
      } else if (what < 0.05) {
        // The machine is lost, and another one begins with what the backup has, or had.
        seen.moves += 1;
        await one.end();
        rmSync(join(root, place), { recursive: true });
        place = `data${seen.moves}`;
        await moveTo(place, random() < 0.5 && step > 9 ? now - 5_000 : now);
        one = await resume();
      }
    }
    await one.end(true);
    expect(one.told).toEqual([]);
    expect((await stateAt()).rows).toEqual(rowsOf(openReading(one.path)));
    const every = states.filter(({ at }) => at >= now - hour);
    for (const { at, rows } of every.filter((_state, index) => index % 7 === 0))
      expect([at, (await stateAt(at)).rows]).toEqual([at, rows]);
    expect(every.length).toBeGreaterThan(50);
    // Of older ones, some.
    const older = states.filter(({ at }) => at >= now - days * day && at < now - hour);
    for (const { at } of older.filter((_state, index) => index % 20 === 19)) {
      const found = await stateAt(at);
      expect([at, found.rows]).toEqual([at, states.find((state) => state.at === found.at)?.rows]);
    }
    expect(older.length).toBeGreaterThan(20);
    expect(Object.values(seen).reduce((one, other) => one + other)).toBeGreaterThan(2);
  });
});

describe("what goes wrong with the store", () => {
  /** Each state is written while its writer writes one row; `change` is what the store does otherwise. */
  const keptOn = async (change: Partial<ObjectStore>): Promise<Machine> => {
    store = new BackupStore({ ...folder, ...change }, "demo");
    return machine("data");
  };
  const addRow = ({ writer }: Machine, at: number): void =>
    writer.exec(`INSERT OR REPLACE INTO "rows" VALUES (${at % 50}, '${at}')`);

  test("what was committed while it took nothing is kept once it does", async () => {
    let isAway = false;
    const one = await keptOn({
      write: (...of) => (isAway ? Promise.reject(unavailable()) : folder.write(...of)),
    });
    isAway = true;
    for (let at = 0; at < 100; at += 1) {
      addRow(one, at);
      await expect(one.kept.keep()).rejects.toThrow(ServiceError);
    }
    isAway = false;
    await one.kept.keep();
    expect((await stateAt()).rows).toEqual(rowsOf(one.writer));
  });

  test("if nothing can be removed, only what was changed is written", async () => {
    const one = await keptOn({ remove: () => Promise.reject(unavailable()) });
    for (let at = 0; at < 300; at += 1) {
      now += 60_000;
      addRow(one, at);
      await one.kept.keep();
      await one.kept.idle();
    }
    expect(one.told).toContain("failed removing");
    expect(one.told).not.toContain("failed writing");
    // One for each row, and those that lead past twelve; none of them is large.
    expect(one.written.count).toBeLessThan(300 * 1.2);
    expect(one.written.pages).toBeLessThan(300 * 8);
  });

  test("what somebody has removed is noticed, and written again", async () => {
    const one = await keptOn({});
    addRow(one, 1);
    await one.kept.keep();
    rmSync(join(root, "backup/objects"), { recursive: true });
    await expect(
      (async () => {
        for (let at = 0; at < 40; at += 1) {
          now += 1_000;
          addRow(one, at);
          await one.kept.keep();
          await one.kept.idle();
        }
      })(),
    ).rejects.toThrow(ArchiveGap);
    await one.end();
    const again = await machine("data");
    expect(again.told).toContain("emptied");
    expect((await stateAt()).rows).toEqual(rowsOf(again.writer));
  });

  test("of two who write, each goes on, and both are told apart", async () => {
    const one = await keptOn({});
    addRow(one, 1);
    await one.kept.keep();
    await one.kept.save();
    await moveTo("other");
    const two = await machine("other");
    addRow(two, 2);
    await two.kept.keep();
    for (let at = 0; at < 200; at += 1) {
      now += 60_000;
      addRow(one, at);
      await one.kept.keep();
      await one.kept.idle();
    }
    expect(one.told).toContain("crossed");
    now += 1_000;
    addRow(two, 1_000);
    await two.kept.keep();
    expect((await stateAt()).rows).toEqual(rowsOf(two.writer));
  });

  test("nothing that is in a bucket besides makes a difference", async () => {
    const one = await keptOn({});
    addRow(one, 1);
    await one.kept.keep();
    const [series = ""] = await store.listSeries();
    const zero = "000000000000";
    const strange = [
      "README.txt",
      "x/y",
      `${series}/README.txt`,
      `${series}/${zero}-aaaaaaaa.nothing.20261130T120000000Z.1p.0of0`,
      `${series}/${zero}-aaaaaaaa.nothing.20261130T120000000Z.1p.99999999of99999999`,
      `${series}/${zero}-aaaaaaaa.nothing.20261130T120000000Z.1p.400000000of400000000`,
      `${series}/${zero}-aaaaaaaa.nothing.99999999T999999999Z.1p.1of1`,
      `${series}/999999999999-aaaaaaaa.999999999999-aaaaaaaa.20261130T120000000Z.1p.1of1`,
    ];
    for (const key of strange)
      await folder.write(
        `opwright-backup/demo/${key}`,
        Readable.from([Buffer.from("strange")]) as AsyncIterable<Buffer>,
        { contentType: "text/plain", filename: "strange", description: null },
        new AbortController().signal,
      );
    expect(await store.listSeries()).toEqual([series]);
    addRow(one, 2);
    await one.kept.keep();
    expect((await stateAt()).rows).toEqual(rowsOf(one.writer));
    // A state whose number leaves no room for others is told, instead of names that nobody reads.
    await one.end();
    await expect(machine("data")).rejects.toMatchObject({
      cause: { message: expect.stringContaining("999999999999, which can't be") },
    });
  });
});

const reading: SqliteConnection[] = [];
afterEach(() => {
  for (const connection of reading.splice(0)) connection.close();
});

function openReading(path: string): SqliteConnection {
  const connection = openSqlite(path);
  reading.push(connection);
  return connection;
}
