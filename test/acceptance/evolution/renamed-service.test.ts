// A service that is called otherwise: what it has given out is accepted by both versions, and its data belongs to the project,
// not to its name (evolution.md "Rename").
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readSettings } from "../../../runtime/server/settings.js";
import { start } from "../../../runtime/server/start.js";
import { buses } from "../../support/bus-engines.js";
import { engines, sharedDatabase } from "../../support/engines.js";
import { peopleOf, type People } from "../../support/people.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { recordingLog } from "../../support/recording-log.js";
import type { TestService } from "../../support/service.js";

const registry = (name: string): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: ${name}, title: Demo, version: 1.0.0}
identity:
  methods: [token, api_key]
  ingress: [{bearer: Authorization}, {api_key: X-API-Key}]
  api_keys: {}
policies: {member: [principal], open: []}
types: {Note: {text: string, room: string}}
documents:
  notes: {type: Note, guard: member, emits: {create: note.made}}
  open_notes: {type: {text: string}, guard: open}
realtime:
  topics: registry/topics.ts#topics
  events:
    note.made: {data: Note, audience: [topic], delivery: ephemeral, to: "room:{room}"}
`,
  "registry/topics.ts": "export const topics = async (requested) => requested;\n",
});

let projects: readonly [TestProject, TestProject, TestProject];
beforeAll(async () => {
  const first = await testProject(registry("tracker"));
  const second = await testProject(registry("shop, was: tracker"), first);
  projects = [first, second, await testProject(registry("shop"), second)];
});
afterAll(() => projects.forEach((project) => project.remove()));

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    const data = mkdtempSync(join(tmpdir(), "opwright-service-"));
    let shared: Awaited<ReturnType<typeof sharedDatabase>>;
    const sides: { readonly service: TestService; readonly people: People }[] = [];
    beforeAll(async () => {
      shared = await sharedDatabase(engine);
      for (const project of projects) {
        const service = await project.start(shared.same, { environment: { DATA_DIR: data } });
        const { identitySpec } = await project.load("generated/identity.ts");
        sides.push({ service, people: peopleOf(service, identitySpec) });
      }
    });
    afterAll(async () => {
      for (const { service } of sides) await service.stop();
      await shared.drop();
      rmSync(data, { recursive: true, force: true });
    });

    /** What each version answers to somebody with these headers. */
    const answers = (headers: Readonly<Record<string, string>>): Promise<readonly number[]> =>
      Promise.all(
        sides.map(async ({ service }) => {
          const given = { authorization: "", ...headers };
          return (await service.call("POST", "/notes/list", { body: {}, headers: given })).status;
        }),
      );

    test("tokens and API keys of either version are accepted by both, and by none that doesn't say so", async () => {
      const expected = [
        [200, 200, 401],
        [200, 200, 401],
        // It doesn't say what it was called; one that says so takes its tokens, too.
        [401, 200, 200],
      ];
      for (const [at, { people }] of sides.entries()) {
        const { id } = await people.person();
        const { access_token: token } = await people.session(id, null);
        expect([at, await answers({ authorization: `Bearer ${token}` })]).toEqual([
          at,
          expected[at],
        ]);
        const made = await people.as(token, "POST", "/api-keys", { label: "it" });
        expect(made.status).toBe(201);
        expect([at, await answers({ "x-api-key": made.body.api_key })]).toEqual([at, expected[at]]);
      }
    });
  });
}

describe("without DATABASE_URL", () => {
  const folder = (): string => {
    const made = mkdtempSync(join(tmpdir(), "opwright-named-"));
    onTestFinished(() => rmSync(made, { recursive: true, force: true }));
    return made;
  };
  /** Starts a version on a data folder, has it create a note, and stops it; resolves with all notes and the log's lines. */
  const visited = async (project: TestProject, data: string, database = "") => {
    const { service } = await project.load("generated/service.ts");
    const log = recordingLog();
    const running = await start(service, {
      settings: readSettings(service, { PORT: "0", DATA_DIR: data, DATABASE_URL: database }),
      folder: join(project.root, "generated"),
      log,
    });
    const post = async (path: string, body: object) =>
      (
        await fetch(`${running.url}${path}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        })
      ).json() as Promise<{ readonly count?: number }>;
    await post("/open_notes", { text: "kept" });
    const { count } = await post("/open_notes/list", {});
    await running.stop();
    const told = log.lines.filter(({ message }) =>
      message.startsWith("the database is called otherwise"),
    );
    return { count, told: told.map(({ fields }) => fields["file"]) };
  };

  test("the file has no name of a service, and a service that is called otherwise goes on with it", async () => {
    const data = folder();
    expect(await visited(projects[0], data)).toEqual({ count: 1, told: [] });
    expect(existsSync(join(data, "service.db"))).toBe(true);
    expect(await visited(projects[2], data)).toEqual({ count: 2, told: [] });
  });

  test("a file that an earlier version has called after the service is used, and the log says where it is", async () => {
    const data = folder();
    // As opwright called it before.
    await visited(projects[0], data, `sqlite:${join(data, "tracker.db")}`);
    expect(await visited(projects[0], data)).toEqual({ count: 2, told: [] });
    const told = [join(data, "tracker.db")];
    expect(await visited(projects[1], data)).toEqual({ count: 3, told });
    // Also where nothing says what the service was called, as long as there is no other.
    expect(await visited(projects[2], data)).toEqual({ count: 4, told });
    expect(existsSync(join(data, "service.db"))).toBe(false);
  });

  test("of several files, that of a name of the service is used, and none is guessed", async () => {
    const data = folder();
    // As opwright called it before.
    await visited(projects[0], data, `sqlite:${join(data, "tracker.db")}`);
    writeFileSync(join(data, "other.db"), "");
    expect(await visited(projects[1], data)).toMatchObject({ count: 2 });
    const refused = await visited(projects[2], data).catch((error: unknown) => String(error));
    expect(refused).toContain(
      `DATABASE_URL must say which database is meant: ${data} has other.db and tracker.db`,
    );
  });
});

const redis = buses.find(({ name }) => name === "redis");
describe.skipIf(redis?.isAvailable !== true)("over Redis", () => {
  test("processes of both versions hear each other", async () => {
    if (redis === undefined) throw new Error("there is no Redis");
    const bus = await redis.create();
    const data = mkdtempSync(join(tmpdir(), "opwright-bus-"));
    const [engine] = engines;
    if (engine === undefined) throw new Error("there is no engine");
    const { same, drop } = await sharedDatabase(engine);
    onTestFinished(async () => {
      await drop();
      await bus.drop();
      rmSync(data, { recursive: true, force: true });
    });
    const environment = { DATA_DIR: data, BUS_URL: bus.url, DRAIN_SECONDS: "1" };
    const started: TestService[] = [];
    for (const project of projects.slice(0, 2)) {
      const service = await project.start(same, { environment });
      started.push(service);
      onTestFinished(() => service.stop());
    }
    const [old, next] = started;
    if (old === undefined || next === undefined) throw new Error("a version is missing");
    const people = peopleOf(old, (await projects[0].load("generated/identity.ts")).identitySpec);
    const { id } = await people.person();
    const { access_token: token } = await people.session(id, null);
    const headers = { authorization: `Bearer ${token}` };
    const stream = await fetch(`${old.url}/realtime/sse?topics=room:a`, { headers });
    expect(stream.status).toBe(200);
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    const note = { body: { text: "from beside", room: "a" }, headers };
    expect((await next.call("POST", "/notes", note)).status).toBe(201);
    let heard = "";
    while (!heard.includes("from beside")) heard += (await reader?.read())?.value ?? "";
    expect(heard).toContain("event: note.made");
    await reader?.cancel();
  });
});
