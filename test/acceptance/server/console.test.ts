// What the console asks for: what its user may do, and what the process knows of itself.
import { randomBytes } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { service as tracker } from "../../../generated/service.js";
import { readSettings } from "../../../runtime/server/settings.js";
import { engines } from "../../support/engines.js";
import { onEachEngine, reference } from "../../support/on-each-engine.js";
import type { Member, Person } from "../../support/people.js";
import { recordingLog } from "../../support/recording-log.js";
import { generated, startTestService, type TestService } from "../../support/service.js";

const log = recordingLog();

describe("the console", () => {
  onEachEngine(
    reference,
    (stage) => {
      let reader: Member;
      let operator: Person & { readonly token: string };
      beforeAll(async () => {
        const { people } = stage;
        reader = await people.member("", "tasks.read", "projects.read");
        const person = await people.person("platform.admin");
        operator = { ...person, token: (await people.session(person.id, null)).access_token };
      });

      const refusedFor = async (token: string): Promise<Readonly<Record<string, string>>> => {
        const headers = { authorization: token === "" ? "" : `Bearer ${token}` };
        const { status, body } = await stage.service.call("GET", "/console/access", { headers });
        expect(status).toBe(200);
        return body.refused;
      };

      test("whoever isn't signed in is refused all that asks who is calling", async () => {
        const refused = await refusedFor("");
        expect(refused).toMatchObject({ "authn.me": "core.authentication" });
        expect(Object.keys(refused)).not.toContain("authn.password_login");
      });

      test("a reader is refused what it says, and nothing else by a guard", async () => {
        const refused = await refusedFor(reader.token);
        expect(refused).toMatchObject({
          "tasks.create": "core.authorization",
          "notes.list": "core.authorization",
          "tenant_admin.create_tenant": "core.authorization",
          "console.state": "core.authorization",
        });
        expect(Object.keys(refused)).not.toContain("tasks.list");
        const id = "01890000-0000-7000-8000-000000000001";
        for (const { operationId, method, path, input } of tracker.routes) {
          // A form is read after the guards; what leaves the session would end this one.
          if (input.body?.isForm === true || /logout|switch|leave|revoke_session/.test(operationId))
            continue;
          const filled = path.replace("{revision}", "1").replaceAll(/\{\+?\w+\}/g, id);
          const address = "rev" in input.parameters ? `${filled}?rev=1` : filled;
          const body = input.body === undefined ? {} : { body: {} };
          const headers = { authorization: `Bearer ${reader.token}` };
          const answer = await stage.service.call(method, address, { headers, ...body });
          const expected = refused[operationId];
          // The head has no body, and input may be refused before a guard is asked.
          if (expected !== undefined && method !== "HEAD" && answer.status !== 422)
            expect([operationId, answer.body?.code]).toEqual([operationId, expected]);
          if (expected === undefined) expect([operationId, answer.status]).not.toContain(403);
        }
      });

      test("a session that is none of one's tenants says what needs one", async () => {
        const refused = await refusedFor(operator.token);
        expect(refused["tasks.list"]).toBe("tenant_required");
        expect(Object.keys(refused)).not.toContain("tenant_admin.create_tenant");
      });

      test("the state, the log and the commands are for operators", async () => {
        const asked = [
          ["GET", "/console/state", undefined],
          ["GET", "/console/log", undefined],
          ["POST", "/console/commands", { name: "outbox", args: [] }],
        ] as const;
        for (const [method, path, body] of asked) {
          const refusal = await stage.people.as(reader.token, method, path, body);
          expect([path, refusal.status, refusal.body.code]).toEqual([
            path,
            403,
            "core.authorization",
          ]);
          expect((await stage.people.as(operator.token, method, path, body)).status).toBe(200);
        }
      });

      test("the state has metrics and commands, and no migration that waits", async () => {
        const { body } = await stage.people.as(operator.token, "GET", "/console/state");
        expect(body.pending_migrations).toEqual([]);
        expect(body.metrics).toContain("opwright_connections_open");
        const names = body.commands.map(({ name }: { readonly name: string }) => name);
        expect(names.sort()).toEqual(["dead-letters", "jobs", "outbox", "redrive"]);
      });

      test("commands print what they do, are audited, and refuse what isn't theirs", async () => {
        const run = (body: unknown) =>
          stage.people.as(operator.token, "POST", "/console/commands", body);
        const outbox = await run({ name: "outbox", args: [] });
        expect(JSON.parse(outbox.body.output)).toMatchObject({ dead: 0 });
        expect((await run({ name: "redrive", args: [] })).body).toEqual({ output: "0" });
        expect((await run({ name: "redrive", args: ["a", "b"] })).status).toBe(422);
        expect((await run({ name: "redrive" })).status).toBe(422);
        expect((await run({ name: "create-principal", args: [] })).status).toBe(404);
        expect((await run({ name: "nothing", args: [] })).status).toBe(404);
        const audits = log.lines.flatMap(({ fields }) => fields["audit"] ?? []);
        expect(audits).toContainEqual(
          expect.objectContaining({
            operation: "console.run",
            name: "redrive",
            caller: operator.id,
          }),
        );
      });

      test("the log continues where it was left, without the console's own questions", async () => {
        const read = async (after: number) =>
          (await stage.people.as(operator.token, "GET", `/console/log?after=${after}`)).body.lines;
        const before = await read(0);
        const last = before.at(-1)?.number ?? 0;
        await stage.service.call("GET", "/nowhere");
        await expect.poll(async () => JSON.stringify(await read(last))).toContain("/nowhere");
        const answered = (await read(0)).filter(({ text }: { readonly text: string }) =>
          text.includes('"status":200'),
        );
        expect(JSON.stringify(answered)).toContain("console.access");
        expect(JSON.stringify(answered)).not.toContain("console.log");
      });
    },
    { log },
  );

  const secrets = [
    "SIGNING",
    "ACCESS_TOKEN",
    "REFRESH_PEPPER",
    "RESET_PEPPER",
    "OBJECTS",
    "WEBHOOK",
  ];
  const production = Object.fromEntries([
    ["NODE_ENV", "production"],
    ["DESTINATION_NOTIFICATIONS", "https://hooks.example.test/"],
    ["SETTLE_SECONDS", "0"],
    ...secrets.map((name) => [`SECRETS_${name}`, randomBytes(32).toString("base64url")]),
  ]);

  test("in production it is off unless a permission is named for it", () => {
    const permissionOf = (environment: Readonly<Record<string, string>>) =>
      readSettings({ name: "x" }, environment).consolePermission;
    expect(permissionOf({})).toBe("platform.admin");
    expect(permissionOf({ DOCS: "off" })).toBeNull();
    expect(permissionOf({ CONSOLE: "off" })).toBeNull();
    expect(permissionOf({ ...production, DOCS: "on" })).toBeNull();
    expect(permissionOf({ ...production, CONSOLE: "ops.console" })).toBe("ops.console");
    expect(() => permissionOf({ CONSOLE: "On please" })).toThrow(/CONSOLE must be a permission/);
  });

  const [sqlite] = engines;
  const startIn = (
    environment: Readonly<Record<string, string>>,
    definition = tracker,
  ): Promise<TestService> => {
    if (sqlite === undefined) throw new Error("there is no SQLite");
    return startTestService(sqlite, { environment, definition, folder: generated });
  };

  test("in production it is for operators alone, also where there is no documentation", async () => {
    const service = await startIn({ ...production, CONSOLE: "platform.admin" });
    const statusOf = async (path: string, headers = {}) =>
      (await service.call("GET", path, { headers })).status;
    expect(await statusOf("/console")).toBe(200);
    expect(await statusOf("/console/console.js")).toBe(200);
    expect(await statusOf("/docs")).toBe(404);
    expect(await statusOf("/docs/style.css")).toBe(404);
    expect(await statusOf("/console/access", { authorization: "" })).toBe(401);
    expect(await statusOf("/console/access")).toBe(200);
    await service.stop();
  });

  test("a service without anybody to ask has none in production", async () => {
    const [route] = tracker.routes.filter(({ path }) => path === "/places/{id}");
    if (route === undefined) throw new Error("there is no such route");
    const open = { name: "open", title: "Open", version: "1", routes: [route] };
    const documents = tracker.documents ?? [];
    for (const [environment, status] of [
      [{}, 200],
      [{ ...production, CONSOLE: "platform.admin" }, 404],
    ] as const) {
      const service = await startIn(environment, { ...open, documents });
      expect((await service.call("GET", "/console")).status).toBe(status);
      expect((await service.call("GET", "/console/state")).status).toBe(status);
      await service.stop();
    }
  });

  test("what an earlier version has generated has none: it doesn't say who authorizes", async () => {
    const { authorize: _none, ...earlier } = tracker;
    const service = await startIn({}, earlier);
    expect((await service.call("GET", "/console")).status).toBe(404);
    expect((await service.call("GET", "/console/log")).status).toBe(404);
    await service.stop();
  });

  test("a service with routes below /console has those alone", async () => {
    const [route] = tracker.routes.filter(({ path }) => path === "/places/{id}");
    if (route === undefined) throw new Error("there is no such route");
    const routes = [...tracker.routes, { ...route, path: "/console/{id}" }];
    const service = await startIn({}, { ...tracker, routes });
    expect((await service.call("GET", "/console")).status).toBe(404);
    expect((await service.call("GET", "/console/access")).body.code).toBe("core.validation");
    expect((await service.call("GET", "/docs")).status).toBe(200);
    await service.stop();
  });

  test("an app of the author's own goes before it", async () => {
    const service = await startIn(
      {},
      {
        ...tracker,
        app: (req, res, next) => {
          if (req.url !== "/console/access") return next();
          res.end("mine");
        },
      },
    );
    expect((await service.call("GET", "/console/access")).body).toBe("mine");
    await service.stop();
  });
});
