// A database's log while others write: each state that is read from it is one that the database had, and none is missed.
import { mkdtempSync, openSync, readSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ArchiveGap, type HeldLog, type PageSet } from "../../ports/archive.js";
import { openSqlite, type SqliteConnection } from "./driver.js";
import { openHeldLog } from "./held-log.js";
import { LogTail } from "./log-tail.js";

let folder: string;
let path: string;
let writer: SqliteConnection;
const opened: { close(): unknown }[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "opwright-log-"));
  path = join(folder, "a.db");
  writer = open("");
  writer.exec(`CREATE TABLE "rows" ("id" INTEGER PRIMARY KEY, "text" TEXT)`);
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(pragmas: string): SqliteConnection {
  const connection = openSqlite(path);
  connection.exec(`PRAGMA journal_mode = WAL; ${pragmas}`);
  opened.push(connection);
  return connection;
}

/** As the engine opens it, but that these connections are closed by the log. */
async function held(): Promise<HeldLog> {
  const log = await openHeldLog({
    path,
    open: (pragmas) => {
      const connection = openSqlite(path);
      connection.exec(`PRAGMA journal_mode = WAL; ${pragmas}`);
      return connection;
    },
    betweenWrites: async (work) => work(),
  });
  opened.unshift(log);
  return log;
}

const none = Buffer.alloc(4_096);

/** A database's file, of which states are made from pages. */
class Image {
  readonly #pages = new Map<number, Buffer>();
  #pageCount = 0;

  take(pages: PageSet | null): this {
    return pages === null ? this : this.#take(pages);
  }

  #take({ pageCount, numbers, read }: PageSet): this {
    const contents = read(numbers);
    for (const [at, number] of numbers.entries()) this.#pages.set(number, contents[at] ?? none);
    this.#pageCount = pageCount;
    return this;
  }

  /** What a connection reads from the file, which has to be whole. */
  rows(): unknown {
    const file = join(folder, "image.db");
    for (const end of ["", "-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
    const pages = Array.from(
      { length: this.#pageCount },
      (_none, at) => this.#pages.get(at + 1) ?? none,
    );
    writeFileSync(file, Buffer.concat(pages));
    const connection = openSqlite(file);
    try {
      expect(connection.prepare("PRAGMA integrity_check").all([])).toMatchObject([
        { integrity_check: "ok" },
      ]);
      return rowsOf(connection);
    } finally {
      connection.close();
    }
  }
}

function rowsOf(connection: SqliteConnection): unknown {
  return connection.prepare(`SELECT "id", "text" FROM "rows" ORDER BY "id"`).all([]);
}

/** Numbers from 0 to below 1, the same each time. */
function draw(): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
  return seed / 4_294_967_296;
}
let seed = 7;

function write(): void {
  writer.exec("BEGIN");
  const rows = Math.ceil(draw() * 20);
  for (let at = 0; at < rows; at += 1) {
    const id = Math.floor(draw() * 300);
    if (draw() < 0.3) writer.prepare(`DELETE FROM "rows" WHERE "id" = ?`).run([id]);
    else
      writer
        .prepare(`INSERT OR REPLACE INTO "rows" VALUES (?, ?)`)
        .run([id, `${id} `.repeat(Math.floor(draw() * 3_000))]);
  }
  writer.exec(draw() < 0.1 ? "ROLLBACK" : "COMMIT");
  if (draw() < 0.02) writer.exec("VACUUM");
  if (draw() < 0.05) writer.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}

test("each state that is read is the database's own", { timeout: 60_000 }, async () => {
  for (let at = 0; at < 30; at += 1) write();
  const log = await held();
  const image = new Image().take(log.held());
  expect(image.rows()).toEqual(rowsOf(writer));
  let restarts = 0;
  for (let at = 0; at < 400; at += 1) {
    const before = draw();
    for (let times = Math.floor(draw() * 4); times > 0; times -= 1) write();
    if (before < 0.7) {
      image.take(await log.advance());
    } else {
      for (const rest of (await log.restart()) ?? []) image.take(rest);
      restarts += 1;
      if (at % 10 === 0) expect(new Image().take(log.held()).rows()).toEqual(rowsOf(writer));
    }
    if (at % 5 === 0) {
      image.take(await log.advance());
      expect(image.rows()).toEqual(rowsOf(writer));
    }
  }
  expect(restarts).toBeGreaterThan(50);
});

test("the log stays while it isn't read, and begins anew once it is", async () => {
  const log = await held();
  writer.exec("PRAGMA wal_autocheckpoint = 10");
  for (let at = 0; at < 300; at += 1) write();
  const changed = await log.advance();
  expect(log.size).toBeGreaterThan(1_000_000);
  expect(new Image().take(log.held()).take(changed).rows()).toEqual(rowsOf(writer));
  await log.restart();
  write();
  write();
  await log.advance();
  expect(log.size).toBeLessThan(400_000);
});

test("what was written beside an open transaction of others is read once that ends", async () => {
  const log = await held();
  writer.exec(`BEGIN; INSERT INTO "rows" VALUES (1, 'one')`);
  expect(await log.advance()).toBeNull();
  writer.exec("COMMIT");
  const changed = await log.advance();
  expect(new Image().take(log.held()).take(changed).rows()).toEqual([{ id: 1, text: "one" }]);
});

test("a frame of a commit that failed at its last moment is none", async () => {
  const log = await held();
  write();
  const image = new Image().take(log.held()).take(await log.advance());
  // Whoever is killed between the frame and its index leaves the one without the other.
  const index = openSync(`${path}-shm`, "r+");
  const before = Buffer.alloc(96);
  readSync(index, before, 0, 96, 0);
  writer.exec(`INSERT OR REPLACE INTO "rows" VALUES (1000, 'lost')`);
  writeSync(index, before, 0, 96, 0);
  expect(await log.advance()).toBeNull();
  for (let at = 0; at < 5; at += 1) {
    write();
    image.take(await log.advance());
    expect(image.rows()).toEqual(rowsOf(writer));
  }
  expect(JSON.stringify(image.rows())).not.toContain("lost");
});

test("a log that began anew more than once is a gap", () => {
  writer.exec(`INSERT INTO "rows" VALUES (1, 'one')`);
  const tail = new LogTail(path, 4_096);
  opened.unshift(tail);
  const advance = (): unknown => {
    for (const reading = tail.advance(); ;) {
      const { done, value } = reading.next();
      if (done === true) return value;
    }
  };
  expect(advance()).not.toBeNull();
  for (let times = 0; times < 2; times += 1) {
    writer.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    writer.exec(`INSERT OR REPLACE INTO "rows" VALUES (${times}, '')`);
  }
  expect(advance).toThrow(ArchiveGap);
});
