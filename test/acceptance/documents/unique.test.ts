// What no two documents have the same of: under parallel writers, in patches and restores, by tenant, in handlers.
import { join } from "node:path";
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";
import { testProject } from "../../support/project-service.js";
import { sharedDatabase } from "../../support/engines.js";
import { uuidv7 } from "../../../runtime/ports/uuid.js";
import { planMigrations } from "../../../runtime/engines/sql/migration-plan.js";
import { silentLog } from "../../../runtime/ports/log.js";
import { openDatabase } from "../../../runtime/server/engines.js";
import { isHeldUp, planText } from "../../../runtime/server/plan-text.js";
import { peopleOf } from "../../support/people.js";
import type { Answer, TestService } from "../../support/service.js";

const head = `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies: {open: []}
`;

const files = {
  "registry/service.yaml": `${head}documents:
  accounts:
    type: {username: string, email: string?, project: uuid?, key: integer?, note: string?}
    guard: open
    history: true
    soft_delete: true
    unique:
      - [username]
      - {fields: [email], where: not_deleted}
      - [project, key]
  profiles: {type: {bio: string}, guard: open, unique: [[owner_id]]}
  drafts: {type: {shelf: string, note: string?}, guard: open, tenant: false, unique: [[owner_id, shelf]], upsert: true}
  domains: {type: {name: string}, guard: open, unique: [{fields: [name], global: true}]}
  stations: {type: {code: {type: string, maxLength: 4}, size: integer}, guard: open, tenant: false, unique: [[code, size]]}
operations:
  drafts.keep: {post: /keep_draft, in: {shelf: string, note: string?}, out: {id: uuid, rev: integer}, run: registry/handlers.ts#keepDraft, guard: open}
  accounts.keep: {post: /keep, in: {username: string, note: string?}, out: {id: uuid, rev: integer}, run: registry/handlers.ts#keep, guard: open}
  accounts.register: {post: /register, in: {username: string}, out: {username: string, tries: integer}, run: registry/handlers.ts#register, guard: open}
`,
  // A name that is taken gets a number: what was refused does not end the transaction.
  "registry/handlers.ts": `import { collection } from "opwright/runtime";
import { accountsSpec } from "../generated/documents/accounts.js";
import { draftsSpec } from "../generated/documents/drafts.js";
export const keepDraft = (input, context) => collection(draftsSpec, context).upsert(["owner_id", "shelf"], input);
export const keep = (input, context) => collection(accountsSpec, context).upsert(["username"], input);
export const register = async ({ username }, context) => {
  const accounts = collection(accountsSpec, context);
  for (let tries = 1; ; tries += 1) {
    const name = tries === 1 ? username : username + tries;
    try {
      await accounts.create({ username: name });
      return { username: name, tries };
    } catch (error) {
      if (error.code !== "unique_violation") throw error;
    }
  }
};
`,
};

const refused = (...members: readonly string[]): object => ({
  status: 409,
  body: { code: "unique_violation", kind: "conflict", context: { members } },
});

/** Somebody of another tenant, as a header. */
async function elsewhere(service: TestService): Promise<Record<string, string>> {
  const { identitySpec } = await project.load("generated/identity.ts");
  const { token } = await peopleOf(service, identitySpec).member("");
  return { authorization: `Bearer ${token}` };
}

const project = onEachEngine(files, ({ service, engine }) => {
  const account = (body: object): Promise<Answer> => service.post("/accounts", body);

  test("of fifty parallel writers one gets the name", async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => account({ username: "wanted" })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 201))
      expect(answer).toMatchObject(refused("username"));
    const found = await service.post("/accounts/list", {
      filters: { $values: { username: "wanted" } },
    });
    expect(found.body.count).toBe(1);
  });

  test("null is like nothing, and members count together", async () => {
    const one = uuidv7();
    for (const [at, body] of [{}, {}, { project: one }, { project: one }, { key: 1 }].entries())
      expect(await account({ username: `null${at}`, ...body })).toMatchObject({ status: 201 });
    expect(await account({ username: "p1", project: one, key: 1 })).toMatchObject({
      status: 201,
    });
    expect(await account({ username: "p2", project: one, key: 2 })).toMatchObject({
      status: 201,
    });
    expect(await account({ username: "p3", project: one, key: 1 })).toMatchObject(
      refused("project", "key"),
    );
  });

  test("patches and restores are held to it, and leave everything as it was", async () => {
    const first = (await account({ username: "first", email: "a@example.test" })).body;
    const other = (await account({ username: "other" })).body;
    const patch = (id: string, rev: number, body: object): Promise<Answer> =>
      service.call("PATCH", `/accounts/${id}?rev=${rev}`, { body });
    expect(await patch(other.id, 1, { username: "first", note: "lost" })).toMatchObject(
      refused("username"),
    );
    expect((await service.call("GET", `/accounts/${other.id}`)).body).toEqual(other);
    // Its own value is nobody else's.
    expect(await patch(first.id, 1, { username: "first", note: "kept" })).toMatchObject({
      status: 200,
      body: { data: { rev: 2 } },
    });
    // A name stays with who is deleted, an address does not.
    expect((await service.post(`/accounts/${first.id}/delete?rev=2`, {})).status).toBe(200);
    expect(await account({ username: "first" })).toMatchObject(refused("username"));
    expect(await patch(other.id, 1, { email: "a@example.test" })).toMatchObject({ status: 200 });
    expect(await service.post(`/accounts/${first.id}/restore?rev=3`, {})).toMatchObject(
      refused("email"),
    );
    expect(await patch(other.id, 2, { email: null })).toMatchObject({ status: 200 });
    expect(await service.post(`/accounts/${first.id}/restore?rev=3`, {})).toMatchObject({
      status: 200,
    });
  });

  test("tenants know nothing of each other, unless the registry says so", async () => {
    const headers = await elsewhere(service);
    const name = { username: "everywhere" };
    expect((await account(name)).status).toBe(201);
    expect((await service.post("/accounts", name, headers)).status).toBe(201);
    expect((await service.post("/domains", { name: "example.test" })).status).toBe(201);
    expect(await service.post("/domains", { name: "example.test" }, headers)).toMatchObject(
      refused("name"),
    );
  });

  test("columns and documents without tenants have it as well", async () => {
    expect((await service.post("/profiles", { bio: "mine" })).status).toBe(201);
    expect(await service.post("/profiles", { bio: "again" })).toMatchObject(refused("owner_id"));
    expect((await service.post("/stations", { code: "AB", size: 1 })).status).toBe(201);
    expect((await service.post("/stations", { code: "AB", size: 2 })).status).toBe(201);
    expect(await service.post("/stations", { code: "AB", size: 1 })).toMatchObject(
      refused("code", "size"),
    );
  });

  test("the caller's own is updated by its owner, and nobody else's", async () => {
    const people = peopleOf(service, (await project.load("generated/identity.ts")).identitySpec);
    const tenant = await people.tenant();
    const [ann, bob] = [await people.member(tenant), await people.member(tenant)];
    const by = ["owner_id", "shelf"];
    const shelf = "top";
    const keep = (token: string, note: string): Promise<Answer> =>
      people.as(token, "POST", "/drafts/upsert", { by, document: { shelf, note } });
    const first = await keep(ann.token, "one");
    expect(first).toMatchObject({ status: 200, body: { created: true, data: { rev: 1 } } });
    const { id } = first.body.data;
    expect((await keep(ann.token, "two")).body).toMatchObject({
      created: false,
      data: { id, rev: 2, note: "two" },
    });
    expect((await keep(bob.token, "his")).body).toMatchObject({ created: true });
    const kept = await people.as(ann.token, "POST", "/keep_draft", { shelf, note: "three" });
    expect(kept).toMatchObject({ status: 200, body: { id, rev: 3 } });
    // Nobody who is signed in, nobody's own.
    const body = { by, document: { shelf } };
    const headers = { authorization: "" };
    for (let times = 0; times < 2; times += 1) {
      const answer = await service.call("POST", "/drafts/upsert", { body, headers });
      expect(answer.body).toMatchObject({ created: true });
    }
  });

  test("a handler that is refused goes on in its transaction", async () => {
    const names = [];
    for (let at = 0; at < 3; at += 1)
      names.push((await service.post("/register", { username: "bob" })).body);
    expect(names).toEqual([
      { username: "bob", tries: 1 },
      { username: "bob2", tries: 2 },
      { username: "bob3", tries: 3 },
    ]);
  });

  test("a handler updates what is there, or creates it, whoever else does so", async () => {
    const keep = (note: string): Promise<Answer> =>
      service.post("/keep", { username: "kept", note });
    const answers = await Promise.all(Array.from({ length: 20 }, (_one, at) => keep(`note ${at}`)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers.map(({ body }) => body.rev).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_one, at) => at + 1),
    );
    const again = await keep("last");
    const stored = (await service.call("GET", `/accounts/${again.body.id}`)).body;
    expect(stored).toMatchObject({ username: "kept", note: "last", rev: 21 });
  });

  test("a text that no index holds is refused or stored, and never a fault of the service", async () => {
    const letters = Array.from({ length: 8_000 }, () =>
      String.fromCodePoint(97 + Math.floor(Math.random() * 26)),
    );
    expect([201, 422]).toContain((await account({ username: letters.join("") })).status);
  });

  test("duplicates that are stored already are reported before anything is changed", async () => {
    const notes = (more: string): Readonly<Record<string, string>> => ({
      "registry/service.yaml": `${head}documents:\n  notes: {type: {title: string, size: integer?}, guard: open, tenant: false${more}}\n`,
    });
    const { url, same, drop } = await sharedDatabase(engine);
    const before = await testProject(notes(""));
    const after = await testProject(notes(", unique: [[title, size]], indexes: [[size]]"), before);
    try {
      const old = await before.start(same);
      const sizes = [1, 1, 1, 2, null, null];
      const made = [];
      for (const size of sizes) made.push((await old.post("/notes", { title: "same", size })).body);
      const target = await openDatabase(url, { log: silentLog });
      const steps = await planMigrations(target, join(after.root, "generated"));
      await target.close();
      expect([isHeldUp(steps), planText(steps)]).toEqual([
        true,
        expect.stringContaining(
          '-- cannot make notes_unique_title_size (3 rows with title "same", size 1)\n',
        ),
      ]);
      const fault = await after.start(same).catch((error: unknown) => error);
      expect(fault).toMatchObject({ code: "core.configuration" });
      expect(((fault as Error).cause as Error).message).toBe(
        "migration 0002_notes.sql has changed nothing, since it cannot make notes_unique_title_size " +
          '(3 rows with title "same", size 1)',
      );
      for (const { id } of made.slice(1, 3))
        expect((await old.call("DELETE", `/notes/${id}?rev=1`)).status).toBe(204);
      const next = await after.start(same);
      expect(await next.post("/notes", { title: "same", size: 2 })).toMatchObject(
        refused("title", "size"),
      );
      // The version before goes on, and is held to it too: it cannot say by what.
      expect(await old.post("/notes", { title: "same", size: 2 })).toMatchObject({
        status: 409,
        body: { code: "core.conflict" },
      });
      expect((await old.post("/notes", { title: "same", size: 3 })).status).toBe(201);
      await Promise.all([old.stop(), next.stop()]);
    } finally {
      for (const version of [before, after]) version.remove();
      await drop();
    }
  });
});
