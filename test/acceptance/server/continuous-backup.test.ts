// A database that is kept while it is written to: after its machine is gone, what was committed until half a second before is
// there again, on another one; as it is, or as it was at a time. In a folder, and in a bucket of S3.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { freePort } from "../../support/free-port.js";
import { keptFiles } from "../../support/kept-files.js";
import {
  addedNote,
  endVersion,
  keptNotes,
  keptUntil,
  startVersion,
  type StartedVersion,
} from "../../support/kept-notes.js";
import { objectEngines, type FreshObjects } from "../../support/object-engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { isOfBackup, printedMetrics, toldMetrics } from "../../support/told-metrics.js";
import { versionOf, type Version } from "../../support/version-process.js";

let project: TestProject;
let version: Version;
const root = mkdtempSync(join(tmpdir(), "opwright-continuous-"));
beforeAll(async () => {
  project = await testProject(keptNotes);
  version = await versionOf(project);
}, 120_000);
afterAll(() => {
  project.remove();
  rmSync(root, { recursive: true, force: true });
});

let places = 0;
const newPath = (): string => join(root, `${(places += 1)}`);

const started = (environment: Readonly<Record<string, string>>): Promise<StartedVersion> =>
  startVersion(version, environment);

async function statusOf(url: string, id: string): Promise<number> {
  const answer = await fetch(`${url}/notes/${id}`);
  await answer.body?.cancel();
  return answer.status;
}

/** Resolves once the backup has what was committed until now. */
async function kept(url: string): Promise<number> {
  const now = Date.now() / 1_000;
  for (;;) {
    const until = await keptUntil(url);
    if (until > now) return until;
    await sleep(20);
  }
}

/** A database of a machine, and its place in a backup. */
interface Place {
  readonly data: string;
  readonly environment: Readonly<Record<string, string>>;
}

describe.each(objectEngines.filter(({ isAvailable }) => isAvailable))("in $name", (engine) => {
  let objects: FreshObjects;
  beforeEach(async () => {
    objects = await engine.create();
  });
  afterEach(() => objects.drop());

  const newPlace = (): Place => {
    const data = newPath();
    const { OBJECTS_ACCESS_KEY = "", OBJECTS_SECRET_KEY = "" } = objects.environment;
    return {
      data,
      environment: {
        DATA_DIR: data,
        BACKUP_URL: objects.url,
        BACKUP_ACCESS_KEY: OBJECTS_ACCESS_KEY,
        BACKUP_SECRET_KEY: OBJECTS_SECRET_KEY,
      },
    };
  };

  test("what was committed comes back once the machine is gone", { timeout: 60_000 }, async () => {
    const { data, environment } = newPlace();
    const first = await started(environment);
    const ids = [await addedNote(first.url, "one"), await addedNote(first.url, "two")];
    await kept(first.url);
    await endVersion(first.process, "SIGKILL");
    rmSync(data, { recursive: true });
    const { code, stdout } = version.run(environment, "restore");
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^the database \(\d+ bytes\), with all that was committed before 20/),
    ]);
    const second = await started(environment);
    for (const id of ids) expect(await statusOf(second.url, id)).toBe(200);
    // It goes on with the same backup, which has what was committed last, since it was stopped.
    ids.push(await addedNote(second.url, "three"));
    await endVersion(second.process, "SIGTERM");
    rmSync(data, { recursive: true });
    expect(version.run(environment, "restore").code).toBe(0);
    const third = await started(environment);
    for (const id of ids) expect(await statusOf(third.url, id)).toBe(200);
    await endVersion(third.process, "SIGTERM");
  });

  test("the database comes back as it was at a time, and goes on from there", async () => {
    const { data, environment } = newPlace();
    const first = await started(environment);
    const early = await addedNote(first.url, "early");
    const time = new Date(Math.round((await kept(first.url)) * 1_000)).toISOString();
    await sleep(1_000);
    const late = await addedNote(first.url, "late");
    await kept(first.url);
    await endVersion(first.process, "SIGKILL");
    rmSync(data, { recursive: true });
    expect(version.run(environment, "restore", "--at", time).code).toBe(0);
    const second = await started(environment);
    expect(await statusOf(second.url, early)).toBe(200);
    expect(await statusOf(second.url, late)).toBe(404);
    await kept(second.url);
    await endVersion(second.process, "SIGKILL");
    // What it has gone on with is the newest now, though something else was there later.
    rmSync(data, { recursive: true });
    expect(version.run(environment, "restore").code).toBe(0);
    const third = await started(environment);
    expect(await statusOf(third.url, early)).toBe(200);
    expect(await statusOf(third.url, late)).toBe(404);
    await endVersion(third.process, "SIGTERM");
    // And what was abandoned can still be had.
    rmSync(data, { recursive: true });
    const before = new Date(Date.parse(time) - 3_600_000).toISOString();
    expect(version.run(environment, "restore", "--at", before)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`the backup has no state of ${before} or before`),
    });
  });

  test("the doctor says what it has, and changes nothing", async () => {
    const { data, environment } = newPlace();
    expect(version.run(environment, "migrate").code).toBe(0);
    expect(version.run(environment, "doctor").stdout).toMatch(
      /^notice  backup {8}BACKUP_URL has nothing yet/m,
    );
    const { url, process } = await started(environment);
    await addedNote(url, "one");
    await kept(url);
    expect(version.run(environment, "doctor").stdout).toMatch(
      /^ok {6}backup {8}has what was committed before 20\S+Z; it is made again from \d+ deltas/m,
    );
    await endVersion(process, "SIGTERM");
    rmSync(join(data, "service.db-backup"));
    expect(version.run(environment, "doctor")).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^wrong {3}backup .* a backup that isn't this database's/m),
    });
  });
});

const inFolder = (): Place => {
  const data = newPath();
  return { data, environment: { DATA_DIR: data, BACKUP_URL: `file:${newPath()}` } };
};

test("of several processes one keeps the database, and another goes on", async () => {
  const { data, environment } = inFolder();
  const first = await started(environment);
  const second = await started(environment);
  const ids = [await addedNote(first.url, "one"), await addedNote(second.url, "two")];
  await kept(first.url);
  expect(await keptUntil(second.url)).toBe(0);
  const printed = printedMetrics(await (await fetch(`${first.url}/metrics`)).text());
  expect(printed.filter(isOfBackup)).toEqual(toldMetrics.filter(isOfBackup));
  await endVersion(first.process, "SIGKILL");
  ids.push(await addedNote(second.url, "three"));
  await kept(second.url);
  await endVersion(second.process, "SIGKILL");
  rmSync(data, { recursive: true });
  expect(version.run(environment, "restore").code).toBe(0);
  const third = await started(environment);
  for (const id of ids) expect(await statusOf(third.url, id)).toBe(200);
  await endVersion(third.process, "SIGTERM");
});

test("a service goes on while its backup is away, and keeps the rest once it is back", async () => {
  const { data, environment } = inFolder();
  const { url, process } = await started(environment);
  const ids = [await addedNote(url, "one")];
  await kept(url);
  const place = environment["BACKUP_URL"]?.slice("file:".length) ?? "";
  renameSync(place, `${place}.away`);
  writeFileSync(place, "no folder");
  ids.push(await addedNote(url, "two"));
  await process.says(/the backup doesn't take what is committed/);
  ids.push(await addedNote(url, "three"));
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(Number(/^opwright_backup_faults_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0);
  expect(Number(/^opwright_backup_behind_seconds (\S+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0);
  rmSync(place);
  renameSync(`${place}.away`, place);
  await kept(url);
  expect(process.output().match(/doesn't take/g)).toHaveLength(1);
  await endVersion(process, "SIGKILL");
  rmSync(data, { recursive: true });
  expect(version.run(environment, "restore").code).toBe(0);
  const again = await started(environment);
  for (const id of ids) expect(await statusOf(again.url, id)).toBe(200);
  await endVersion(again.process, "SIGTERM");
});

test("a backup that was emptied is written again, and the log says so", async () => {
  const { data, environment } = inFolder();
  const first = await started(environment);
  const id = await addedNote(first.url, "one");
  await endVersion(first.process, "SIGTERM");
  const place = environment["BACKUP_URL"]?.slice("file:".length) ?? "";
  for (const name of readdirSync(join(place, "objects")))
    rmSync(join(place, "objects", name), { recursive: true });
  const second = await started(environment);
  await second.process.says(/the backup lacks what it had: all of it is written again/);
  await kept(second.url);
  await endVersion(second.process, "SIGKILL");
  rmSync(data, { recursive: true });
  expect(version.run(environment, "restore").code).toBe(0);
  const third = await started(environment);
  expect(await statusOf(third.url, id)).toBe(200);
  await endVersion(third.process, "SIGTERM");
});

describe("what would lose something is refused", () => {
  let place: Place;
  let id: string;
  beforeAll(async () => {
    place = inFolder();
    const { url, process } = await started(place.environment);
    id = await addedNote(url, "one");
    await endVersion(process, "SIGTERM");
  }, 60_000);

  test("a new database where the backup is another's", () => {
    const data = newPath();
    const { code, stderr } = version.run({ ...place.environment, DATA_DIR: data });
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /BACKUP_URL has a backup that isn't this database's.*server.js restore/,
      ),
    ]);
    // It isn't made either, so that it can be brought back; nor does a command make it.
    for (const command of [["migrate"], ["export", newPath()]])
      expect(version.run({ ...place.environment, DATA_DIR: data }, ...command).stderr).toMatch(
        /BACKUP_URL has a backup that isn't this database's/,
      );
    expect(existsSync(join(data, "service.db"))).toBe(false);
  });

  test("a place that has nothing, though it had this database's backup", () => {
    const { BACKUP_URL = "" } = place.environment;
    const path = BACKUP_URL.slice("file:".length);
    // As where a disk isn't mounted.
    renameSync(path, `${path}.away`);
    mkdirSync(path);
    expect(version.run(place.environment).stderr).toMatch(
      /BACKUP_URL has nothing, though it had this database's backup: is it right, its disk mounted/,
    );
    expect(version.run(place.environment, "doctor").stdout).toMatch(/^notice {2}backup/m);
    expect(readdirSync(path)).toEqual([]);
    rmSync(path, { recursive: true });
    renameSync(`${path}.away`, path);
  });

  test("a database that is gone while its backup is known", () => {
    const data = newPath();
    mkdirSync(data);
    const from = place.environment["DATA_DIR"] ?? "";
    cpSync(join(from, "service.db-backup"), join(data, "service.db-backup"));
    const environment = { ...place.environment, DATA_DIR: data };
    for (const command of [[], ["migrate"]])
      expect(version.run(environment, ...command).stderr).toMatch(
        /service\.db is gone, and .*service\.db-backup is there: bring it back/,
      );
    expect(version.run(environment, "restore").code).toBe(0);
  });

  test("a first backup at a place that doesn't answer", async () => {
    const BACKUP_URL = `s3://none?endpoint=http://127.0.0.1:${await freePort()}`;
    const keys = { BACKUP_ACCESS_KEY: "a", BACKUP_SECRET_KEY: "b" };
    const data = newPath();
    const { code, stderr } = version.run({ DATA_DIR: data, BACKUP_URL, ...keys });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/BACKUP_URL: ECONNREFUSED/)]);
    expect(existsSync(join(data, "service.db"))).toBe(false);
    // One that has been kept before is served: it may be kept later.
    const { url, process } = await started({ ...place.environment, BACKUP_URL, ...keys });
    await process.says(/doesn't take what is committed, and is tried again: ECONNREFUSED/);
    expect(await statusOf(url, id)).toBe(200);
    await endVersion(process, "SIGTERM");
    expect(process.output()).toMatch(/the backup lacks what was committed last/);
  });

  test("a place in DATA_DIR, and a turn that can't be told", async () => {
    const data = newPath();
    const inside = version.run({ DATA_DIR: data, BACKUP_URL: `file:${data}/backup` });
    expect(inside.stderr).toMatch(/BACKUP_URL must not be in DATA_DIR: it would be lost with that/);
    const { data: other, environment } = inFolder();
    mkdirSync(other, { mode: 0o700 });
    writeFileSync(join(other, "service.db-backup-turn"), "no database at all ".repeat(100));
    const { url, process } = await started(environment);
    await process.says(
      /doesn't take what is committed, and is tried again: file is not a database/,
    );
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(Number(/^opwright_backup_behind_seconds (\S+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0);
    await endVersion(process, "SIGTERM");
  });

  test("a restore where there is a database", () => {
    const { code, stderr } = version.run(place.environment, "restore");
    expect([code, stderr]).toEqual([1, expect.stringMatching(/service\.db is there: stop/)]);
  });

  test("a restore without a backup", () => {
    const environment = { DATA_DIR: newPath(), BACKUP_URL: `file:${newPath()}` };
    expect(version.run(environment, "restore").stderr).toMatch(/BACKUP_URL has no backup of this/);
    expect(version.run({ DATA_DIR: newPath() }, "restore").stderr).toMatch(
      /BACKUP_URL must be set/,
    );
    expect(version.run(environment, "restore", "--at", "yesterday").code).toBe(2);
    expect(version.run(environment, "restore", "--at").code).toBe(2);
  });

  test.each(["cut off", "changed"])("a part that was %s", (how) => {
    const [data, backup] = [newPath(), newPath()];
    const { BACKUP_URL = "" } = place.environment;
    cpSync(BACKUP_URL.slice("file:".length), backup, { recursive: true });
    const [part = ""] = readdirSync(backup, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith("1of1.o"),
    );
    const path = join(backup, part);
    const bytes = readFileSync(path);
    bytes[bytes.length >> 2] = (bytes[bytes.length >> 2] ?? 0) ^ (how === "changed" ? 1 : 0);
    writeFileSync(path, how === "changed" ? bytes : bytes.subarray(0, bytes.length >> 1));
    const environment = { DATA_DIR: data, BACKUP_URL: `file:${backup}` };
    expect(version.run(environment, "restore").stderr).toMatch(/is damaged: |can't be read: /);
    // Nothing opens what isn't whole.
    expect(version.run({ DATA_DIR: data }).stderr).toMatch(/a restore is under way, or ended/);
    expect(id).not.toBe("");
  });

  test("files in a folder, and PostgreSQL", async () => {
    const { stderr } = version.run({
      DATA_DIR: newPath(),
      BACKUP_URL: `file:${newPath()}`,
      DATABASE_URL: "postgres://localhost/none",
    });
    expect(stderr).toMatch(/BACKUP_URL is for SQLite: PostgreSQL archives its log itself/);
    const withFiles = await testProject(keptFiles);
    try {
      const other = await versionOf(withFiles);
      expect(other.run({ DATA_DIR: newPath(), BACKUP_URL: `file:${newPath()}` }).stderr).toMatch(
        /BACKUP_URL keeps the database alone, not the files in .*: OBJECTS_URL must name a bucket/,
      );
    } finally {
      withFiles.remove();
    }
  });
});
