// `server.js backup` beside a service that goes on writing, and `server.js restore` where there is nothing: what was
// acknowledged before is there, with its files; and what isn't whole, or would overwrite something, is refused.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openSqlite } from "../../../runtime/engines/sqlite/driver.js";
import { keptFiles } from "../../support/kept-files.js";
import {
  addedNote,
  endVersion,
  startVersion,
  type StartedVersion,
} from "../../support/kept-notes.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { versionOf, type Version, type VersionProcess } from "../../support/version-process.js";

let project: TestProject;
let version: Version;
const root = mkdtempSync(join(tmpdir(), "opwright-backup-"));
beforeAll(async () => {
  project = await testProject(keptFiles);
  version = await versionOf(project);
}, 120_000);
afterAll(() => {
  project.remove();
  rmSync(root, { recursive: true, force: true });
});

let places = 0;
const newPath = (): string => join(root, `${(places += 1)}`);

const started = (data: string, environment: object = {}): Promise<StartedVersion> =>
  startVersion(version, { DATA_DIR: data, ...environment });

const stopped = (process: VersionProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> =>
  endVersion(process, signal);

async function upload(url: string, text: string): Promise<string> {
  const form = new FormData();
  form.set("file", new File([text], "a.txt", { type: "text/plain" }));
  const answer = await fetch(`${url}/files/files`, { method: "POST", body: form });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { readonly key: string }).key;
}

async function listOf(url: string): Promise<readonly string[]> {
  const answer = await fetch(`${url}/files/files/list`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ prefix: "", size: 1_000 }),
  });
  const body = (await answer.json()) as { readonly hits: readonly { readonly key: string }[] };
  return body.hits.map(({ key }) => key);
}

const textOf = async (url: string, path: string): Promise<readonly [number, string]> => {
  const answer = await fetch(`${url}${path}`);
  return [answer.status, await answer.text()];
};

describe("a backup", () => {
  test("beside writers has what was acknowledged before it, with its files", async () => {
    const [data, folder, elsewhere] = [newPath(), newPath(), newPath()];
    const { url, process } = await started(data);
    const notes = new Map<string, string>();
    const objects = new Map<string, string>();
    for (let at = 0; at < 20; at += 1) {
      notes.set(await addedNote(url, `before ${at}`), `before ${at}`);
      objects.set(await upload(url, `content ${at}`), `content ${at}`);
    }
    const over = new AbortController();
    const writing = (async () => {
      for (let at = 0; !over.signal.aborted; at += 1) {
        await addedNote(url, `beside ${at}`);
        await upload(url, `beside ${at}`);
      }
    })();
    const made = version.spawn({ DATA_DIR: data }, "backup", folder);
    expect([await made.exited, made.output()]).toEqual([
      0,
      expect.stringMatching(
        /^the database \(\d+ bytes\) and \d+ files, as they were after .*Z; secrets are not/,
      ),
    ]);
    over.abort();
    await writing;
    // As when the machine fails: nothing is flushed.
    await stopped(process, "SIGKILL");
    const names = readdirSync(folder);
    expect(names.toSorted()).toEqual(["SHA256SUMS", "backup.json", "objects", "service.db"]);
    for (const name of names)
      expect([name, (statSync(join(folder, name)).mode & 0o777).toString(8)]).toEqual([
        name,
        name === "objects" ? "700" : "600",
      ]);

    execFileSync("sha256sum", ["--check", "--quiet", "SHA256SUMS"], { cwd: folder });
    const back = version.run({ DATA_DIR: elsewhere }, "restore", folder);
    expect([back.code, back.stderr]).toEqual([0, ""]);
    const again = await started(elsewhere);
    for (const [id, text] of notes) {
      const [status, body] = await textOf(again.url, `/notes/${id}`);
      expect([status, JSON.parse(body).text]).toEqual([200, text]);
    }
    for (const [key, content] of objects)
      expect(await textOf(again.url, `/files/files/${key}`)).toEqual([200, content]);
    expect((await textOf(again.url, "/readyz"))[0]).toBe(200);
    // What the list of files names is there, also what came beside the backup.
    const listed = await listOf(again.url);
    expect(listed.length).toBeGreaterThanOrEqual(20);
    for (const key of listed)
      expect([key, (await textOf(again.url, `/files/files/${key}`))[0]]).toEqual([key, 200]);
    await addedNote(again.url, "goes on");
    await stopped(again.process);
  });

  test("of a service that was killed has what is still in the log", async () => {
    const [data, folder, elsewhere] = [newPath(), newPath(), newPath()];
    const { url, process } = await started(data);
    const id = await addedNote(url, "in the log");
    await stopped(process, "SIGKILL");
    expect(existsSync(join(data, "service.db-wal"))).toBe(true);
    expect(version.run({ DATA_DIR: data }, "backup", folder).code).toBe(0);
    expect(version.run({ DATA_DIR: elsewhere }, "restore", folder).code).toBe(0);
    const again = await started(elsewhere);
    expect((await textOf(again.url, `/notes/${id}`))[0]).toBe(200);
    await stopped(again.process);
  });

  describe("is refused", () => {
    let data: string;
    let folder: string;
    beforeEach(async () => {
      [data, folder] = [newPath(), newPath()];
      const { url, process } = await started(data);
      await addedNote(url, "one");
      await upload(url, "two");
      await stopped(process);
      expect(version.run({ DATA_DIR: data }, "backup", folder).code).toBe(0);
    });
    const restored = (from = folder, to = newPath()) => {
      const { code, stderr } = version.run({ DATA_DIR: to }, "restore", from);
      return [code, stderr.trim(), existsSync(join(to, "service.db"))];
    };
    const object = (): string => {
      const inside = readdirSync(join(folder, "objects"), { recursive: true, withFileTypes: true });
      const file = inside.find((entry) => entry.isFile());
      if (file === undefined) throw new Error("there is no object");
      return join(file.parentPath, file.name);
    };

    test("where something is already", () => {
      const again = version.run({ DATA_DIR: data }, "backup", folder);
      expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("isn't empty")]);
      expect(restored(folder, data)).toEqual([
        1,
        expect.stringMatching(/core\.conflict: .*service\.db is there: stop the service/),
        true,
      ]);
      rmSync(join(data, "service.db"));
      expect(restored(folder, data)).toEqual([
        1,
        expect.stringMatching(/core\.conflict: .*objects.* is there: move .* away/),
        false,
      ]);
    });

    test("where there is no database, or PostgreSQL has it", () => {
      const none = version.run({ DATA_DIR: newPath() }, "backup", newPath());
      expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("no database yet")]);
      const environment = { DATABASE_URL: "postgres://a/b" };
      const other = version.run(environment, "backup", newPath());
      expect([other.code, other.stderr]).toEqual([
        1,
        expect.stringMatching(/^core\.configuration: the database is PostgreSQL.*pg_dump/),
      ]);
    });

    test("where a file was changed, is missing, or is one too many", () => {
      appendFileSync(object(), "x");
      expect(restored()).toEqual([1, expect.stringMatching(/is not what was copied/), false]);
      rmSync(object());
      expect(restored()).toEqual([1, expect.stringMatching(/is missing/), false]);
    });

    test("where a file is not of it, or its list leads elsewhere", () => {
      writeFileSync(join(folder, "objects/more"), "");
      expect(restored()).toEqual([1, expect.stringMatching(/more is not of the backup/), false]);
      rmSync(join(folder, "objects/more"));
      appendFileSync(join(folder, "SHA256SUMS"), `${"0".repeat(64)}  objects/../../stolen\n`);
      expect(restored()).toEqual([1, expect.stringMatching(/stolen is missing/), false]);
    });

    test("where it is another service's, unfinished, or none", () => {
      const other = newPath();
      cpSync(folder, other, { recursive: true });
      const facts = readFileSync(join(folder, "backup.json"), "utf8");
      writeFileSync(join(other, "backup.json"), facts.replace('"demo"', '"shop"'));
      expect(restored(other)).toEqual([1, expect.stringMatching(/is a backup of shop/), false]);
      rmSync(join(other, "backup.json"));
      expect(restored(other)).toEqual([1, expect.stringMatching(/is no backup/), false]);
      expect(restored(newPath())).toEqual([1, expect.stringMatching(/is no backup/), false]);
    });

    /** What a restore leaves that was killed at its files: its mark, and one file half written. */
    const killed = (to: string): string => {
      mkdirSync(join(to, "service.db.restoring"), { recursive: true });
      writeFileSync(join(to, "service.db.restoring/service.db"), "half");
      const half = join(to, "objects", relative(folder, object()));
      mkdirSync(dirname(half), { recursive: true });
      writeFileSync(half, "half");
      return half;
    };

    test("but what a restore has left that was killed is made whole", () => {
      const to = newPath();
      const half = killed(to);
      expect(restored(folder, to)).toEqual([0, "", true]);
      expect(readdirSync(to).toSorted()).toEqual(["objects", "service.db"]);
      expect(readFileSync(half)).toEqual(readFileSync(object()));
    });

    test("where a restore was killed, and files are there that aren't its own", () => {
      const to = newPath();
      writeFileSync(join(dirname(killed(to)), "acknowledged"), "by a service");
      expect(restored(folder, to)).toEqual([
        1,
        expect.stringMatching(/acknowledged is there/),
        false,
      ]);
      expect(existsSync(join(dirname(killed(to)), "acknowledged"))).toBe(true);
    });

    test("while another restore is at it", async () => {
      const to = newPath();
      mkdirSync(join(to, "service.db.restoring"), { recursive: true });
      const lock = openSqlite(join(to, "service.db.restoring/lock"));
      lock.exec("BEGIN EXCLUSIVE");
      expect(restored(folder, to)).toEqual([1, expect.stringMatching(/by another process/), false]);
      lock.close();
      expect(restored(folder, to)).toEqual([0, "", true]);
    });

    test("by a service that starts meanwhile, and by whatever else opens the database", () => {
      const to = newPath();
      killed(to);
      for (const args of [[], ["migrate"], ["export", newPath()]]) {
        const { code, stderr } = version.run({ DATA_DIR: to, PORT: "0" }, ...args);
        expect([args, code, stderr]).toEqual([
          args,
          1,
          expect.stringMatching(/^core\.conflict: .*service\.db\.restoring is there/),
        ]);
      }
      expect(existsSync(join(to, "service.db"))).toBe(false);
    });

    test("where its files have no place, or their place is not there", () => {
      const to = newPath();
      for (const [url, text] of [
        ["s3://bucket", /has no place: OBJECTS_URL must name a folder/],
        [join(to, "objects"), /OBJECTS_URL must be file:/],
      ] as const) {
        const environment = { DATA_DIR: to, OBJECTS_URL: url };
        const { code, stderr } = version.run(environment, "restore", folder);
        expect([code, stderr]).toEqual([1, expect.stringMatching(text)]);
      }
      expect(existsSync(to)).toBe(false);
      for (const [url, text] of [
        [`file:${newPath()}`, /is not there: is OBJECTS_URL right, its disk mounted\?/],
        [newPath(), /OBJECTS_URL must be file:/],
      ] as const) {
        const environment = { DATA_DIR: data, OBJECTS_URL: url };
        const { code, stderr } = version.run(environment, "backup", newPath());
        expect([code, stderr]).toEqual([1, expect.stringMatching(text)]);
      }
    });

    test("where one is within the other", () => {
      const within = version.run(
        { DATA_DIR: data },
        "backup",
        join(data, "objects/objects/backup"),
      );
      expect([within.code, within.stderr]).toEqual([1, expect.stringMatching(/within each other/)]);
      expect(restored(folder, join(folder, "data"))).toEqual([
        1,
        expect.stringMatching(/may not be in the backup/),
        false,
      ]);
      expect(readdirSync(folder)).not.toContain("data");
    });

    test("where its database is none, though its hash is right", () => {
      for (const [bytes, text] of [
        ["", /service\.db: it is empty/],
        ["no database", /service\.db: file is not a database/],
      ] as const) {
        writeFileSync(join(folder, "service.db"), bytes);
        const sums = readFileSync(join(folder, "SHA256SUMS"), "utf8");
        const hash = createHash("sha256").update(bytes).digest("hex");
        writeFileSync(
          join(folder, "SHA256SUMS"),
          sums.replace(/^[0-9a-f]{64}  service\.db$/m, `${hash}  service.db`),
        );
        expect(restored()).toEqual([1, expect.stringMatching(text), false]);
      }
      const empty = newPath();
      mkdirSync(join(empty, "objects/objects"), { recursive: true });
      writeFileSync(join(empty, "service.db"), "");
      const target = newPath();
      const { code, stderr } = version.run({ DATA_DIR: empty }, "backup", target);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/it is empty|no migrations/)]);
      // What isn't whole doesn't stay.
      expect([existsSync(target), existsSync(`${target}.unfinished`)]).toEqual([false, false]);
    });

    test("where what it says of itself isn't ours", () => {
      for (const facts of [
        "{",
        "null",
        '{"format":1}',
        '{"format":1,"service":"demo","version":"\\u001b[2J","begunAt":"x"}',
      ]) {
        writeFileSync(join(folder, "backup.json"), facts);
        expect(restored()).toEqual([
          1,
          expect.stringMatching(/its backup\.json is not ours/),
          false,
        ]);
      }
      rmSync(join(folder, "backup.json"));
      execFileSync("mkfifo", [join(folder, "backup.json")]);
      expect(restored()).toEqual([1, expect.stringMatching(/its backup\.json is not ours/), false]);
    });

    test("where a link is in it", () => {
      symlinkSync(object(), join(folder, "objects/link"));
      expect(restored()).toEqual([1, expect.stringMatching(/link is neither a file nor/), false]);
    });

    test("with an option for a folder", () => {
      const { code, stderr } = version.run({ DATA_DIR: data }, "backup", "--help");
      expect([code, stderr]).toEqual([2, expect.stringMatching(/backup FOLDER/)]);
    });
  });

  describe("of a service that has stopped", () => {
    let data: string;
    let id: string;
    let key: string;
    beforeEach(async () => {
      data = newPath();
      const { url, process } = await started(data);
      id = await addedNote(url, "one");
      key = await upload(url, "two");
      await stopped(process);
    });
    /** Brings it back elsewhere, and finds everything. */
    const expectAll = async (folder: string, environment: object = {}): Promise<void> => {
      const to = newPath();
      const back = version.run({ DATA_DIR: to, ...environment }, "restore", folder);
      expect([back.code, back.stderr]).toEqual([0, ""]);
      const { url, process } = await started(to, environment);
      expect((await textOf(url, `/notes/${id}`))[0]).toBe(200);
      expect(await textOf(url, `/files/files/${key}`)).toEqual([200, "two"]);
      await stopped(process);
    };

    test("follows links to folders and files, such as to a bigger disk", async () => {
      const [disk, folder] = [newPath(), newPath()];
      renameSync(join(data, "objects/objects"), disk);
      symlinkSync(disk, join(data, "objects/objects"));
      const file = readdirSync(disk, { recursive: true, withFileTypes: true }).find((entry) =>
        entry.isFile(),
      );
      if (file === undefined) throw new Error("there is no object");
      const path = join(file.parentPath, file.name);
      renameSync(path, `${disk}.file`);
      symlinkSync(`${disk}.file`, path);
      const { code, stdout } = version.run({ DATA_DIR: data }, "backup", folder);
      expect([code, stdout]).toEqual([0, expect.stringMatching(/ and 1 files,/)]);
      await expectAll(folder);
      // And they stay links where it is brought back to.
      const other = newPath();
      mkdirSync(other);
      const [to] = [newPath()];
      mkdirSync(join(to, "objects"), { recursive: true });
      symlinkSync(other, join(to, "objects/objects"));
      expect(version.run({ DATA_DIR: to }, "restore", folder).code).toBe(0);
      expect(lstatSync(join(to, "objects/objects")).isSymbolicLink()).toBe(true);
      expect(readdirSync(other).length).toBeGreaterThan(0);
    });

    test("refuses a link that leads in a circle", () => {
      symlinkSync(join(data, "objects"), join(data, "objects/objects/circle"));
      const { code, stderr } = version.run({ DATA_DIR: data }, "backup", newPath());
      expect([code, stderr]).toEqual([1, expect.stringMatching(/is a link in a circle/)]);
    });

    test("makes no secrets, nor does bringing it back", async () => {
      const [folder, to] = [newPath(), newPath()];
      const keys = readdirSync(data).filter((name) => name.endsWith(".key"));
      expect(keys.length).toBeGreaterThan(0);
      for (const name of keys) rmSync(join(data, name));
      expect(version.run({ DATA_DIR: data }, "backup", folder).code).toBe(0);
      expect(version.run({ DATA_DIR: to }, "restore", folder).code).toBe(0);
      expect(readdirSync(data).filter((name) => name.endsWith(".key"))).toEqual([]);
      expect(readdirSync(to).toSorted()).toEqual(["objects", "service.db"]);
      await expectAll(folder);
    });

    test("of another version says so", () => {
      const folder = newPath();
      expect(version.run({ DATA_DIR: data }, "backup", folder).code).toBe(0);
      const path = join(folder, "backup.json");
      writeFileSync(path, readFileSync(path, "utf8").replace("1.2.3", "1.3.0"));
      const { code, stdout } = version.run({ DATA_DIR: newPath() }, "restore", folder);
      expect([code, stdout]).toEqual([
        0,
        expect.stringContaining("(of version 1.3.0; this is 1.2.3)"),
      ]);
    });

    test("into the folder in which one stands", async () => {
      const folder = newPath();
      mkdirSync(folder);
      const made = version.runIn(folder, { DATA_DIR: data }, "backup", ".");
      expect([made.code, made.stderr]).toEqual([0, ""]);
      await expectAll(folder);
    });

    test("through a link to an empty folder", async () => {
      const [folder, link] = [newPath(), newPath()];
      mkdirSync(folder);
      symlinkSync(folder, link);
      expect(version.run({ DATA_DIR: data }, "backup", link).code).toBe(0);
      expect(readdirSync(folder)).toContain("service.db");
      await expectAll(link);
    });
  });

  test("a service doesn't start with a secret that was cut off", () => {
    const data = newPath();
    mkdirSync(data);
    writeFileSync(join(data, "secrets_signing.key"), "");
    const { code, stderr } = version.run({ DATA_DIR: data, PORT: "0" });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/secrets_signing\.key must be/)]);
  });
});
