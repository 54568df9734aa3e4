// The fault matrix, S3 that refuses, is silent, half-open, slow, or has no bucket (attack 84).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startProcess } from "../support/process.js";
import { objectEngines, type FreshObjects } from "../support/object-engines.js";
import { startObjectLoad, type ObjectLoad } from "./object-load.js";
import { startProxy, type Proxy } from "./proxy.js";
import { startSubject, type Subject } from "./subject.js";
import { survive } from "./survive.js";
import { startTaskLoad, type TaskLoad } from "./task-load.js";

const s3 = objectEngines.find(({ name }) => name === "s3");

describe.skipIf(s3?.isAvailable !== true)("S3 behind a network that fails", () => {
  let objects: FreshObjects;
  let proxy: Proxy;
  let subject: Subject;
  let files: ObjectLoad;
  let tasks: TaskLoad;
  beforeAll(async () => {
    if (s3 === undefined) throw new Error("there is no S3");
    objects = await s3.create();
    const endpoint = new URL(new URL(objects.url).searchParams.get("endpoint") ?? "");
    proxy = await startProxy(endpoint.hostname, Number(endpoint.port));
    const behind = new URL(objects.url);
    behind.searchParams.set("endpoint", proxy.url(endpoint.href));
    subject = await startSubject(
      { OBJECTS_URL: behind.href, ...objects.environment },
      { OBJECTS_URL: objects.url },
    );
    files = startObjectLoad(subject.client);
    tasks = startTaskLoad(subject.client);
  });
  afterAll(async () => {
    await files.stop();
    await tasks.stop();
    await subject.dispose();
    await proxy.close();
    await objects.drop();
  });

  const pass = (): Promise<void> => proxy.become({ kind: "pass" });

  test("connections that are reset", () => survive(subject, files, { begin: () => proxy.cut() }));

  test.each([
    ["S3 that refuses", { kind: "refuse" }],
    ["S3 that is silent", { kind: "silent" }],
    ["S3 whose answers are lost", { kind: "half-open", dead: "down" }],
  ] as const)("%s", (_what, mode) =>
    survive(subject, files, {
      missing: ["objects"],
      begin: async () => {
        await proxy.become(mode);
        if (mode.kind === "refuse") proxy.cut();
      },
      end: pass,
    }),
  );

  test("S3 that answers a few bytes a second", () =>
    survive(subject, files, {
      begin: () => proxy.become({ kind: "pass", bytesPerSecond: 500 }),
      end: pass,
    }));

  test("operations without objects notice nothing", () => {
    expect(tasks.outcomes.filter(({ status }) => ![200, 201].includes(status))).toEqual([]);
  });

  test("every acknowledged upload is there", async () => {
    await files.stop();
    await files.expectAllUploads(subject.client);
  });

  test("a process starts without its bucket, says that it is not ready, and says what is missing", async () => {
    const url = new URL(subject.environment["OBJECTS_URL"] ?? "");
    url.hostname = "opwright-no-such-bucket";
    const process = await startProcess({ ...subject.environment, OBJECTS_URL: url.href });
    try {
      const ready = await fetch(`${process.url}/readyz`);
      expect([ready.status, await ready.json()]).toEqual([
        503,
        { status: "not ready", missing: ["objects"] },
      ]);
    } finally {
      process.child.kill("SIGKILL");
    }
  });

  test("a stop while S3 is silent comes to its end", async () => {
    await tasks.stop();
    await proxy.become({ kind: "silent" });
    const uploads = [1, 2, 3].map(() =>
      subject.client.call("POST", "/files/list", { body: {}, patienceMillis: 15_000 }),
    );
    expect(await subject.stop()).toBeLessThan(9_000);
    await Promise.all(uploads);
  });
});
