// The testing kit as an author uses it: generated/testing.ts, its clients, its clock, and what the service has said.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collection, defineService, nothing, route } from "opwright/runtime";
import { prepareTestService } from "opwright/testing";
import { describe, expect, test, vi } from "vitest";
import { apiKeys, authn, createClient, notes, tasks } from "../../../generated/client/index.js";
import { service } from "../../../generated/service.js";
import { notesSpec } from "../../../generated/documents/notes.js";
import { testService } from "../../../generated/testing.js";
import { engines } from "../../support/engines.js";

const writes = { permissions: ["tasks.read", "tasks.write", "projects.read", "projects.write"] };
const takesNotes = { permissions: ["notes.read", "notes.write"] };
const project = "019aa000-0000-7000-8000-000000000001";
const newYear = "2026-01-01T00:00:00Z";
const server = process.env["OPWRIGHT_TEST_POSTGRES"];

const endless = route({
  operationId: "endless.get",
  method: "GET",
  path: "/endless",
  status: 200,
  input: nothing,
  hooks: [],
  transaction: "read",
  run: () => new Promise<never>(() => undefined),
});

for (const { name, isAvailable } of engines) {
  const database = name === "postgres" && server !== undefined ? { database: server } : {};

  describe.skipIf(!isAvailable)(`a service under test on ${name}`, () => {
    test("signs anybody in by name, with a typed client, a tenant and permissions", async () => {
      await using app = await testService(database);
      const [bob, eve] = await Promise.all([
        app.as("bob", takesNotes),
        app.as("eve", { ...takesNotes, tenant: "elsewhere" }),
      ]);
      const note = await notes.create(bob, { text: "mine" });
      expect(await notes.get(bob, { id: note.id })).toMatchObject({ text: "mine", pinned: false });
      const foreign = await notes.get(eve, { id: note.id }).settled();
      expect(foreign).toMatchObject({ ok: false, error: { code: "core.not_found" } });
      expect(await authn.me(bob)).toMatchObject({
        principal_id: bob.principalId,
        tenant_id: bob.tenantId,
      });
      expect(eve.tenantId).not.toBe(bob.tenantId);
    });

    test("knows who is named again, in a session of its own, and adds permissions up", async () => {
      await using app = await testService(database);
      const without = await app.as("bob");
      const refused = await tasks.create(without, { title: "t", project }).settled();
      expect(refused).toMatchObject({ ok: false, error: { code: "core.authorization" } });
      const bob = await app.as("bob", writes);
      expect(bob.principalId).toBe(without.principalId);
      expect(await tasks.create(without, { title: "t", project })).toMatchObject({ title: "t" });
      expect((await authn.listSessions(bob)).sessions).toHaveLength(2);
    });

    test("has clients for whoever signs in by other means", async () => {
      await using app = await testService(database);
      const bob = await app.as("bob", { ...takesNotes, password: "correct horse battery staple" });
      const { api_key: key } = await apiKeys.issue(bob, {});
      const byKey = app.client({ headers: { "X-API-Key": key } });
      expect(await notes.create(byKey, { text: "by key" })).toMatchObject({ text: "by key" });
      const login = { login: "bob@example.test", password: "correct horse battery staple" };
      expect(await authn.passwordLogin(app.client(), login)).toMatchObject({
        access_token_type: "Bearer",
      });
    });

    test("lets nobody sign in with a password who has none", async () => {
      await using app = await testService(database);
      const bob = await app.as("bob");
      const login = { login: "bob@example.test", password: "correct horse battery staple" };
      expect(await authn.passwordLogin(app.client(), login).settled()).toMatchObject({
        error: { code: "core.authentication" },
      });
      const changed = {
        current_password: "anything",
        new_password: "correct horse battery staple",
      };
      expect(await authn.changePassword(bob, changed).settled()).toMatchObject({
        error: { code: "current_password_wrong" },
      });
    });

    test("writes in a tenant by its name or its id", async () => {
      await using app = await testService(database);
      const bob = await app.as("bob", { ...takesNotes, tenant: "elsewhere" });
      const tenantOf = (tenant?: string) => app.write(async (context) => context.tenant, tenant);
      expect(await tenantOf("elsewhere")).toBe(bob.tenantId);
      expect(await tenantOf(bob.tenantId ?? "")).toBe(bob.tenantId);
      expect(await tenantOf()).not.toBe(bob.tenantId);
    });

    test("keeps events and signals of what has been committed, and no others", async () => {
      await using app = await testService(database);
      const bob = await app.as("bob", writes);
      const created = { title: "Write it down", project, assignee: bob.principalId };
      const task = await tasks.create(bob, created);
      await tasks.complete(bob, { id: task.id, rev: task.rev });
      const stale = await tasks.complete(bob, { id: task.id, rev: 7 }).settled();
      expect(stale.ok).toBe(false);
      expect(app.outbox).toMatchObject([
        { name: "tasks.completed", data: { id: task.id, state: "done" }, tenant: bob.tenantId },
      ]);
      expect(app.signals.map(({ name: signal, to }) => [signal, to])).toEqual([
        ["task.changed", { topic: `project:${project}` }],
        ["task.assigned", { principals: [bob.principalId] }],
        ["task.changed", { topic: `project:${project}` }],
      ]);
    });

    test("keeps no event of a reset that nobody may know of", async () => {
      await using app = await testService(database);
      await app.as("bob");
      for (const login of ["nobody@example.test", "bob@example.test"])
        await authn.requestPasswordReset(app.client(), { login });
      expect(app.outbox.map(({ data }) => data)).toMatchObject([{ login: "bob@example.test" }]);
    });

    test("tells time by the test's clock: dates stand still, tokens and rows run out", async () => {
      await using app = await testService({ ...database, clock: "2026-01-31T08:00:00Z" });
      const bob = await app.as("bob", takesNotes);
      const first = await notes.create(bob, { text: "one" });
      expect(first.created_at).toBe("2026-01-31T08:00:00.000Z");
      const key = { idempotencyKey: "once" };
      const ann = await app.as("ann", writes);
      const once = await tasks.create(ann, { title: "t", project }, key);
      expect(await tasks.create(ann, { title: "t", project }, key)).toMatchObject({ id: once.id });
      // The access token has run out, and is refreshed; the key has run out as well.
      await app.clock.advance("2 days");
      expect(app.clock.now().toISOString()).toBe("2026-02-02T08:00:00.000Z");
      expect((await notes.create(bob, { text: "two" })).created_at).toBe(
        "2026-02-02T08:00:00.000Z",
      );
      expect((await tasks.create(ann, { title: "t", project }, key)).id).not.toBe(once.id);
      await app.clock.set("2026-03-01T00:00:00Z");
      const late = await notes.create(bob, { text: "three" }).settled();
      expect(late).toMatchObject({ ok: false, error: { code: "core.authentication" } });
      expect(await notes.create(await app.as("bob"), { text: "four" })).toMatchObject({ rev: 1 });
    });

    test("does the periodic work that has come due before the clock has been moved", async () => {
      await using app = await testService(database);
      const bob = await app.as("bob");
      await authn.logout(bob, {});
      const sessions = (): Promise<number> =>
        app.write(
          async ({ transaction }) => (await transaction.leases.held("identity.", 0)).length,
        );
      expect(await sessions()).toBe(0);
      await app.clock.advance("2 hours");
      // The job of what has ended holds its lease for the hour that it has looked in.
      expect(await sessions()).toBe(1);
    });

    test("delivers events where the test says so, again when the clock says so", async () => {
      let attempts = 0;
      let delivered = (): void => undefined;
      const done = new Promise<void>((resolve) => (delivered = resolve));
      let failed = (): void => undefined;
      const refused = new Promise<void>((resolve) => (failed = resolve));
      await using app = await testService({
        ...database,
        destinations: {
          "tasks.completed": async () => {
            attempts += 1;
            if (attempts > 1) return delivered();
            failed();
            throw new Error("away");
          },
        },
      });
      const bob = await app.as("bob", writes);
      const task = await tasks.create(bob, { title: "t", project });
      await tasks.complete(bob, { id: task.id, rev: task.rev });
      await refused;
      await expect.poll(() => app.logs.some(({ level }) => level === "warn")).toBe(true);
      await app.clock.advance("1 hour");
      await done;
      expect(attempts).toBe(2);
    });

    test("ends what takes too long once the clock has passed its deadline", async () => {
      const start = prepareTestService({
        service: defineService({ ...service, routes: [...service.routes, endless] }),
        createClient,
        moduleUrl: new URL("../../../generated/testing.ts", import.meta.url).href,
      });
      await using app = await start(database);
      let answer = "";
      const answered = fetch(`${app.url}/endless`).then(async (response) => {
        answer = await response.text();
      });
      await vi.waitFor(
        async () => {
          await app.clock.advance("31 seconds");
          expect(answer).toContain('"deadline_exceeded"');
        },
        { timeout: 10_000, interval: 50 },
      );
      await answered;
    });

    test("gives a destination up once the clock has passed its time", async () => {
      await using app = await testService({
        ...database,
        destinations: { "tasks.completed": () => new Promise<never>(() => undefined) },
      });
      const bob = await app.as("bob", writes);
      const task = await tasks.create(bob, { title: "t", project });
      await tasks.complete(bob, { id: task.id, rev: task.rev });
      await vi.waitFor(
        async () => {
          await app.clock.advance("21 seconds");
          expect(JSON.stringify(app.logs)).toContain("the destination took longer than 20 s");
        },
        { timeout: 10_000, interval: 50 },
      );
    });

    test("does what no route does, by the rules of documents", async () => {
      await using app = await testService(database);
      const bob = await app.as("bob", takesNotes);
      const seeded = await app.write((context) =>
        collection(notesSpec, context).create({ text: "seeded" }),
      );
      expect(seeded).toMatchObject({ rev: 1, pinned: false });
      // It is nobody's, and bob sees his own.
      expect((await notes.list(bob, {})).hits).toEqual([]);
    });

    test("has the log as lines", async () => {
      await using app = await testService(database);
      const bob = await app.as("bob", writes);
      const task = await tasks.create(bob, { title: "t", project });
      await tasks.complete(bob, { id: task.id, rev: task.rev, note: "done" });
      expect(app.logs).toContainEqual({
        level: "info",
        message: "task completed",
        fields: { task: task.id, hasNote: true },
      });
    });
  });
}

describe("services under test", () => {
  test("share nothing, however many there are at once", async () => {
    const apps = await Promise.all(
      Array.from({ length: 8 }, () => testService({ clock: newYear })),
    );
    try {
      const seen = await Promise.all(
        apps.map(async (app, index) => {
          await app.clock.advance(`${index} hours`);
          const bob = await app.as("bob", takesNotes);
          for (let made = 0; made < index; made += 1) await notes.create(bob, { text: `n${made}` });
          const { hits } = await notes.list(bob, {});
          return [hits.length, app.clock.now().getUTCHours()];
        }),
      );
      expect(seen).toEqual(apps.map((_, index) => [index, index]));
    } finally {
      await Promise.all(apps.map((app) => app.close()));
    }
  });

  test("leave nothing behind", async () => {
    const folder = mkdtempSync(join(tmpdir(), "kit-"));
    vi.stubEnv("TMPDIR", folder);
    let url: string;
    {
      await using app = await testService();
      ({ url } = app);
      expect(readdirSync(folder)).toHaveLength(1);
    }
    await expect(fetch(url)).rejects.toThrow();
    expect(readdirSync(folder)).toEqual([]);
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });

  test("say what is wrong with what they are asked", async () => {
    await expect(testService({ clock: "yesterday" })).rejects.toThrow("is no time");
    await expect(testService({ environment: { READ_LIMIT: "few" } })).rejects.toThrow("READ_LIMIT");
    await using app = await testService();
    // @ts-expect-error -- no unit of time
    expect(() => app.clock.advance("2 fortnights")).toThrow("is no duration");
    // At once, so that nobody has to await it.
    expect(() => app.clock.set("banana")).toThrow("is no time");
  });
});
