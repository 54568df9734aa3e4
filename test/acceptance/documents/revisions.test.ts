// History that can be seen: revisions are listed, read, compared and gone back to; what is deleted is read by permission, and
// goes when its time has come.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { each, projects } from "../../../generated/client/index.js";
import { testService } from "../../../generated/testing.js";
import { engines, sharedDatabase } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { Answer } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: shop, title: Shop, version: 1.0.0}
identity:
  methods: [token, password]
  access_ttl: 1d
tenancy: {}
policies:
  reader: [principal, tenant, {authorize: shop.read}]
  writer: [principal, tenant, {authorize: shop.write}]
  own: [principal, tenant, {authorize: shop.read}, {scope: own_rows}]
  auditor: [principal, tenant, {authorize: shop.audit}]
types:
  Order:
    title: {type: string, maxLength: 40}
    note: string?
    labels: string[]
    customer: {ref: customers?, on_delete: set_null}
    agent: {ref: customers?, on_delete: set_null}
documents:
  customers: {type: {name: string}, guard: writer, soft_delete: true, retention: {deleted: 30d}}
  orders:
    type: Order
    update: [title, note, labels, customer]
    defaults: {labels: []}
    unique: [{fields: [title], where: not_deleted}]
    soft_delete: {read: auditor}
    history: {revisions: true}
    retention: {deleted: 90d, history: 50}
    bulk: {max: 10}
    guard: {read: reader, write: writer}
    emits: {update: order.changed, kill: order.gone}
  memos:
    type: {text: {type: string, maxLength: 5}, place: string}
    update: [text]
    history: {keep: 3}
    guard: own
    mount: false
  lines: {type: {order: {ref: orders}, count: integer}, guard: writer, soft_delete: true, retention: {deleted: 30d}}
  drafts:
    type: {text: string}
    history: {keep: 3, revisions: true}
    guard: own
operations:
  memos.act: {post: /memos/act, in: {type: object, additionalProperties: true}, out: {type: object, additionalProperties: true}, run: registry/pass.ts#act, guard: own}
search:
  order_search: {of: orders, text: [title], guard: reader, mount: {at: /search}}
realtime:
  events:
    order.changed: {data: Order, audience: [topic], delivery: ephemeral, to: "order:{title}"}
    order.gone: {data: Order, audience: [topic], delivery: ephemeral, to: "order:{title}"}
`,
  "registry/pass.ts": `import { collection } from "opwright/runtime";
import { linesSpec } from "../generated/documents/lines.js";
import { memosSpec } from "../generated/documents/memos.js";
import { ordersSpec } from "../generated/documents/orders.js";
const specs = { lines: linesSpec, memos: memosSpec, orders: ordersSpec };
export const act = async ({ of, call, given }, context) =>
  ({ got: await collection(specs[of], context)[call](...given) });
`,
};

const clerk = { permissions: ["shop.read", "shop.write"] };
const start = "2026-01-01T00:00:00.000Z";

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project.remove());

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    // oxlint-disable-next-line typescript/no-explicit-any -- its type is generated only now
    let app: any;
    beforeAll(async () => {
      const { testService } = await project.load("generated/testing.ts");
      const server = process.env["OPWRIGHT_TEST_POSTGRES"];
      app = await testService({
        clock: start,
        ...(engine.name === "postgres" ? { database: server } : {}),
      });
    });
    afterAll(() => app.close());

    /** Somebody who speaks HTTP. */
    const person = async (name: string, given: object = clerk) => {
      const client = await app.as(name, given);
      const { access_token: token } = client.tokens.get();
      const call = async (
        method: string,
        path: string,
        body?: unknown,
        headers: Readonly<Record<string, string>> = {},
      ): Promise<Answer> => {
        const response = await fetch(`${app.url}${path}`, {
          method,
          headers: {
            authorization: `Bearer ${token}`,
            ...(body === undefined ? {} : { "content-type": "application/json" }),
            ...headers,
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        const answered = text === "" ? undefined : JSON.parse(text);
        return { status: response.status, headers: response.headers, body: answered };
      };
      return { ...client, call, id: client.principalId };
    };
    /** An order of three revisions: its title and labels, then its note, then nothing. */
    const threeRevisions = async (title: string) => {
      const bob = await person("bob");
      const { body: made } = await bob.call("POST", "/orders", { title, labels: ["a"] });
      await app.clock.advance("1 hour");
      const patch = { title: `${title} two`, labels: ["a", "b"], note: "n" };
      await bob.call("PATCH", `/orders/${made.id}?rev=1`, patch);
      await app.clock.advance("1 hour");
      await bob.call("PATCH", `/orders/${made.id}?rev=2`, { note: null });
      return { bob, id: made.id as string, path: `/orders/${made.id}` };
    };
    const moment = (hours: number): string =>
      new Date(app.clock.now().getTime() + hours * 3_600_000).toISOString();

    test("revisions are listed, the newest first, with when and by whom, page by page", async () => {
      const { bob, path } = await threeRevisions("listed");
      const { status, body } = await bob.call("GET", `${path}/revisions`);
      const entry = { changed_by: bob.id, is_deleted: false };
      expect([status, body]).toEqual([
        200,
        {
          hits: [
            { rev: 3, changed_at: moment(0), ...entry },
            { rev: 2, changed_at: moment(-1), ...entry },
            { rev: 1, changed_at: moment(-2), ...entry },
          ],
          next_cursor: null,
          has_more: false,
        },
      ]);
      const pages: number[][] = [];
      for (let after: string | null = ""; after !== null;) {
        const query: string = after === "" ? "size=1" : `size=1&after=${after}`;
        const { body: page } = await bob.call("GET", `${path}/revisions?${query}`);
        pages.push(page.hits.map(({ rev }: { rev: number }) => rev));
        after = page.next_cursor;
      }
      expect(pages).toEqual([[3], [2], [1]]);
      const other = await bob.call("POST", "/orders", { title: "another one" });
      const { body: first } = await bob.call("GET", `${path}/revisions?size=1`);
      const stolen = `/orders/${other.body.id}/revisions?after=${first.next_cursor}`;
      expect((await bob.call("GET", stolen)).body.code).toBe("invalid_cursor");
      expect(await bob.call("GET", `${path}/revisions?size=101`)).toMatchObject({
        status: 422,
        body: { code: "core.validation", context: { errors: [{ path: "/size" }] } },
      });
    });

    test("many at once leave as many revisions, told as those of one", async () => {
      const bob = await person("bob");
      const items = [{ title: "first of many" }, { title: "second of many" }];
      const { body: made } = await bob.call("POST", "/orders/create_many", { items });
      const ids = made.outcomes.map(({ document }: { document: { id: string } }) => document.id);
      const patches = ids.map((id: string) => ({ id, rev: 1, patch: { note: "n" } }));
      await bob.call("POST", "/orders/update_many", { items: patches });
      for (const id of ids) {
        const { body } = await bob.call("GET", `/orders/${id}/revisions`);
        const entry = { changed_at: moment(0), changed_by: bob.id, is_deleted: false };
        expect(body.hits).toEqual([
          { rev: 2, ...entry },
          { rev: 1, ...entry },
        ]);
      }
    });

    test("a revision is read as it was, and compared with another", async () => {
      const { bob, id, path } = await threeRevisions("read");
      const { body } = await bob.call("GET", `${path}/revisions/2`);
      expect(body).toEqual({
        changed_at: moment(-1),
        changed_by: bob.id,
        data: {
          id,
          rev: 2,
          created_at: moment(-2),
          last_update_at: moment(-1),
          is_deleted: false,
          title: "read two",
          labels: ["a", "b"],
          note: "n",
          customer: null,
          agent: null,
        },
      });
      expect((await bob.call("GET", `${path}/revisions/1/diff`)).body).toEqual({
        from: 1,
        to: 3,
        changes: [
          { path: "/title", from: "read", to: "read two" },
          { path: "/labels", from: ["a"], to: ["a", "b"] },
        ],
      });
      expect((await bob.call("GET", `${path}/revisions/3/diff?to=2`)).body.changes).toEqual([
        { path: "/note", from: null, to: "n" },
      ]);
      for (const gone of ["4", "0", "999999999999"])
        expect((await bob.call("GET", `${path}/revisions/${gone}`)).status).toBe(404);
    });

    test("going back is one revision more, by the rules of an update", async () => {
      const { bob, id, path } = await threeRevisions("back");
      const before = app.signals.length;
      const { status, body, headers } = await bob.call("POST", `${path}/revert?rev=3&to=1`);
      expect([status, headers.get("etag")]).toEqual([200, '"4"']);
      expect(body).toMatchObject({ id, rev: 4, title: "back", labels: ["a"], note: null });
      expect(app.signals.slice(before).map(({ name }: { name: string }) => name)).toEqual([
        "order.changed",
        // Its topic has its title: whoever heard the old one is told that it left, for each event.
        "realtime.removed",
        "realtime.removed",
      ]);
      const found = await bob.call("POST", "/search/typed", { query: "back" });
      expect(found.body.hits.map((hit: { title: string }) => hit.title)).toEqual(["back"]);
      const stale = await bob.call("POST", `${path}/revert?rev=3&to=2`);
      expect([stale.status, stale.body.code]).toEqual([409, "revision_mismatch"]);
      const unmet = await bob.call("POST", `${path}/revert?to=2`, undefined, { "if-match": '"3"' });
      expect([unmet.status, unmet.body.code]).toEqual([412, "precondition_failed"]);
      expect((await bob.call("POST", `${path}/revert?to=2`)).status).toBe(428);
      expect((await bob.call("POST", `${path}/revert?rev=4&to=9`)).status).toBe(404);
      // What is as it was stays the revision that it is.
      expect((await bob.call("POST", `${path}/revert?rev=4&to=1`)).body.rev).toBe(4);
      const met = await bob.call("POST", `${path}/revert?to=2`, undefined, { "if-match": '"4"' });
      expect(met.body).toMatchObject({ rev: 5, note: "n" });
    });

    test("a revert does not bring back taken values or missing targets", async () => {
      const { bob, path } = await threeRevisions("taken");
      const { body: taker } = await bob.call("POST", "/orders", { title: "taken" });
      const refused = await bob.call("POST", `${path}/revert?rev=3&to=1`);
      expect([refused.status, refused.body.code]).toEqual([409, "unique_violation"]);
      const { body: ann } = await bob.call("POST", "/customers", { name: "Ann" });
      const { body: bea } = await bob.call("POST", "/customers", { name: "Bea" });
      const { body: order } = await bob.call("POST", "/orders", {
        title: "with a customer",
        customer: ann.id,
        agent: bea.id,
      });
      await bob.call("DELETE", `/customers/${bea.id}`);
      await bob.call("POST", `/customers/${ann.id}/delete?rev=1`);
      const { body: cleared } = await bob.call("GET", `/orders/${order.id}`);
      expect(cleared).toMatchObject({ customer: null, agent: null });
      const gone = await bob.call("POST", `/orders/${order.id}/revert?rev=${cleared.rev}&to=1`);
      expect([gone.status, gone.body.context.errors]).toMatchObject([
        422,
        [{ path: "/customer", keyword: "ref" }],
      ]);
      await bob.call("POST", `/customers/${ann.id}/restore?rev=2`);
      const patch = { customer: null };
      const freed = await bob.call("PATCH", `/orders/${order.id}?rev=${cleared.rev + 1}`, patch);
      const back = await bob.call("POST", `/orders/${order.id}/revert?rev=${cleared.rev + 2}&to=1`);
      expect(freed.body).toMatchObject({ data: { customer: null } });
      // A patch cannot set the agent, and so neither can this.
      expect(back.body).toMatchObject({ customer: ann.id, agent: null });
      await bob.call("DELETE", `/orders/${taker.id}`);
    });

    test("callers who may not read a document today read no revision of it", async () => {
      const { bob, id, path } = await threeRevisions("seen");
      const eve = await person("eve", { ...clerk, tenant: "elsewhere" });
      const writer = await person("writer", { permissions: ["shop.write"] });
      const reader = await person("reader", { permissions: ["shop.read"] });
      const asked = ["revisions", "revisions/1", "revisions/1/diff"].map((one) => `${path}/${one}`);
      const statuses = async (who: { readonly call: typeof bob.call }) =>
        Promise.all(asked.map(async (one) => (await who.call("GET", one)).status));
      expect(await statuses(eve)).toEqual([404, 404, 404]);
      expect(await statuses(writer)).toEqual([403, 403, 403]);
      expect(await statuses(reader)).toEqual([200, 200, 200]);
      expect((await eve.call("POST", `${path}/revert?rev=3&to=1`)).status).toBe(404);
      expect((await reader.call("POST", `${path}/revert?rev=3&to=1`)).status).toBe(403);
      await bob.call("POST", `${path}/delete?rev=3`);
      expect(await statuses(bob)).toEqual([404, 404, 404]);
      const refused = await bob.call("POST", `${path}/revert?rev=4&to=1`);
      expect([refused.status, refused.body.code]).toEqual([400, "document_deleted"]);
      await bob.call("POST", `${path}/restore?rev=4`);
      const { body } = await bob.call("GET", `/orders/${id}/revisions?size=3`);
      expect(body.hits.map((hit: { is_deleted: boolean }) => hit.is_deleted)).toEqual([
        false,
        true,
        false,
      ]);
    });

    test("the scope of the caller is that of revisions, and as many are kept as is said", async () => {
      const [mine, other] = [await person("mine"), await person("other")];
      const { body } = await mine.call("POST", "/drafts", { text: "1" });
      for (let rev = 1; rev < 6; rev += 1)
        await mine.call("PATCH", `/drafts/${body.id}?rev=${rev}`, { text: `${rev + 1}` });
      const { body: page } = await mine.call("GET", `/drafts/${body.id}/revisions`);
      expect(page.hits.map((hit: { rev: number }) => hit.rev)).toEqual([6, 5, 4]);
      expect((await mine.call("GET", `/drafts/${body.id}/revisions/3`)).status).toBe(404);
      expect((await other.call("GET", `/drafts/${body.id}/revisions/6`)).status).toBe(404);
      expect((await other.call("POST", `/drafts/${body.id}/revert?rev=6&to=5`)).status).toBe(404);
    });

    test("handlers read and go back as callers do", async () => {
      const { bob, id, path } = await threeRevisions("handled");
      const act = async (who: typeof bob, of: string, call: string, ...given: unknown[]) => {
        const { status, body } = await who.call("POST", "/memos/act", { of, call, given });
        return status === 200 ? body.got : [status, body.code];
      };
      const routes = async (rest: string) => (await bob.call("GET", `${path}/${rest}`)).body;
      expect(await act(bob, "orders", "revisions", id)).toEqual(await routes("revisions"));
      const first = await act(bob, "orders", "revisions", id, { size: 2 });
      const rest = await act(bob, "orders", "revisions", id, { after: first.next_cursor });
      expect([...first.hits, ...rest.hits].map(({ rev }) => rev)).toEqual([3, 2, 1]);
      expect(await act(bob, "orders", "revision", id, 2)).toEqual(await routes("revisions/2"));
      expect(await act(bob, "orders", "revisionDiff", id, 1)).toEqual(
        await routes("revisions/1/diff"),
      );
      expect(await act(bob, "orders", "revision", id, 9)).toEqual([404, "core.not_found"]);
      const before = app.signals.length;
      const back = await act(bob, "orders", "revert", id, 3, 1);
      expect(back).toEqual((await bob.call("GET", path)).body);
      expect([back.rev, back.title, app.signals.length - before]).toEqual([4, "handled", 3]);
      expect(await act(bob, "orders", "revert", id, 3, 1)).toEqual([409, "revision_mismatch"]);
      expect(await act(bob, "lines", "revisions", id)).toEqual([500, "core.internal"]);

      // Without routes over revisions, all that is kept can be read, and what no patch has stays.
      const memo = await act(bob, "memos", "create", { text: "one", place: "here" });
      await act(bob, "memos", "update", memo.id, 1, { text: "two" });
      const other = await person("other");
      expect(await act(other, "memos", "revisions", memo.id)).toEqual([404, "core.not_found"]);
      expect(await act(other, "memos", "revert", memo.id, 2, 1)).toEqual([404, "core.not_found"]);
      expect(await act(bob, "memos", "revert", memo.id, "any", 1)).toMatchObject({
        rev: 3,
        text: "one",
        place: "here",
      });
    });

    test("deleted documents are read by those who may, within the tenant", async () => {
      const { bob, id, path } = await threeRevisions("dropped");
      await bob.call("POST", `${path}/delete?rev=3`);
      const auditor = await person("auditor", { permissions: ["shop.audit"] });
      const elsewhere = await person("eve", { permissions: ["shop.audit"], tenant: "elsewhere" });
      const one = await auditor.call("GET", `${path}/deleted`);
      expect([one.status, one.body.is_deleted, one.headers.get("etag")]).toEqual([
        200,
        true,
        '"4"',
      ]);
      expect((await bob.call("GET", `${path}/deleted`)).status).toBe(403);
      expect((await elsewhere.call("GET", `${path}/deleted`)).status).toBe(404);
      const filters = { $values: { title: "dropped two" } };
      const listed = await auditor.call("POST", "/orders/list_deleted", { filters });
      expect(listed.body.hits.map((hit: { id: string }) => hit.id)).toEqual([id]);
      expect((await bob.call("POST", "/orders/list_deleted", {})).status).toBe(403);
      const asked = await auditor.call("POST", "/orders/list_deleted", { with_deleted: true });
      expect(asked.status).toBe(422);
      await bob.call("POST", `${path}/restore?rev=4`);
      expect((await auditor.call("GET", `${path}/deleted`)).status).toBe(404);
      expect((await auditor.call("POST", "/orders/list_deleted", { filters })).body.hits).toEqual(
        [],
      );
    });

    test("documents deleted long ago are removed for good, with their revisions", async () => {
      const { bob, path } = await threeRevisions("old");
      const { path: younger, id: youngerId } = await threeRevisions("young");
      const line = await bob.call("POST", "/lines", {
        order: path.replace("/orders/", ""),
        count: 1,
      });
      await bob.call("POST", `/lines/${line.body.id}/delete?rev=1`);
      await bob.call("POST", `${path}/delete?rev=3`);
      await app.clock.advance("60 days");
      const later = await person("bob");
      await later.call("POST", `${younger}/delete?rev=3`);
      const before = app.signals.length;
      await app.clock.advance("31 days");
      const again = await person("auditor", { permissions: ["shop.audit"] });
      expect((await again.call("GET", `${path}/deleted`)).status).toBe(404);
      expect((await again.call("GET", `${younger}/deleted`)).body.id).toBe(youngerId);
      expect(
        app.signals
          .slice(before)
          .map(({ name, data }: { name: string; data: { title: string } }) => [name, data.title]),
      ).toEqual([["order.gone", "old two"]]);
      const back = await (await person("bob")).call("POST", `${path}/restore?rev=4`);
      expect(back.status).toBe(404);
    });
  });
}

describe.each(engines)("versions on $name", (engine) => {
  test.skipIf(!engine.isAvailable)(
    "older revisions have the shape of today, go back by the rules of today, and are as many as are kept today",
    async () => {
      const versionOf = (type: string, more: string): Readonly<Record<string, string>> => ({
        "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  notes: {type: ${type}, guard: open, ${more}}
`,
      });
      const renamed =
        "{title: {type: string, was: text, maxLength: 5}, size: integer?, state: [open, done]}";
      const shown = "defaults: {state: open}, history: {revisions: true}";
      const first = await testProject(versionOf("{text: string, size: integer?}", "history: true"));
      const second = await testProject(versionOf(renamed, shown), first);
      const third = await testProject(
        versionOf(renamed, `${shown}, retention: {history: 2}`),
        second,
      );
      const { same, drop } = await sharedDatabase(engine);
      try {
        const old = await first.start(same);
        const { body: note } = await old.post("/notes", { text: "a long text", size: 1 });
        for (const [rev, text] of ["two", "three", "four"].entries())
          await old.call("PATCH", `/notes/${note.id}?rev=${rev + 1}`, { body: { text } });
        await old.stop();
        const path = `/notes/${note.id}`;
        const next = await second.start(same);
        const { body: longest } = await next.call("GET", `${path}/revisions/1`);
        expect(longest.data).toMatchObject({ title: "a long text", size: 1, state: "open" });
        const refused = await next.call("POST", `${path}/revert?rev=4&to=1`);
        expect([refused.status, refused.body.context.errors]).toMatchObject([
          422,
          [{ path: "/title", keyword: "maxLength" }],
        ]);
        const back = await next.call("POST", `${path}/revert?rev=4&to=3`);
        expect([back.status, back.body]).toMatchObject([200, { rev: 5, title: "three", size: 1 }]);
        await next.stop();
        const last = await third.start(same);
        const kept = async (): Promise<readonly number[]> =>
          (await last.call("GET", `${path}/revisions`)).body.hits.map(
            ({ rev }: { rev: number }) => rev,
          );
        await expect.poll(kept).toEqual([5, 4]);
        await last.stop();
      } finally {
        for (const version of [first, second, third]) version.remove();
        await drop();
      }
    },
  );
});

test("the client walks revisions as it walks lists", async () => {
  await using service = await testService();
  const bob = await service.as("bob", { permissions: ["projects.read", "projects.write"] });
  const { id } = await projects.create(bob, { name: "one", key: "ONE" });
  await projects.update(bob, { id, rev: 1, patch: { name: "two" } });
  const seen: number[] = [];
  for await (const { rev } of each(projects.revisions, bob, { id, size: 1 })) seen.push(rev);
  expect(seen).toEqual([2, 1]);
  const back = await projects.revert(bob, { id, rev: 2, to: 1 });
  expect(back).toMatchObject({ rev: 3, name: "one" });
});
