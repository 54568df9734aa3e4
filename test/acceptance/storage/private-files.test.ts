// What the embedded engines keep is for the account of the service alone: files 0600, folders 0700 (issue G, row 16).
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openFolderStore } from "../../../runtime/engines/folder/engine.js";
import { keepPrivate } from "../../../runtime/engines/private-files.js";
import { usualDatabase } from "../../../runtime/server/engines.js";
import { openSqliteDatabase } from "../../../runtime/engines/sqlite/engine.js";
import { databaseAt, type TestEngine } from "../../support/engines.js";
import { startTestService } from "../../support/service.js";
import { sqlStores } from "../../../runtime/families.js";

describe.skipIf(process.platform === "win32")("for one account", () => {
  let folder = "";
  let umask = 0;
  beforeEach(() => {
    // The most open one: what is closed was closed by the service.
    umask = process.umask(0);
    folder = mkdtempSync(join(tmpdir(), "opwright-private-"));
  });
  afterEach(() => {
    process.umask(umask);
    rmSync(folder, { recursive: true, force: true });
  });

  test("a database, its log, kept keys and objects are made", async () => {
    const data = join(folder, ".data");
    const engine: TestEngine = {
      name: "sqlite",
      isAvailable: true,
      create: async () => databaseAt(`sqlite:${join(data, "deep/t.db")}`),
    };
    const service = await startTestService(engine, {
      environment: { DATA_DIR: data, OBJECTS_URL: `file:${join(data, "objects")}` },
    });
    const form = new FormData();
    form.set("file", new Blob(["x"]), "x.txt");
    const { status } = await service.call("POST", "/vault/files/upload", { body: form });
    expect(status).toBe(201);
    const names = everythingIn(data);
    for (const part of ["deep/t.db", "deep/t.db-wal", "deep/t.db-shm", "secrets_signing.key"])
      expect(names).toContain(part);
    expect(names.some((name) => name.endsWith(".o"))).toBe(true);
    expect([modeOf(data), openTo(data)]).toEqual(["700", []]);
    await service.stop();
  });

  test("parts of uploads are made", async () => {
    const store = await openFolderStore(folder, {
      sign: () => "",
      verify: () => {
        throw new Error("nothing is signed");
      },
    });
    const description = { contentType: "text/plain", filename: "x", description: null };
    const part = { partNumber: 1, maxBytes: 1_024 };
    const id = await store.direct?.begin("a/b", description);
    await store.direct?.receivePart?.("a/b", id ?? "", part, Readable.from([Buffer.from("x")]));
    expect(everythingIn(folder).filter((name) => name.includes(id ?? "?"))).toHaveLength(3);
    expect(openTo(folder)).toEqual([]);
    await store.close();
  });

  test("files that an earlier version left open are made private at start, but not their folder", async () => {
    const path = join(folder, "old.db");
    await openSqliteDatabase(path, sqlStores, usualDatabase).close();
    const objects = join(folder, "files/objects");
    mkdirSync(objects, { recursive: true });
    chmodSync(folder, 0o755);
    chmodSync(path, 0o644);
    writeFileSync(`${path}-journal`, "");
    const database = openSqliteDatabase(path, sqlStores, usualDatabase);
    const store = await openFolderStore(join(folder, "files"), null);
    expect([modeOf(path), modeOf(`${path}-journal`), modeOf(objects)]).toEqual([
      "600",
      "600",
      "700",
    ]);
    expect(modeOf(folder)).toBe("755");
    await store.close();
    await database.close();
  });

  test("a folder that the process works in is more than data", () => {
    const before = modeOf(process.cwd());
    keepPrivate(".");
    expect(modeOf(process.cwd())).toBe(before);
  });
});

const everythingIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" });
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** Every file and folder below a folder that group or others may use. */
function openTo(folder: string): readonly string[] {
  return everythingIn(folder).filter((name) => (statSync(join(folder, name)).mode & 0o077) !== 0);
}
