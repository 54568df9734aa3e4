// States of documents: which may follow each other, and who may make them, whichever way they are written.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";
import type { Answer } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies:
  member: [principal, tenant, {authorize: tickets.write}]
  agent: [principal, tenant, {authorize: "{resource}.handle"}]
tenancy: {}
identity: {methods: [token, api_key], ingress: [{bearer: Authorization}, {api_key: X-API-Key}], api_keys: {}}
jobs: {tickets.expire: {in: {id: uuid}, run: registry/tickets.ts#expire, as: service}}
documents:
  tickets:
    type: {key: string, title: string, status: {enum: [open, assigned, resolved, closed]}}
    defaults: {status: open, title: ""}
    guard: member
    bulk: {max: 10}
    history: {revisions: true}
    unique: [[key]]
    upsert: true
    states:
      field: status
      from:
        open: [closed, {to: [assigned], by: agent}]
        assigned: {to: [open, resolved], by: agent}
        resolved: [{to: [closed]}, {to: [assigned], by: agent}]
  odd:
    type: {s: {enum: [constructor, __proto__, toString, "a b", "b c"]}}
    defaults: {s: constructor}
    guard: member
    states: {field: s, from: {constructor: [__proto__, "a b"], __proto__: [toString], "a b": ["b c"]}}
  doors:
    type: {state: {enum: [ajar, shut, locked]}}
    guard: member
    states: {field: state, initial: [ajar, shut], from: {ajar: [shut], shut: [ajar, locked], locked: [shut]}}
operations:
  tickets.move: {post: "/tickets/{id}/move", in: {id: uuid, to: string}, out: {code: string}, run: registry/tickets.ts#move, guard: member}
  tickets.force: {post: "/tickets/{id}/force", in: {id: uuid, to: string}, run: registry/tickets.ts#force, guard: member}
  tickets.later: {post: "/tickets/{id}/later", in: {id: uuid}, run: registry/tickets.ts#later, guard: member}
`,
  "registry/tickets.ts": `import { collection, unscoped } from "opwright/runtime";
import { ticketsSpec } from "../generated/documents/tickets.js";
import { enqueue } from "../generated/jobs.js";
export const move = async ({ id, to }, context) => {
  try {
    await collection(ticketsSpec, context).update(id, "any", { status: to });
    return { code: "" };
  } catch (error) {
    if (error.code === "core.internal") throw error;
    return { code: error.code ?? String(error.stack) };
  }
};
export const force = async ({ id, to }, context) => {
  await collection(unscoped(ticketsSpec), context).update(id, "any", { status: to });
};
export const later = ({ id }, context) => enqueue(context, "tickets.expire", { id });
export const expire = async ({ id }, _context, { commit }) => {
  await commit("expire", (context) => collection(ticketsSpec, context).update(id, "any", { status: "assigned" }));
};
`,
};

let keys = 0;

onEachEngine(files, ({ service, people }) => {
  type Token = string;
  const member = async (...permissions: readonly string[]): Promise<Token> =>
    (await people.member(tenant, "tickets.write", ...permissions)).token;
  let tenant = "";
  const begin = async () => {
    tenant = await people.tenant();
    return { user: await member(), agent: await member("tickets.handle") };
  };
  const as = (token: Token, method: string, path: string, body?: object): Promise<Answer> =>
    people.as(token, method, path, body);
  const made = async (token: Token, more = {}): Promise<string> => {
    const answer = await as(token, "POST", "/tickets", { key: `k${(keys += 1)}`, ...more });
    expect([answer.status, answer.body.code]).toEqual([201, undefined]);
    return answer.body.id;
  };
  const revOf = async (token: Token, id: string): Promise<number> =>
    (await as(token, "GET", `/tickets/${id}`)).body.rev;
  const patch = async (token: Token, id: string, status: string): Promise<Answer> =>
    as(token, "PATCH", `/tickets/${id}?rev=${await revOf(token, id)}`, { status });
  const told = ({ status, body }: Answer) => [
    status,
    body.code ?? body.data?.status ?? body.status,
  ];

  test("a patch moves along the moves that there are, and names them where it can't", async () => {
    const { user, agent } = await begin();
    const id = await made(user);
    const refused = await patch(agent, id, "resolved");
    expect([refused.status, refused.body.code, refused.body.context]).toEqual([
      409,
      "transition_not_allowed",
      { field: "status", from: "open", to: "resolved", allowed: ["closed", "assigned"] },
    ]);
    expect(told(await patch(user, id, "assigned"))).toEqual([403, "core.authorization"]);
    expect(told(await patch(agent, id, "assigned"))).toEqual([200, "assigned"]);
    expect(told(await patch(user, id, "open"))).toEqual([403, "core.authorization"]);
    expect(told(await patch(agent, id, "resolved"))).toEqual([200, "resolved"]);
    // What stays as it is is no move, whoever says it.
    const same = await as(user, "PATCH", `/tickets/${id}?rev=1`, {
      status: "resolved",
      title: "x",
    });
    expect(told(same)).toEqual([200, "resolved"]);
    expect(told(await patch(user, id, "closed"))).toEqual([200, "closed"]);
    const ended = await patch(agent, id, "open");
    expect(ended.body.context).toMatchObject({ from: "closed", allowed: [] });
    expect((await patch(agent, id, "gone")).status).toBe(422);
  });

  test("states may have any name", async () => {
    const { user } = await begin();
    const { id } = (await as(user, "POST", "/odd", {})).body;
    let rev = 0;
    const move = async (to: string) =>
      (await as(user, "PATCH", `/odd/${id}?rev=${(rev += 1)}`, { s: to })).status;
    expect([await move("__proto__"), await move("toString")]).toEqual([200, 200]);
  });

  test("documents begin where they may", async () => {
    const { user } = await begin();
    const answer = await as(user, "POST", "/tickets", { key: "closed", status: "closed" });
    expect([answer.status, answer.body.code, answer.body.context]).toEqual([
      409,
      "transition_not_allowed",
      { field: "status", from: null, to: "closed", allowed: ["open"] },
    ]);
    expect((await as(user, "POST", "/doors", { state: "shut" })).status).toBe(201);
    expect((await as(user, "POST", "/doors", { state: "locked" })).status).toBe(409);
  });

  test("handlers, jobs, bulk, upserts and reverts keep to them", async () => {
    const { user, agent } = await begin();
    const id = await made(user, { key: "one" });
    const moved = async (token: Token, to: string) =>
      (await as(token, "POST", `/tickets/${id}/move`, { to })).body.code;
    expect(await moved(user, "resolved")).toBe("transition_not_allowed");
    expect(await moved(user, "assigned")).toBe("core.authorization");
    expect(await moved(agent, "assigned")).toBe("");
    // The author may say that who calls doesn't matter; the moves stay.
    const force = async (to: string) =>
      (await as(user, "POST", `/tickets/${id}/force`, { to })).status;
    expect([await force("closed"), await force("resolved")]).toEqual([409, 204]);

    const [open, other] = [await made(user), await made(user)];
    const items = [
      { id: open, rev: 1, patch: { status: "closed" } },
      { id: other, rev: 1, patch: { status: "assigned" } },
      { id, rev: 3, patch: { status: "open" } },
    ];
    const bulk = await as(user, "POST", "/tickets/update_many", { items });
    expect(bulk.body.outcomes).toMatchObject([
      { document: { status: "closed" } },
      { error: { code: "core.authorization" } },
      { error: { code: "transition_not_allowed" } },
    ]);
    const upsert = (token: Token, status: string) => {
      const document = { key: "one", status };
      return as(token, "POST", "/tickets/upsert", { by: ["key"], document });
    };
    // It would be no state to begin with, but there is one already.
    expect(told(await upsert(user, "assigned"))).toEqual([403, "core.authorization"]);
    expect(told(await upsert(agent, "assigned"))).toEqual([200, "assigned"]);
    await patch(agent, other, "assigned");
    const back = await as(user, "POST", `/tickets/${other}/revert?rev=2&to=1`);
    expect(told(back)).toEqual([403, "core.authorization"]);
    expect(told(await as(agent, "POST", `/tickets/${other}/revert?rev=2&to=1`))).toEqual([
      200,
      "open",
    ]);
    await as(user, "POST", `/tickets/${other}/later`);
    await expect
      .poll(async () => (await as(user, "GET", `/tickets/${other}`)).body.status)
      .toBe("assigned");
  });

  test("a key with scopes makes no move that its scopes don't allow", async () => {
    const { agent } = await begin();
    const id = await made(agent);
    const key = await as(agent, "POST", "/api-keys", { scopes: ["tickets.write"] });
    const headers = { authorization: "", "x-api-key": key.body.api_key };
    const byKey = (status: string) =>
      service.call("PATCH", `/tickets/${id}?rev=1`, { headers, body: { status } });
    expect(told(await byKey("assigned"))).toEqual([403, "core.authorization"]);
    expect(told(await byKey("closed"))).toEqual([200, "closed"]);
  });

  test("of many who move at once, one does", async () => {
    const { user, agent } = await begin();
    const id = await made(user);
    const answers = await Promise.all([
      ...Array.from({ length: 8 }, () => patch(user, id, "closed")),
      ...Array.from({ length: 8 }, () => patch(agent, id, "assigned")),
    ]);
    const statuses = new Set(answers.map(({ status }) => status));
    expect([...statuses].every((status) => [200, 409].includes(status))).toBe(true);
    const { hits } = (await as(user, "POST", `/tickets/${id}/history`, {})).body;
    expect(hits?.length ?? 2).toBeLessThanOrEqual(2);
  });
});
