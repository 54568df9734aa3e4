// A replica of PostgreSQL, from which lists are read: they have all that was acknowledged before, whatever it does, and its
// failures cost nobody more than a moment.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Log } from "../../runtime/ports/log.js";
import { databaseAt, type TestEngine } from "../support/engines.js";
import { peopleOf, type Member } from "../support/people.js";
import { runCommand } from "../support/process.js";
import { testProject, type TestProject } from "../support/project-service.js";
import type { TestService } from "../support/service.js";
import { hasPostgresBinaries, startCluster, type PostgresCluster } from "./postgres-cluster.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies:
  member: [principal, tenant]
documents:
  notes: {type: {text: string, size: integer}, guard: member, replica: true, mount: {at: /notes}}
search:
  note_search: {of: notes, text: [text], guard: member, mount: {at: /notes-search}}
operations:
  notes.count:
    post: /notes-count
    out: {count: integer}
    run: registry/handlers.ts#count
    guard: member
    transaction: read
`,
  "registry/handlers.ts": `import { collection } from "opwright/runtime";
import { notesSpec } from "../generated/documents/notes.js";
export const count = async (_input, context) => ({ count: (await collection(notesSpec, context).list({})).count });
`,
};

/** For what takes as long as the machine does. */
const patient = { timeout: 60_000 };

describe.skipIf(!hasPostgresBinaries)("lists from a replica", () => {
  let primary: PostgresCluster;
  let replica: PostgresCluster;
  let project: TestProject;
  let service: TestService;
  let ann: Member;
  const lines: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), "opwright-replica-"));

  beforeAll(async () => {
    primary = await startCluster();
    replica = await primary.startReplica();
    project = await testProject(files);
    const engine: TestEngine = {
      name: "postgres",
      isAvailable: true,
      create: async () => databaseAt(primary.url),
    };
    const told = (fields: object, message: string): void => void lines.push(message);
    const log: Log = { debug: told, info: told, warn: told, error: told };
    service = await project.start(engine, {
      environment: { DATABASE_REPLICA_URL: replica.url },
      log,
    });
    ann = await peopleOf(service).member("");
  });
  afterAll(async () => {
    await service?.stop();
    project?.remove();
    replica?.freeze(false);
    await replica?.remove();
    await primary?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const as = async (method: string, path: string, body?: object) => {
    const answer = await peopleOf(service).as(ann.token, method, path, body);
    return { status: answer.status, body: answer.body };
  };
  const make = async (text: string): Promise<string> => {
    const made = await as("POST", "/notes", { text, size: 1 });
    expect(made.status).toBe(201);
    return made.body.id;
  };
  const texts = async (body: object = { sorts: { text: "asc" } }): Promise<readonly string[]> => {
    const answer = await as("POST", "/notes/list", body);
    expect(answer.status).toBe(200);
    return answer.body.hits.map(({ text }: { text: string }) => text);
  };
  const counts = () => service.running.connection.database.state().replica;
  /** What the replica has answered, and what it could not, while something was done. */
  const during = async (work: () => Promise<unknown>) => {
    const before = { ...counts() };
    await work();
    return {
      answered: counts().answered - before.answered,
      missed: counts().missed - before.missed,
    };
  };
  /** Statements about notes that a server has run, by how often. */
  const scans = async (server: PostgresCluster): Promise<number> => {
    const [row] = await server.sql(
      `SELECT coalesce(seq_scan + coalesce(idx_scan, 0), 0)::int AS "scans" FROM pg_stat_user_tables WHERE relname = 'notes'`,
    );
    return Number(row?.["scans"]);
  };

  // Each begins with a replica that answers, whatever an earlier one has left.
  beforeEach(async () => {
    replica.freeze(false);
    const resume = () => replica.sql("SELECT pg_wal_replay_resume()");
    await resume().catch(() => replica.start().then(resume));
    await expect.poll(() => during(() => texts()), patient).toEqual({ answered: 1, missed: 0 });
  }, 120_000);

  test("a list, an aggregate and a search are the replica's; all else is the database's", async () => {
    const text = randomUUID();
    const id = await make(text);
    // On a busy machine one may come too late: then the next one is the replica's.
    await expect.poll(() => during(() => texts()), patient).toEqual({ answered: 1, missed: 0 });
    await expect
      .poll(
        () =>
          during(async () => {
            const asked = { aggregates: { $computed: { n: { $count: {} } } } };
            const { status, body } = await as("POST", "/notes/agg_list", asked);
            expect([status, body.hits[0].n > 0]).toEqual([200, true]);
          }),
        patient,
      )
      .toEqual({ answered: expect.toSatisfy((count: number) => count > 0), missed: 0 });
    await expect
      .poll(
        () =>
          during(async () => {
            const { body } = await as("POST", "/notes-search/typed", { query: `"${text}"` });
            expect(body.hits.map((hit: { id: string }) => hit.id)).toEqual([id]);
          }),
        patient,
      )
      .toEqual({ answered: expect.toSatisfy((count: number) => count > 0), missed: 0 });
    expect(await during(() => as("POST", "/notes-count", {}))).toEqual({ answered: 0, missed: 0 });
    expect(await during(() => as("GET", `/notes/${id}`))).toEqual({ answered: 0, missed: 0 });
    await expect.poll(() => scans(replica), patient).toBeGreaterThan(0);
  });

  test("whoever has written finds it, each of 200 times", async () => {
    const seen = await during(async () => {
      for (let index = 0; index < 200; index += 1) {
        const text = `own ${randomUUID()}`;
        await make(text);
        expect(await texts({ filters: { $values: { text } } })).toEqual([text]);
      }
    });
    // How many is a matter of the machine: each was right.
    expect(seen.answered).toBeGreaterThan(0);
  });

  test("while the replica stands behind, lists are right, and soon no slower", async () => {
    const from = lines.length;
    await replica.sql("SELECT pg_wal_replay_pause()");
    const missed = await during(async () => {
      for (let index = 0; index < 20; index += 1) {
        const text = `behind ${randomUUID()}`;
        await make(text);
        expect(await texts({ filters: { $values: { text } } })).toEqual([text]);
      }
    });
    expect(missed).toEqual({ answered: 0, missed: 20 });
    const told = () => lines.slice(from).filter((line) => /replica/.test(line));
    const failing = "the replica can't answer: lists are read from the database itself";
    await expect.poll(() => texts().then(told), patient).toEqual([failing]);
    await replica.sql("SELECT pg_wal_replay_resume()");
    await expect.poll(() => during(() => texts()), patient).toEqual({ answered: 1, missed: 0 });
    expect(told()).toEqual([failing, "lists are read from the replica again"]);
  });

  test("while it is away, and while it stands still, nobody is refused", async () => {
    replica.freeze(true);
    const text = `frozen ${randomUUID()}`;
    await make(text);
    const seen = await during(async () => {
      for (let index = 0; index < 10; index += 1)
        expect(await texts({ filters: { $values: { text } } })).toEqual([text]);
    });
    expect(seen.answered).toBe(0);
    replica.freeze(false);
    await replica.crash();
    expect(await texts({ filters: { $values: { text } } })).toEqual([text]);
    await replica.start();
    await expect.poll(() => during(() => texts()), patient).toEqual({ answered: 1, missed: 0 });
  });

  test("one that falls silent in the middle of lists is left, and each list is answered", async () => {
    let isFrozen = false;
    const from = { ...counts() };
    const goesOn = (): boolean => !isFrozen || counts().missed === from.missed;
    const listing = Array.from({ length: 16 }, async () => {
      while (goesOn()) expect((await texts()).length).toBeGreaterThan(0);
    });
    await expect.poll(() => counts().answered - from.answered, patient).toBeGreaterThan(16);
    replica.freeze(true);
    from.missed = counts().missed;
    isFrozen = true;
    await Promise.all(listing);
    replica.freeze(false);
    await expect.poll(() => during(() => texts()), patient).toEqual({ answered: 1, missed: 0 });
  });

  test("the doctor looks at it", async () => {
    const environment = { DATABASE_URL: primary.url, DATABASE_REPLICA_URL: replica.url };
    const seen = async (more: object = {}) => {
      const { stdout } = await runCommand({ ...environment, DATA_DIR: folder, ...more }, [
        "doctor",
      ]);
      return stdout.split("\n").filter((line) => /^\w+ +replica /.test(line));
    };
    expect(await seen()).toEqual([
      expect.stringMatching(/^ok +replica +(?:has all|\d+ B of the log behind)/),
    ]);
    expect(await seen({ DATABASE_REPLICA_URL: primary.url })).toEqual([
      expect.stringMatching(/^wrong +replica +DATABASE_REPLICA_URL: it is no replica/),
    ]);
  });
});

describe.skipIf(!hasPostgresBinaries)("what is not the replica of a database", () => {
  let project: TestProject;
  beforeAll(async () => {
    project = await testProject(files);
  });
  afterAll(() => project?.remove());

  /** A service whose database and replica are these, and what it lists in a member's name. */
  const started = async (database: string, environment: Readonly<Record<string, string>>) => {
    const create = async () => databaseAt(database);
    const service = await project.start(
      { name: "postgres", isAvailable: true, create },
      { environment },
    );
    onTestFinished(() => service.stop());
    const people = peopleOf(service);
    const { token } = await people.member("");
    return {
      make: (text: string) => people.as(token, "POST", "/notes", { text, size: 1 }),
      list: async (): Promise<readonly string[]> => {
        const answer = await people.as(token, "POST", "/notes/list", {});
        expect(answer.status).toBe(200);
        return answer.body.hits.map(({ text }: { text: string }) => text);
      },
      state: () => ({ ...service.running.connection.database.state().replica }),
    };
  };
  const cluster = async (of?: PostgresCluster): Promise<PostgresCluster> => {
    const made = await (of === undefined ? startCluster() : of.startReplica());
    onTestFinished(() => made.remove());
    return made;
  };

  test("a standby that still follows the server from which a failover has led away", async () => {
    const former = await cluster();
    const replica = await cluster(former);
    const next = await cluster(former);
    const [one, other] = [former, next].map(({ url }) => new URL(url).host);
    const both = `postgres://postgres@${one},${other}/postgres?target_session_attrs=read-write`;
    const { make, list, state } = await started(both, { DATABASE_REPLICA_URL: replica.url });
    expect((await make("before")).status).toBe(201);
    await expect.poll(list).toEqual(["before"]);
    expect(state().answered).toBeGreaterThan(0);
    // What is written now is on the replica, and nowhere once the server is lost.
    await next.crash();
    await former.sql("CREATE TABLE filling AS SELECT generate_series(1, 50000) AS n");
    await expect
      .poll(() => replica.sql("SELECT count(*)::int AS n FROM filling").catch(() => []))
      .toEqual([{ n: 50_000 }]);
    await former.crash();
    await next.start();
    await next.promote();
    await expect.poll(async () => (await make("after")).status, { timeout: 20_000 }).toBe(201);
    const { answered } = state();
    expect(await list()).toEqual(["before", "after"]);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await list()).toEqual(["before", "after"]);
    expect(state().answered).toBe(answered);
  });

  test("another database of the same servers, and another schema", async () => {
    const primary = await cluster();
    const replica = await cluster(primary);
    await primary.sql("CREATE DATABASE staging");
    const staging = (url: string): string => url.replace(/postgres$/, "staging");
    const inStaging = await started(staging(primary.url), {});
    await inStaging.make("of staging");
    const { make, list, state } = await started(primary.url, {
      DATABASE_REPLICA_URL: staging(replica.url),
    });
    await make("of the shop");
    expect(await list()).toEqual(["of the shop"]);
    expect(state().answered).toBe(0);
    await primary.sql("CREATE SCHEMA shop");
    const inSchema = await started(`${primary.url}?options=-c%20search_path%3Dshop`, {
      DATABASE_REPLICA_URL: replica.url,
    });
    await inSchema.make("of the schema");
    expect(await inSchema.list()).toEqual(["of the schema"]);
    expect(inSchema.state().answered).toBe(0);
  });

  test("a query that the replica breaks off is one list's affair", async () => {
    const primary = await cluster();
    const replica = await cluster(primary);
    const { make, list, state } = await started(primary.url, { DATABASE_REPLICA_URL: replica.url });
    await make("kept");
    await expect.poll(async () => (await list(), state().answered), patient).toBeGreaterThan(0);
    const listed = new AbortController();
    let ended = 0;
    const ends = (async () => {
      const text = `SELECT count(pg_terminate_backend(pid))::int AS "ended" FROM pg_stat_activity
        WHERE query LIKE '%notes%' AND pid <> pg_backend_pid()`;
      while (!listed.signal.aborted) ended += Number((await replica.sql(text))[0]?.["ended"]);
    })();
    const before = state().answered;
    for (let index = 0; index < 100; index += 1) expect(await list()).toEqual(["kept"]);
    listed.abort();
    await ends;
    expect(ended).toBeGreaterThan(0);
    expect(state().answered).toBeGreaterThan(before);
  });

  test("a replica that was promoted, and so is another database, answers nothing", async () => {
    const primary = await cluster();
    const replica = await cluster(primary);
    const { make, list, state } = await started(primary.url, { DATABASE_REPLICA_URL: replica.url });
    await make("before");
    await expect.poll(async () => (await list(), state().answered), patient).toBeGreaterThan(0);
    await replica.promote();
    await make("after");
    const { answered, missed } = state();
    expect((await list()).toSorted()).toEqual(["after", "before"]);
    expect(state()).toMatchObject({ answered, missed: missed + 1 });
  });
});
