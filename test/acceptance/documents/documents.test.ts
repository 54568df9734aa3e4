// Documents over HTTP: create, read, update, delete, restore, kill, merge (service.md "Document routes", decisions.md §1).
import { expect, test } from "vitest";
import { onEachEngine, reference } from "../../support/on-each-engine.js";
import type { Answer } from "../../support/service.js";

const uuidv7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const project = "01890000-0000-7000-8000-000000000001";

onEachEngine(reference, ({ service }) => {
  const create = async (fields: object = {}): Promise<Answer["body"]> =>
    (await service.post("/tasks", { title: "t", project, ...fields })).body;
  const patch = (id: string, rev: number, body: object) =>
    service.call("PATCH", `/tasks/${id}?rev=${rev}`, { body });

  test("a task is created with defaults, base fields and a strong entity tag", async () => {
    const { status, headers, body } = await service.post("/tasks", {
      title: "Land",
      project: project.toUpperCase(),
      due: "2026-12-01T00:00:00.5+02:00",
    });
    expect(status).toBe(201);
    expect(headers.get("etag")).toBe('"1"');
    expect(body.id).toMatch(uuidv7);
    expect(body).toEqual({
      id: body.id,
      rev: 1,
      created_at: body.last_update_at,
      last_update_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      is_deleted: false,
      title: "Land",
      project,
      due: "2026-11-30T22:00:00.500Z",
      state: "open",
      labels: [],
      assignee: null,
      estimate: null,
    });
    expect((await service.call("GET", `/tasks/${body.id}`)).body).toEqual(body);
  });

  test("the root of a mount answers with and without its slash", async () => {
    expect((await service.post("/tasks/", { title: "t", project })).status).toBe(201);
    expect((await service.post("/tasks//", { title: "t", project })).status).not.toBe(201);
  });

  test("a conditional read is 304 while the revision stands", async () => {
    const { id } = await create();
    const headers = { "if-none-match": '"1"' };
    const unchanged = await service.call("GET", `/tasks/${id}`, { headers });
    expect([unchanged.status, unchanged.headers.get("etag"), unchanged.body]).toEqual([
      304,
      '"1"',
      undefined,
    ]);
    await patch(id, 1, { title: "new" });
    expect((await service.call("GET", `/tasks/${id}`, { headers })).status).toBe(200);
  });

  test("HEAD answers as GET does, without the body", async () => {
    const { id } = await create();
    const [head, get] = [
      await service.call("HEAD", `/tasks/${id}`),
      await service.call("GET", `/tasks/${id}`),
    ];
    expect([head.status, head.headers.get("etag"), head.body]).toEqual([200, '"1"', undefined]);
    expect(head.headers.get("content-length")).toBe(get.headers.get("content-length"));
  });

  test("an update answers the document and what changed; an empty change keeps the revision", async () => {
    const { id } = await create();
    const updated = await patch(id, 1, { title: "new", state: "open" });
    expect([updated.status, updated.body.data.rev, updated.body.diff]).toEqual([
      200,
      2,
      { title: "new" },
    ]);
    const same = await patch(id, 2, { title: "new" });
    expect([same.body.data.rev, same.body.diff]).toEqual([2, {}]);
  });

  test("null sets a nullable field and is refused for another", async () => {
    const { id } = await create({ estimate: 3 });
    const updated = await patch(id, 1, { estimate: null });
    expect(updated.body.data.estimate).toBeNull();
    const refused = await patch(id, 2, { title: null });
    expect([refused.status, refused.body.context.errors[0].path]).toEqual([422, "/title"]);
  });

  test("disjoint edits of one revision merge, overlapping ones are refused by field", async () => {
    const { id } = await create();
    await patch(id, 1, { title: "theirs" });
    const merged = await patch(id, 1, { estimate: 5 });
    expect(merged.body.data).toMatchObject({ rev: 3, title: "theirs", estimate: 5 });
    const refused = await patch(id, 1, { title: "mine" });
    expect([refused.status, refused.body.code, refused.body.context]).toEqual([
      409,
      "historical_consistency_violation",
      { fields: ["title"] },
    ]);
    const agreed = await patch(id, 1, { title: "theirs" });
    expect(agreed.body.data.rev).toBe(3);
  });

  test("a revision from the future is a mismatch", async () => {
    const { id } = await create();
    const refused = await patch(id, 9, { title: "x" });
    expect([refused.status, refused.body.code, refused.body.context]).toEqual([
      409,
      "revision_mismatch",
      { current_rev: 1 },
    ]);
  });

  test("a handler's revision that never was is a mismatch", async () => {
    const { id } = await create();
    for (const rev of [0, -1, -9007199254740991, 9007199254740991]) {
      const { status, body } = await service.post(`/tasks/${id}/complete`, { rev });
      expect([rev, status, body.code]).toEqual([rev, 409, "revision_mismatch"]);
    }
  });

  test("without history a stale revision is a mismatch", async () => {
    const { body } = await service.post("/notes/create", { text: "n" });
    const at = `/notes/update?id=${body.id}&rev=1`;
    await service.call("PATCH", at, { body: { text: "m" } });
    const refused = await service.call("PATCH", at, { body: { pinned: true } });
    expect([refused.status, refused.body.code, refused.body.context]).toEqual([
      409,
      "revision_mismatch",
      { current_rev: 2 },
    ]);
  });

  test("the revision may come as If-Match; it must come, and must agree", async () => {
    const { id } = await create();
    const call = (query: string, ifMatch?: string) =>
      service.call("PATCH", `/tasks/${id}${query}`, {
        body: { title: `t${query}${ifMatch}` },
        headers: ifMatch === undefined ? {} : { "if-match": ifMatch },
      });
    expect([(await call("")).status, (await call("")).body.code]).toEqual([
      428,
      "revision_required",
    ]);
    expect((await call("", '"1"')).status).toBe(200);
    expect((await call("?rev=2", '"2"')).status).toBe(200);
    expect((await call("", "*")).status).toBe(200);
    expect((await call("?rev=4", '"3"')).body.code).toBe("revision_ambiguous");
  });

  test("a deleted task is hidden, cannot be edited, and comes back", async () => {
    const { id } = await create();
    const deleted = await service.call("POST", `/tasks/${id}/delete?rev=1`);
    expect([deleted.status, deleted.body.is_deleted, deleted.body.rev]).toEqual([200, true, 2]);
    expect((await service.call("GET", `/tasks/${id}`)).status).toBe(404);
    expect((await patch(id, 2, { title: "x" })).body.code).toBe("document_deleted");
    expect((await service.call("POST", `/tasks/${id}/delete?rev=2`)).body.code).toBe(
      "document_deleted",
    );
    const stale = await service.call("POST", `/tasks/${id}/restore?rev=1`);
    expect([stale.status, stale.body.code]).toEqual([409, "revision_mismatch"]);
    const restored = await service.call("POST", `/tasks/${id}/restore?rev=2`);
    expect([restored.body.is_deleted, restored.body.rev]).toEqual([false, 3]);
    expect((await service.call("GET", `/tasks/${id}`)).status).toBe(200);
  });

  test("killing removes for good, at a revision where one is given", async () => {
    const { id } = await create();
    expect((await service.call("DELETE", `/tasks/${id}?rev=2`)).body.code).toBe(
      "revision_mismatch",
    );
    const killed = await service.call("DELETE", `/tasks/${id}`);
    expect([killed.status, killed.body]).toEqual([204, undefined]);
    expect((await service.call("DELETE", `/tasks/${id}`)).status).toBe(404);
    expect((await service.call("POST", `/tasks/${id}/restore?rev=1`)).status).toBe(404);
  });

  test("the rpc style carries the id in the query", async () => {
    const { status, body } = await service.post("/notes/create", { text: "n" });
    expect([status, body.pinned]).toEqual([201, false]);
    expect((await service.call("GET", `/notes/get?id=${body.id}`)).body).toEqual(body);
    const updated = await service.call("PATCH", `/notes/update?id=${body.id}&rev=1`, {
      body: { pinned: true },
    });
    expect(updated.body.data.pinned).toBe(true);
    expect((await service.call("DELETE", `/notes/kill?id=${body.id}`)).status).toBe(204);
  });

  test("a read-only document has no writing routes", async () => {
    const refused = await service.post("/places", { name: "x" });
    expect(refused.status).toBe(404);
    expect((await service.post("/places/list", {})).body).toEqual({
      hits: [],
      page: 1,
      size: 10,
      count: 0,
    });
  });

  test("base fields, the tenant and undeclared fields are refused, not dropped", async () => {
    for (const field of [
      "id",
      "rev",
      "created_at",
      "tenant_id",
      "is_deleted",
      "state",
      "colour",
      "__proto__",
      "constructor",
      "toString",
    ]) {
      const refused = await service.call("POST", "/tasks", {
        body: `{"title":"t","project":"${project}",${JSON.stringify(field)}:1}`,
      });
      expect([field, refused.status, refused.body.code]).toEqual([field, 422, "core.validation"]);
      expect(refused.body.context.errors).toContainEqual({
        path: `/${field}`,
        keyword: "additionalProperties",
        message: "must NOT have additional properties",
      });
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test("all faults of a payload are reported at once, without its values", async () => {
    const refused = await service.post("/tasks", {
      title: "",
      project: "secret-value",
      labels: [1],
    });
    expect(refused.status).toBe(422);
    expect(refused.body.context.errors.map(({ path }: { path: string }) => path).sort()).toEqual([
      "/labels/0",
      "/project",
      "/title",
    ]);
    expect(JSON.stringify(refused.body)).not.toContain("secret-value");
  });

  test("a custom operation runs its hooks and its handler in one transaction", async () => {
    const { body: archived } = await service.post("/projects", {
      name: "Old",
      key: "OLD",
      archived: true,
    });
    const blocked = await create({ project: archived.id });
    const refused = await service.post(`/tasks/${blocked.id}/complete`, { rev: 1 });
    expect([refused.status, refused.body.code, refused.body.context]).toEqual([
      400,
      "core.domain",
      { reason: "the project is archived" },
    ]);
    const { id } = await create();
    const done = await service.post(`/tasks/${id}/complete`, { rev: 1, note: "well" });
    expect([done.status, done.body.state, done.body.rev]).toEqual([200, "done", 2]);
    expect((await service.post(`/tasks/${id}/complete`, { rev: 2, id })).status).toBe(422);
  });

  test("of 50 parallel patches of one field at one revision one wins", async () => {
    const { id } = await create();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => patch(id, 1, { title: `w${index}` })),
    );
    const codes = answers.map(({ status, body }) => (status === 200 ? "won" : body.code)).sort();
    expect(codes).toEqual([
      ...Array.from({ length: 49 }, () => "historical_consistency_violation"),
      "won",
    ]);
  });

  test("delete against update, and restore against kill: one order or the other, never both halves", async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await create();
      const [deleted, updated] = await Promise.all([
        service.call("POST", `/tasks/${id}/delete?rev=1`),
        patch(id, 1, { title: "x" }),
      ]);
      const wins = [deleted.status, updated.status].filter((status) => status === 200).length;
      expect(wins).toBe(1);
      if (deleted.status !== 200) continue;
      await Promise.all([
        service.call("POST", `/tasks/${id}/restore?rev=2`),
        service.call("DELETE", `/tasks/${id}`),
      ]);
      expect((await service.call("GET", `/tasks/${id}`)).status).toBe(404);
    }
  });
});
