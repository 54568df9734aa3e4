// The fault matrix, disks: full, and with errors, below the embedded database and below a folder of objects (attack 84).
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answerEio, newDisk, type Disk } from "./disk.js";
import { refuseFileWrites } from "./limits.js";
import { startObjectLoad, type ObjectLoad } from "./object-load.js";
import { startSubject, type Subject } from "./subject.js";
import { survive } from "./survive.js";
import { startTaskLoad, type TaskLoad } from "./task-load.js";

test("readiness sees a full disk below the database without anybody else writing", async () => {
  const disk = newDisk();
  const subject = await startSubject({ DATABASE_URL: `sqlite:${join(disk.folder, "service.db")}` });
  try {
    await subject.expectMissing();
    const free = disk.fill(subject.process.child);
    await subject.expectMissing("database");
    free();
    await subject.expectMissing();
  } finally {
    await subject.dispose();
    disk.remove();
  }
});

describe("disks that fail", () => {
  let databaseDisk: Disk;
  let objectDisk: Disk;
  let databaseFile: string;
  let subject: Subject;
  let tasks: TaskLoad;
  let files: ObjectLoad;
  beforeAll(async () => {
    databaseDisk = newDisk();
    objectDisk = newDisk();
    databaseFile = join(databaseDisk.folder, "service.db");
    subject = await startSubject({
      DATABASE_URL: `sqlite:${databaseFile}`,
      OBJECTS_URL: `file:${join(objectDisk.folder, "objects")}`,
    });
    tasks = startTaskLoad(subject.client);
    files = startObjectLoad(subject.client);
  });
  afterAll(async () => {
    await tasks.stop();
    await files.stop();
    await subject.dispose();
    databaseDisk.remove();
    objectDisk.remove();
  });

  test("a full disk below the database", async () => {
    let free = (): void => undefined;
    await survive(subject, tasks, {
      missing: ["database"],
      begin: () => {
        free = databaseDisk.fill(subject.process.child);
      },
      end: () => free(),
    });
  });

  test("a full disk below the objects", async () => {
    let free = (): void => undefined;
    await survive(subject, files, {
      missing: objectDisk.isReal ? ["objects"] : ["database", "objects"],
      begin: () => {
        free = objectDisk.fill(subject.process.child);
      },
      end: () => free(),
    });
  });

  test("a disk that refuses every write to a file", async () => {
    let lift = (): void => undefined;
    await survive(subject, files, {
      missing: ["database", "objects"],
      begin: () => {
        lift = refuseFileWrites(subject.process.child);
      },
      end: () => lift(),
    });
  });

  test.each([
    ["writes", ["pwrite64", "fdatasync", "fsync", "ftruncate"], ["database"]],
    // What SQLite has read already it need not read again: the probe may be right either way.
    ["reads", ["pread64"], undefined],
  ] as const)("%s of the database that answer EIO", async (_what, calls, missing) => {
    let end = async (): Promise<void> => undefined;
    const paths = [databaseFile, `${databaseFile}-wal`];
    await survive(subject, tasks, {
      ...(missing === undefined ? {} : { missing }),
      begin: async () => {
        end = await answerEio(subject.process.child, calls, paths);
      },
      end: () => end(),
    });
  });

  test("every acknowledged write and upload is there", async () => {
    await tasks.stop();
    await files.stop();
    await tasks.expectAllWrites(subject.client);
    await files.expectAllUploads(subject.client);
    expect(await subject.stop()).toBeLessThan(8_000);
  });

  test("a start on the same disk finds everything as well", async () => {
    subject.process.child.kill("SIGKILL");
    subject = await subject.restarted();
    await subject.expectMissing();
    await tasks.expectAllWrites(subject.client);
    await files.expectAllUploads(subject.client);
  });
});
