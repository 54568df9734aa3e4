// What follows from a write on PostgreSQL fails once the handler has returned: nothing is stored, `whenUndone` runs, the next
// request is served, and the answer is the same as where the handler waits for something behind it.
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, type FreshDatabase } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

/** What the handler has been told, and whether it reads behind its writes. */
const next = { told: [] as string[], reads: false };
Object.assign(globalThis, { undoneUnderTest: next });

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
outbox: {events: {notes.made: {destination: log, data: {text: string}}}}
documents:
  notes: {type: {text: string}, guard: open}
operations:
  act.write: {post: /write, in: {text: string}, run: registry/code.ts#write, guard: open}
`,
  "registry/code.ts": `import { collection } from "opwright/runtime";
import { notesSpec } from "../generated/documents/notes.js";
import { stageEvent } from "../generated/outbox.js";
export const write = async ({ text }, context) => {
  const { told } = globalThis.undoneUnderTest;
  context.whenUndone(async () => void told.push("undone"));
  context.whenCommitted(async () => void told.push("committed"));
  await collection(notesSpec, context).create({ text });
  await stageEvent(context, "notes.made", { text });
  if (globalThis.undoneUnderTest.reads) await collection(notesSpec, context).find({ size: 1 });
};
`,
};

const postgres = engines.find(({ name, isAvailable }) => name === "postgres" && isAvailable);

describe.skipIf(postgres === undefined)("an event that the database refuses", () => {
  let project: TestProject | undefined;
  let database: FreshDatabase | undefined;
  let started: TestService | undefined;
  beforeAll(async () => {
    project = await testProject(files);
    database = await postgres?.create();
    if (postgres !== undefined)
      started = await project.start(postgres, { environment: { ...database?.environment } });
  });
  afterAll(async () => {
    await started?.stop();
    await database?.drop();
    project?.remove();
  });

  const post = async (path: string, sent: unknown) => {
    if (started === undefined) throw new Error("there is no service");
    return started.post(path, sent);
  };
  const write = async (text: string) => {
    next.told = [];
    const { status, body } = await post("/write", { text });
    return { status, code: body?.code, told: next.told };
  };
  const stored = async (): Promise<readonly string[]> =>
    (await post("/notes/list", { size: 100 })).body.hits.map(
      ({ text }: { readonly text: string }) => text,
    );
  const refusingEvents = async (work: () => Promise<void>): Promise<void> => {
    const admin = new pg.Client({ connectionString: database?.url ?? "" });
    await admin.connect();
    try {
      await admin.query(
        "CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'no event'; END $$ LANGUAGE plpgsql",
      );
      await admin.query(
        "CREATE TRIGGER refuse BEFORE INSERT ON opwright_outbox FOR EACH ROW EXECUTE FUNCTION refuse()",
      );
      await work();
    } finally {
      await admin.query("DROP FUNCTION IF EXISTS refuse CASCADE");
      await admin.end();
    }
  };

  test.each([false, true])("the handler reads behind it: %s", async (reads) => {
    next.reads = reads;
    const before = await stored();
    await refusingEvents(async () => {
      for (let round = 0; round < 5; round += 1)
        expect(await write("refused")).toEqual({
          status: 500,
          code: "core.infrastructure",
          told: ["undone"],
        });
    });
    expect(await stored()).toEqual(before);
    expect((await write("later")).told).toEqual(["committed"]);
    expect(await stored()).toEqual([...before, "later"]);
  });
});
