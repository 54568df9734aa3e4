// Scopes follow the document: whatever an operation is called, handlers see of documents what their own guard leaves, and
// only the policy that has a scope says who is above it (decisions.md "Scopes", attacks 131 and 153).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member, type People, type Somebody } from "../../support/people.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies:
  open: []
  member: [principal, tenant]
  mine: [principal, tenant, {scope: own_rows}]
  overseen: [principal, tenant, {scope: own_rows, override: ["{resource}.audit"]}]
  of_teams: [principal, tenant, {scope: of_teams}]
scopes: {of_teams: registry/scopes.ts#ofTeams}
documents:
  letters: {type: {text: string}, guard: mine, unique: [[text]], upsert: true, history: {revisions: true}, views: {card: {fields: [id], guard: member}}}
  tags: {type: {text: string, letter: {ref: letters, view: card}}, guard: member}
  folders: {type: {name: string, letter: {ref: letters?}}, guard: mine}
  notes: {type: {text: string, letter: {ref: letters?}}, guard: member, soft_delete: true, bulk: {max: 10}}
  diaries: {type: {text: string}, guard: overseen}
  boards: {type: {text: string}, guard: {read: member, write: mine}, soft_delete: true, bulk: {max: 10}}
  teams: {type: {name: string, who: uuid}, guard: of_teams}
operations:
  letters.read: {post: /letters/read, in: {id: uuid}, out: {text: string}, run: registry/handlers.ts#read, guard: mine}
  folders.read: {post: /folders/read, in: {id: uuid}, out: {text: string}, run: registry/handlers.ts#read, guard: mine}
  post.read: {post: /post/read, in: {id: uuid}, out: {text: string}, run: registry/handlers.ts#read, guard: member}
  post.open: {post: /post/open, in: {id: uuid}, out: {text: string}, run: registry/handlers.ts#read, guard: open}
  post.every: {post: /post/every, in: {id: uuid}, out: {text: string}, run: registry/handlers.ts#every, guard: member}
  post.count:
    post: /post/count
    out: {counted: integer, found: integer, paged: integer, grouped: integer, selected: integer, listed: integer}
    run: registry/handlers.ts#count
    guard: member
  post.expand:
    post: /post/expand
    in: {id: uuid}
    out: {text: string?}
    run: registry/handlers.ts#expand
    guard: member
  post.write:
    post: /post/write
    in: {id: uuid, how: string}
    run: registry/handlers.ts#write
    guard: member
  post.note: {post: /post/note, in: {letter: uuid, how: string}, run: registry/handlers.ts#note, guard: member}
  post.rename: {post: /post/rename, in: {id: uuid}, run: registry/handlers.ts#rename, guard: member}
  post.teams: {post: /post/teams, out: {names: "string[]"}, run: registry/handlers.ts#teams, guard: member}
`,
  "registry/scopes.ts": `import { collection } from "opwright/runtime";
import { teamsSpec } from "../generated/documents/teams.js";
// Reads the documents that it is the scope of.
export const ofTeams = async ({ identity }, context) => {
  const mine = await collection(teamsSpec, context).find({ filters: { $values: { who: identity.principalId } } });
  return { $values: { name: { $in: ["none", ...mine.map(({ name }) => name)] } } };
};
`,
  "registry/handlers.ts": `import { collection, column, sql, unscoped } from "opwright/runtime";
import { boardsSpec } from "../generated/documents/boards.js";
import { foldersSpec } from "../generated/documents/folders.js";
import { lettersSpec } from "../generated/documents/letters.js";
import { notesSpec } from "../generated/documents/notes.js";
import { teamsSpec } from "../generated/documents/teams.js";
export const read = async ({ id }, context) => {
  const { text } = await collection(lettersSpec, context).get(id);
  return { text };
};
export const every = async ({ id }, context) => {
  const { text } = await collection(unscoped(lettersSpec), context).get(id);
  return { text };
};
export const count = async (_input, context) => {
  const letters = collection(lettersSpec, context);
  const found = await letters.find();
  const { count: paged } = await letters.page({ size: 1 });
  const { hits } = await letters.cursor({ size: 100 });
  const groups = await letters.aggregate({ aggregates: { $computed: { n: { $count: {} } } } });
  const rows = await sql(context, { n: "integer" })\`SELECT count(*) AS n FROM \${lettersSpec} AS letters\`;
  return {
    counted: await letters.count(),
    found: found.length,
    paged,
    grouped: groups.hits[0]?.n ?? 0,
    selected: rows[0]?.n ?? 0,
    listed: hits.length,
  };
};
export const expand = async ({ id }, context) => {
  const folder = await collection(unscoped(foldersSpec), context).get(id, { expand: ["letter"] });
  return { text: folder.expanded?.letter?.text ?? null };
};
export const write = async ({ id, how }, context) => {
  const boards = collection(boardsSpec, context);
  const ways = {
    update: () => boards.update(id, "any", { text: "written" }),
    updateMany: () => boards.updateMany([{ id, rev: "any", patch: { text: "written" } }]),
    delete: () => boards.delete(id, "any"),
    deleteMany: () => boards.deleteMany([{ id, rev: "any" }]),
    restore: () => boards.restore(id, "any"),
    kill: () => boards.kill(id),
    upsert: () => collection(lettersSpec, context).upsert(["text"], { text: "taken" }),
    revert: () => collection(lettersSpec, context).revert(id, "any", 1),
  };
  await ways[how]();
};
export const note = async ({ letter, how }, context) => {
  const spec = how === "unscoped" ? unscoped(notesSpec) : notesSpec;
  await collection(spec, context).create({ text: how, letter });
};
export const rename = async ({ id }, context) => {
  await collection(teamsSpec, context).update(id, "any", { who: context.identity.principalId });
};
export const teams = async (_input, context) => ({
  names: (await collection(teamsSpec, context).find()).map(({ name }) => name),
});
`,
};

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project.remove());

describe.each(engines.filter(({ isAvailable }) => isAvailable))("on $name", (engine) => {
  let service: TestService;
  let people: People;
  let ada: Member;
  let bob: Somebody;
  beforeAll(async () => {
    service = await project.start(engine);
    const { identitySpec } = await project.load("generated/identity.ts");
    people = peopleOf(service, identitySpec);
    ada = await people.member("");
    bob = people.by((await people.member(ada.tenantId)).token);
  });
  afterAll(() => service.stop());

  test("the name of an operation doesn't decide whose documents its handler reads", async () => {
    const own = people.by(ada.token);
    const id = await own.make("letters", { text: "dear diary" });
    for (const path of ["/letters/read", "/folders/read", "/post/read"]) {
      expect((await own.call("POST", path, { id })).body, path).toEqual({ text: "dear diary" });
      expect((await bob.call("POST", path, { id })).status, path).toBe(404);
    }
    expect((await bob.call("POST", "/post/every", { id })).body).toEqual({ text: "dear diary" });
  });

  test("nobody names what the scope of another document hides", async () => {
    const own = people.by(ada.token);
    const letter = await own.make("letters", { text: "to nobody" });
    const mine = await bob.make("letters", { text: "of bob" });
    const note = (id: string) => ({ text: "see", letter: id });
    const faults = [{ path: "/letter", keyword: "ref", message: "names none of the letters" }];
    const refused = await bob.call("POST", "/notes", note(letter));
    expect([refused.status, refused.body.context.errors]).toEqual([422, faults]);
    const id = await bob.make("notes", note(mine));
    expect((await bob.call("PATCH", `/notes/${id}?rev=1`, { letter })).status).toBe(422);
    const many = { items: [note(letter), note(mine)] };
    const { outcomes } = (await bob.call("POST", "/notes/create_many", many)).body;
    expect(outcomes[0].error.context.errors).toEqual(faults);
    expect(outcomes[1].document.letter).toBe(mine);
    expect((await bob.call("POST", "/post/note", { letter, how: "plain" })).status).toBe(422);
    expect((await bob.call("POST", "/post/note", { letter, how: "unscoped" })).status).toBe(204);
    // Whom a view shows a document may name it.
    expect((await bob.call("POST", "/tags", note(letter))).status).toBe(201);
    // What it names already stays named, whoever restores it.
    expect((await own.call("POST", `/notes/${id}/delete?rev=1`)).status).toBe(200);
    expect((await own.call("POST", `/notes/${id}/restore?rev=2`)).status).toBe(200);
  });

  test("whoever isn't signed in sees nothing of documents whose guard has a scope", async () => {
    const id = await people.by(ada.token).make("letters", { text: "closed" });
    const body = JSON.stringify({ id });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${service.url}/post/open`, { method: "POST", headers, body });
    expect([answer.status, answer.headers.get("x-error-code")]).toEqual([
      401,
      "core.authentication",
    ]);
  });

  test("every way to read documents has the same scope", async () => {
    const caller = people.by((await people.member(ada.tenantId)).token);
    const none = (await caller.call("POST", "/post/count")).body;
    expect(Object.values(none)).toEqual([0, 0, 0, 0, 0, 0]);
    await caller.make("letters", { text: "only one" });
    const one = (await caller.call("POST", "/post/count")).body;
    expect(Object.values(one)).toEqual([1, 1, 1, 1, 1, 1]);
  });

  test("what comes along with an unscoped document keeps its own scope", async () => {
    const own = people.by(ada.token);
    const letter = await own.make("letters", { text: "enclosed" });
    const id = await own.make("folders", { name: "f", letter });
    expect((await own.call("POST", "/post/expand", { id })).body).toEqual({ text: "enclosed" });
    expect((await bob.call("POST", "/post/expand", { id })).body).toEqual({ text: null });
  });

  test("writes keep to the scope of what they do, reads to that of reading", async () => {
    const own = people.by(ada.token);
    const id = await own.make("boards", { text: "for all" });
    expect((await bob.call("GET", `/boards/${id}`)).status).toBe(200);
    for (const how of ["update", "delete", "kill"])
      expect((await bob.call("POST", "/post/write", { id, how })).status, how).toBe(404);
    for (const how of ["updateMany", "deleteMany"])
      expect((await bob.call("POST", "/post/write", { id, how })).status, how).toBe(409);
    await own.call("POST", "/post/write", { id, how: "delete" });
    expect((await bob.call("POST", "/post/write", { id, how: "restore" })).status).toBe(404);
    for (const how of ["restore", "updateMany", "kill"])
      expect((await own.call("POST", "/post/write", { id, how })).status, how).toBe(204);
    // What somebody else has under a unique name can be neither seen nor taken over.
    await own.make("letters", { text: "taken" });
    const taken = await bob.call("POST", "/post/write", { id, how: "upsert" });
    expect([taken.status, taken.body.code]).toEqual([409, "unique_violation"]);
    const letter = await own.make("letters", { text: "past" });
    expect((await bob.call("POST", "/post/write", { id: letter, how: "revert" })).status).toBe(404);
  });

  test("a scope may read the documents that it is the scope of", async () => {
    const { token, id: who } = await people.member("");
    const caller = people.by(token);
    const id = await caller.make("teams", { name: "none", who });
    expect((await caller.call("POST", "/post/rename", { id })).status).toBe(204);
    expect((await caller.call("POST", "/post/teams")).body.names).toEqual(["none"]);
  });

  test("permissions lift a scope only where its policy says so", async () => {
    const own = people.by(ada.token);
    const letter = await own.make("letters", { text: "private" });
    const diary = await own.make("diaries", { text: "audited" });
    const above = ["admin", "letters.admin", "diaries.admin"];
    const admin = people.by((await people.member(ada.tenantId, ...above)).token);
    expect((await admin.call("GET", `/letters/${letter}`)).status).toBe(404);
    expect((await admin.call("GET", `/diaries/${diary}`)).status).toBe(404);
    const auditor = people.by((await people.member(ada.tenantId, "diaries.audit")).token);
    expect((await auditor.call("GET", `/diaries/${diary}`)).status).toBe(200);
    expect((await auditor.call("GET", `/letters/${letter}`)).status).toBe(404);
  });
});
