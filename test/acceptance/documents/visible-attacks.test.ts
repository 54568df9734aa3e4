// What attacks on fields that only some may see have found.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";
import { compile } from "../../generator/compile.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies:
  member: [principal]
  staff: [principal, {authorize: items.staff}]
  buddy: [principal, {scope: buddy}]
identity: {methods: [token, password], sign_up: {verify: none, profile: people}}
scopes: {buddy: registry/code.ts#buddy}
realtime:
  transports: [sse]
  events: {item.made: {data: {cost: integer}, audience: [principal], delivery: durable}}
documents:
  items:
    type: {title: string, tel: string, buddy: uuid?, cost: integer, total: integer, links: [{ref: notes}], code: string?}
    defaults: {tel: x, buddy: null, cost: 1, links: [], code: null}
    set: {total: registry/code.ts#total}
    visible: {tel: buddy, cost: staff, total: staff, links: staff, code: staff}
    unique: [[code]]
    emits: {create: {event: item.made, data: {cost: cost}, to: buddy}}
    guard: member
  notes: {type: {text: string}, guard: member}
  comments: {type: {text: string, item: {ref: items}}, guard: member}
  people: {type: {level: integer?}, visible: {level: staff}, unique: [[owner_id]], guard: member, mount: false}
search: {comment_search: {of: comments, text: [text], guard: member}, item_search: {of: items, text: [title], guard: member}}
operations:
  items.flip:
    post: /flip
    in: {id: uuid, to: uuid, tel: string}
    out: {}
    run: registry/code.ts#flip
    guard: member
  items.tel:
    post: /tel
    in: {id: uuid}
    out: {tel: "string?"}
    run: registry/code.ts#tel
    guard: member
`,
  "registry/code.ts": `import { collection } from "opwright/runtime";
import type { ScopePort } from "opwright/runtime";
import { itemsSpec } from "../generated/documents/items.js";
import type { ItemsFlipHandler, ItemsTelHandler } from "../generated/types/items.js";
export const buddy: ScopePort = ({ identity }) => ({ $values: { buddy: identity.principalId } });
export const total = ({ cost }: { readonly cost: number }): number => cost * 2;
export const flip: ItemsFlipHandler = async ({ id, to, tel }, context) => {
  await collection(itemsSpec, context).update(id, "any", { buddy: to, tel });
  return {};
};
export const tel: ItemsTelHandler = async ({ id }, context) =>
  ({ tel: (await collection(itemsSpec, context).get(id)).tel ?? null });
`,
};

const project = onEachEngine(files, ({ people, service }) => {
  const somebody = async (...permissions: readonly string[]) => {
    const person = await people.person(...permissions);
    const { access_token: token } = await people.session(person.id, null);
    return { ...person, ...people.by(token) };
  };

  test("who sees a field is asked of the row that is read, whoever changes it meanwhile", async () => {
    const [one, other] = [await somebody(), await somebody()];
    const id = await one.make("items", { title: "one" });
    const seen = { secret: 0, open: 0 };
    const over = new AbortController();
    const write = async (): Promise<void> => {
      for (let turns = 0; turns < 60; turns += 1) {
        await one.call("POST", "/flip", { id, to: one.id, tel: "secret" });
        await one.call("POST", "/flip", { id, to: other.id, tel: "open" });
      }
      over.abort();
    };
    const read = async (tel: () => Promise<keyof typeof seen | undefined | null>) => {
      while (!over.signal.aborted) {
        const found = await tel();
        if (found !== undefined && found !== null) seen[found] += 1;
      }
    };
    const search = { query: "one" };
    await Promise.all([
      write(),
      read(async () => (await other.call("GET", `/items/${id}`)).body.tel),
      read(async () => (await other.call("POST", "/items/list", {})).body.hits[0].tel),
      read(async () => (await other.call("POST", "/tel", { id })).body.tel),
      read(async () => {
        const { body } = await other.call("POST", "/search/item_search/typed", search);
        return body.hits[0].tel;
      }),
    ]);
    expect(seen.secret).toBe(0);
    expect(seen.open).toBeGreaterThan(0);
  });

  test("a hidden list of references expands to none", async () => {
    const [staff, other] = [await somebody("items.staff"), await somebody()];
    const note = await staff.make("notes", { text: "n" });
    const id = await staff.make("items", { title: "a", links: [note], buddy: staff.id });
    const comment = await other.make("comments", { text: "c", item: id });
    const { expanded } = (await other.call("GET", `/items/${id}?expand=links`)).body;
    expect(expanded).toEqual({ links: [] });
    const deep = await other.call("GET", `/comments/${comment}?expand=item.links`);
    expect(deep.body.expanded.item.expanded).toEqual({ links: [] });
    const { body } = await staff.call("GET", `/items/${id}?expand=links`);
    expect([body.expanded.links[0].text, body.total]).toEqual(["n", 2]);
  });

  test("what nobody of them may write is refused before anything else stands against it", async () => {
    const [staff, other] = [await somebody("items.staff"), await somebody()];
    await staff.make("items", { title: "a", code: "taken" });
    for (const code of ["taken", "free"])
      expect((await other.call("POST", "/items", { title: "b", code })).body).toMatchObject({
        code: "core.authorization",
        context: { members: ["code"] },
      });
  });

  test("a chosen payload carries a field that is always there", async () => {
    const [one, other] = [await somebody(), await somebody()];
    await one.make("items", { title: "a", buddy: other.id });
    await expect
      .poll(async () => (await other.call("GET", "/realtime/history")).body.signals[0]?.data)
      .toEqual({ cost: 1 });
  });

  test("those who register write no such field of their profile", async () => {
    const login = "somebody@example.test";
    const body = { login, password: "correct horse battery staple", profile: { level: 9 } };
    const { status, body: answer } = await service.call("POST", "/auth/sign-up", { body });
    expect([status, answer.code]).toEqual([403, "core.authorization"]);
  });
});

test("operations declare the refusal, and functions are typed with the whole document", () => {
  // oxlint-disable-next-line typescript/no-explicit-any -- a black-box test looks at whatever is there
  const { paths } = project.openapi as any;
  for (const path of [
    "/comments/list",
    "/comments/agg_list",
    "/notes/list_cursor",
    "/search/comment_search/typed",
    "/auth/sign-up",
  ])
    expect([path, Object.keys(paths[path].post.responses)]).toEqual([
      path,
      expect.arrayContaining(["403"]),
    ]);
  compile(project.root);
});
