// Rows of an older shape are stored anew, but not while a process of the older version lives: processes announce themselves.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { documentsFamily } from "../../../runtime/families/documents/index.js";
import { renewalStep, type Step } from "../../../runtime/families/documents/renewal.js";
import type { ServiceAtWork } from "../../../runtime/operations/family.js";
import type { PeriodicJob } from "../../../runtime/work/periodic.js";
import { silentLog, type Log } from "../../../runtime/ports/log.js";
import { openDatabase } from "../../../runtime/server/engines.js";
import { Lifetime } from "../../../runtime/ports/lifetime.js";
import type { AnyDocumentSpec } from "../../../runtime/ports/document-spec.js";
import { documentStore } from "../../../runtime/ports/documents.js";
import type { ServiceDefinition } from "../../../runtime/server/service.js";
import { engines, sharedDatabase } from "../../support/engines.js";
import { fill } from "../../support/many-rows.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";
import { versionOf, type Version } from "../../support/version-process.js";

const registry = (members: string, defaults: string): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies:
  open: []
documents:
  notes: {guard: open, type: {text: string, ${members}}, defaults: {${defaults}}}
`,
});

let projects: readonly [TestProject, TestProject];
let next: Version;
beforeAll(async () => {
  const first = await testProject(registry("old: string", "old: x"));
  projects = [first, await testProject(registry("size: integer", "size: 7"), first)];
  next = await versionOf(projects[1]);
});
afterAll(() => projects.forEach((version) => version.remove()));

async function notesOf(project: TestProject): Promise<AnyDocumentSpec> {
  const { service } = (await project.load("generated/service.ts")) as {
    readonly service: ServiceDefinition;
  };
  const [spec] = service.documents ?? [];
  if (spec === undefined) throw new Error("there is no document");
  return spec;
}

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    /** Both versions on one database, the second one started later. */
    const withDatabase = async (
      work: (given: {
        readonly url: string;
        readonly first: TestService;
        readonly startSecond: () => Promise<TestService>;
      }) => Promise<void>,
    ): Promise<void> => {
      const { url, same, drop } = await sharedDatabase(engine);
      const started: TestService[] = [];
      const start = async (project: TestProject): Promise<TestService> => {
        const service = await project.start(same);
        started.push(service);
        return service;
      };
      try {
        const first = await start(projects[0]);
        // The services' own jobs leave the rows to the tests.
        await first.running.connection.write("test.alone", ({ transaction: { leases } }) =>
          leases.take("documents.notes.renewal", "the test", Date.now(), Date.now() + 600_000),
        );
        await work({ url, first, startSecond: () => start(projects[1]) });
      } finally {
        for (const service of started) await service.stop();
        await drop();
      }
    };
    const step = async ({ running }: TestService, limit = 100): Promise<Step> => {
      const spec = await notesOf(projects[1]);
      return running.connection.write("test.step", ({ transaction }) =>
        renewalStep(transaction, spec, limit),
      );
    };

    test("a row is stored anew once no process of an older version is left", () =>
      withDatabase(async ({ first, startSecond }) => {
        const { body } = await first.post("/notes", { text: "a", old: "kept" });
        const second = await startSecond();
        await expect
          .poll(() => step(second))
          .toMatchObject({
            kind: "waiting",
            processes: [{ pid: process.pid, shapes: { notes: 1 } }],
          });
        const metrics = (await second.call("GET", "/metrics")).body as string;
        expect(metrics).toMatch(/^opwright_older_processes 1$/m);
        expect(metrics).toMatch(/^opwright_rows_to_renew 1$/m);
        expect((await first.call("GET", `/notes/${body.id}`)).body.old).toBe("kept");

        await first.stop();
        const { kind, progress } = { progress: null, ...(await step(second)) };
        expect(kind).toBe("done");
        expect(progress).toMatchObject({ looked: 1, renewed: 1, left: 0, total: 1 });
        expect((await step(second)).kind).toBe("done");
        const spec = await notesOf(projects[1]);
        const again = await second.running.connection.write("test.renew", ({ transaction }) =>
          transaction.of(documentStore).renew(spec, [], 10, (work) => transaction.attempt(work)),
        );
        expect(again).toEqual({ looked: 1, renewed: 0, left: 0, clashing: [], next: null });
        const { size, rev } = (await second.call("GET", `/notes/${body.id}`)).body;
        expect([size, rev]).toEqual([7, 1]);
        const after = (await second.call("GET", "/metrics")).body as string;
        expect(after).toMatch(/^opwright_older_processes 0$/m);
        expect(after).toMatch(/^opwright_rows_to_renew 0$/m);
      }));

    test("a walk begins anew behind an older process that came back", () =>
      withDatabase(async ({ first, startSecond }) => {
        for (const text of ["a", "b", "c"]) await first.post("/notes", { text });
        const second = await startSecond();
        await first.stop();
        expect(await step(second, 2)).toMatchObject({ kind: "more", progress: { looked: 2 } });
        await second.running.connection.write("test.back", async ({ transaction: { leases } }) => {
          const now = Date.now();
          await leases.take("process.back", "back", now, now + 60_000);
          const state = { host: "h", pid: 1, shapes: { notes: 1 } };
          await leases.note("process.back", "back", JSON.stringify(state));
        });
        expect((await step(second, 2)).kind).toBe("waiting");
        await second.running.connection.write("test.gone", ({ transaction: { leases } }) =>
          leases.drop("process.back", "back"),
        );
        expect(await step(second, 2)).toMatchObject({ kind: "more", progress: { looked: 2 } });
        expect((await step(second, 2)).kind).toBe("done");
      }));

    test("a row that somebody writes just now is left to them, and looked at again", () =>
      withDatabase(async ({ first, startSecond }) => {
        const { body } = await first.post("/notes", { text: "a" });
        const second = await startSecond();
        await first.stop();
        const spec = await notesOf(projects[1]);
        const { write } = second.running.connection;
        const tenant = "default";
        const seen: Step[] = [];
        await write("test.holds", async ({ transaction }) => {
          const store = transaction.of(documentStore);
          const stored = await store.get(spec, tenant, body.id);
          if (stored === null) throw new Error("it is gone");
          await store.replace(spec, tenant, 1, { ...stored, rev: 2 });
          // One transaction at a time writes on SQLite.
          if (engine.name === "postgres") seen.push(await step(second));
        });
        const isHeld = engine.name === "postgres";
        expect(seen.map(({ kind }) => kind)).toEqual(isHeld ? ["more"] : []);
        expect((await step(second)).kind).toBe("done");
        expect((await second.call("GET", `/notes/${body.id}`)).body).toMatchObject({
          rev: 2,
          size: 7,
        });
      }));

    test("the job of the service says in the log how far it is", () =>
      withDatabase(async ({ first, startSecond }) => {
        for (let at = 0; at < 150; at += 1) await first.post("/notes", { text: `n${at}` });
        const second = await startSecond();
        await first.stop();
        const told: unknown[] = [];
        const log: Log = { ...silentLog, info: (...line: readonly unknown[]) => told.push(line) };
        const [job] = documentsFamily.jobs(
          [await notesOf(projects[1])],
          // These jobs need nothing else.
          { log } as ServiceAtWork,
        ) as readonly PeriodicJob[];
        if (job === undefined) throw new Error("there is no job");
        const batch = (): Promise<boolean> =>
          second.running.connection.write("test.job", ({ transaction }) => job.batch(transaction));
        expect([await batch(), await batch(), await batch()]).toEqual([true, false, false]);
        expect(told).toEqual([
          [{ looked: 100, renewed: 100, total: 150 }, "rows of notes are being brought up"],
          [{ looked: 150, renewed: 150, total: 150 }, "rows of notes have been brought up"],
        ]);
      }));

    test("`migrate` brings rows up, can be stopped, and goes on where it was", () =>
      withDatabase(async ({ url, first }) => {
        const environment = { DATABASE_URL: url, LOG_LEVEL: "info" };
        // Behind its announcement: two connections of one process do not wait for each other.
        await first.post("/notes", { text: "a" });
        await fill(engine, url, {
          table: "notes",
          count: 29_999,
          body: `'{"text":"a","old":"x"}'`,
          tenant: "default",
        });
        const waits = next.run(environment, "migrate");
        expect(waits.code).toBe(0);
        expect(waits.stderr).toMatch(
          /^notes: rows are brought up once 1 process of an older version has ended \(.+ pid \d+\)$/m,
        );
        const waiting = next.spawn(environment, "migrate", "--wait");
        await waiting.says(/notes: waiting for 1 process of an older version/);
        await first.stop();
        await waiting.says(/notes …/);
        waiting.child.kill("SIGTERM");
        expect(await waiting.exited).toBe(143);
        expect(waiting.output()).toMatch(/stopped; run it again to go on$/m);

        const goesOn = next.run(environment, "migrate");
        expect([goesOn.code, goesOn.stderr]).toEqual([
          0,
          expect.stringMatching(/^notes …\nnotes: 30000\n$/),
        ]);
        const nothing = next.run(environment, "migrate");
        expect([nothing.code, nothing.stderr]).toEqual([0, ""]);
      }));

    test("others write while `migrate` brings many rows up, and none of them waits a second", () =>
      withDatabase(async ({ url, first }) => {
        await first.post("/notes", { text: "a" });
        await first.stop();
        await fill(engine, url, {
          table: "notes",
          count: 50_000,
          body: `'{"text":"a","old":"x"}'`,
          tenant: "default",
        });
        const caller = await openDatabase(url);
        try {
          const migrating = next.spawn({ DATABASE_URL: url, LOG_LEVEL: "error" }, "migrate");
          const over = new AbortController();
          void migrating.exited.then(() => over.abort());
          await migrating.says(/notes …/);
          let written = 0;
          for (; !over.signal.aborted; written += 1) {
            await caller.write({ lifetime: Lifetime.within(1_000) }, ({ leases }) =>
              leases.take("written", "caller", 0, written),
            );
            // Between two requests of a caller others get their turn.
            await sleep(5);
          }
          expect(await migrating.exited).toBe(0);
          expect(written).toBeGreaterThan(0);
        } finally {
          await caller.close();
        }
      }));
  });
}
