// What a request was waiting for at its deadline: the line of its failure says it.
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Client } from "pg";
import { openSqlite } from "../../../runtime/engines/sqlite/driver.js";
import { engines, type FreshDatabase, type TestEngine } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { connectWebSocket } from "../../support/realtime-clients.js";
import { recordingLog } from "../../support/recording-log.js";
import { startTestService, type TestService } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: slow, title: Slow, version: 1.0.0, deadline: 1s}
policies: {open: []}
documents: {notes: {type: {text: string}, guard: open}}
storage: {files: {guard: open, mount: {at: /files, style: rest}}}
operations:
  act.own: {post: /own, run: registry/act.ts#own, guard: open}
  act.read: {post: /read, transaction: read, run: registry/act.ts#own, guard: open}
`,
  "registry/act.ts": "export const own = () => new Promise(() => {});\n",
};

let project: TestProject;
let silent: Server;
let objects = "";
const sockets = new Set<Socket>();
beforeAll(async () => {
  project = await testProject(files);
  // An object store that accepts connections and never answers.
  silent = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  const port = await new Promise<number>((resolve) => {
    silent.listen(0, "127.0.0.1", () => resolve((silent.address() as AddressInfo).port));
  });
  objects = `s3://bucket?endpoint=${encodeURIComponent(`http://127.0.0.1:${port}`)}`;
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  silent.close();
  project.remove();
});

/** Holds what a write to a table needs; resolves with how to let it go. */
async function heldTable(
  { name }: TestEngine,
  { url }: FreshDatabase,
  table: string,
): Promise<() => unknown> {
  if (name === "sqlite") {
    const connection = openSqlite(url.slice("sqlite:".length));
    // The service writes on its own account in this very thread: a wait that blocks it never ends.
    await expect.poll(() => connection.exec("BEGIN IMMEDIATE")).toBeUndefined();
    return () => connection.close();
  }
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("BEGIN");
  await client.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  return () => client.end();
}

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(`a deadline that passes, on ${engine.name}`, () => {
    const log = recordingLog();
    let database: FreshDatabase;
    let service: TestService;
    beforeAll(async () => {
      database = await engine.create();
      const create = async (): Promise<FreshDatabase> => database;
      const credentials = { OBJECTS_ACCESS_KEY: "a", OBJECTS_SECRET_KEY: "b" };
      service = await project.start(
        { ...engine, create },
        { log, environment: { OBJECTS_URL: objects, ...credentials } },
      );
    });
    afterAll(() => service?.stop());

    /** What the line of a failed request names. */
    const namedBy = async (method: string, path: string, body?: unknown): Promise<unknown> => {
      log.lines.length = 0;
      const { status } = await service.call(method, path, { body });
      expect(status).toBe(504);
      const [line] = log.lines.filter(({ message }) => message === "an operation failed");
      expect(line?.error).toContain("the deadline passed while");
      return line?.fields["waitedFor"];
    };

    test("the line names the database where that is held", async () => {
      const letGo = await heldTable(engine, database, "notes");
      try {
        expect(await namedBy("POST", "/notes", { text: "a" })).toBe("the database");
      } finally {
        await letGo();
      }
    });

    test("the line names the object store where that is silent", async () => {
      expect(await namedBy("GET", "/files/files/a")).toBe("the object store");
    });

    test.each(["/own", "/read"])("the line names the code where that goes on: %s", async (path) => {
      expect(await namedBy("POST", path)).toBe("code");
    });

    test("so does the line of a command", async () => {
      const own = await engine.create();
      const create = async (): Promise<FreshDatabase> => own;
      const other = await startTestService({ ...engine, create }, { log });
      const client = await connectWebSocket(other, other.tester);
      const letGo = await heldTable(engine, own, "tasks");
      try {
        log.lines.length = 0;
        const payload = { task: other.tester.id, text: "a" };
        const { error } = await client.command("task.comment", payload, { deadline_budget: 1 });
        expect(error?.code).toBe("deadline_exceeded");
        const [line] = log.lines.filter(({ message }) => message === "a command failed");
        expect(line?.fields["waitedFor"]).toBe("the database");
      } finally {
        await letGo();
        client.close();
        await other.stop();
      }
    });
  });
}
