// Documents that leave a topic: it is told so, whatever took them away, and hears nothing of what has become of them.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member } from "../../support/people.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import {
  connectSocketIo,
  connectSse,
  connectWebSocket,
  type Client,
} from "../../support/realtime-clients.js";
import type { TestService } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token, password]}
policies: {open: [principal]}
types:
  Card: {text: string, team: string?, board: {ref: boards?, on_delete: set_null}, pile: {ref: boards?, on_delete: cascade}}
  Note: {text: string, team: string}
  Pin: {text: string, team: string?}
documents:
  boards: {type: {name: string}, guard: open, tenant: false}
  cards:
    type: Card
    guard: open
    tenant: false
    soft_delete: true
    history: {revisions: true}
    upsert: true
    unique: [[text]]
    bulk: {max: 10}
    emits:
      create: task.changed
      update: [{event: task.changed, if_changed: text}, board.changed]
  notes: {type: Note, guard: open, tenant: false, emits: {create: task.typing, kill: task.typing}}
  pins:
    type: Pin
    guard: open
    tenant: false
    bulk: {max: 10}
    emits: {create: pin.changed, update: pin.changed}
operations:
  moves.move: {post: /moves, in: {verb: string, id: uuid, text: string}, run: registry/moves.ts#move, guard: open}
realtime:
  transports: [socketio, sse, websocket]
  topics: registry/topics.ts#all
  events:
    task.changed: {data: Card, audience: [topic], delivery: ephemeral, to: "team:{team}"}
    board.changed: {data: Card, audience: [topic], delivery: ephemeral, to: "board:{board}"}
    pin.changed: {data: Pin, audience: [topic], delivery: ephemeral, to: "team:{team}"}
    task.typing: {data: Note, audience: [topic], delivery: ephemeral, to: "team:{team}"}
`,
  "registry/topics.ts": `export const all = (topics) => topics;\n`,
  // What a handler writes, by each verb of a collection.
  "registry/moves.ts": `import { collection } from "opwright/runtime";
import { cardsSpec } from "../generated/documents/cards.js";
export const move = async ({ verb, id, text }, context) => {
  const cards = collection(cardsSpec, context);
  const team = "b";
  const moves = {
    update: () => cards.update(id, "any", { team }),
    upsert: () => cards.upsert(["text"], { text, team }),
    updateMany: () => cards.updateMany([{ id, rev: 1, patch: { team } }]),
    delete: () => cards.delete(id, "any"),
    deleteMany: () => cards.deleteMany([{ id, rev: 1 }]),
    kill: () => cards.kill(id),
    revert: async () => {
      await cards.update(id, 1, { team: "c" });
      await cards.update(id, 2, { team: "a" });
      await cards.revert(id, 3, 2);
    },
  };
  await moves[verb]();
};
`,
};

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project.remove());

describe.each(engines.filter(({ isAvailable }) => isAvailable))("on $name", (engine) => {
  let service: TestService;
  let ann: Member;
  const clients: Client[] = [];
  beforeAll(async () => {
    service = await project.start(engine);
    ann = await peopleOf(service).member("");
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
  });
  afterAll(() => service.stop());

  const send = async (method: string, path: string, body?: object): Promise<{ id: string }> => {
    const answer = await peopleOf(service).as(ann.token, method, path, body);
    expect([answer.status < 300, String(JSON.stringify(answer.body))]).toEqual([
      true,
      expect.anything(),
    ]);
    return answer.body;
  };
  let texts = 0;
  const card = async (more: object): Promise<string> =>
    (await send("POST", "/cards", { text: `card ${(texts += 1)}`, ...more })).id;
  const ears = async (...topics: string[]): Promise<Client[]> => {
    const opened = await Promise.all(
      [connectWebSocket, connectSse, connectSocketIo].map((connect) =>
        connect(service, ann, { topics }),
      ),
    );
    clients.push(...opened);
    return opened;
  };
  const removed = ({ heard }: Client): readonly unknown[] =>
    heard.flatMap(({ event, id, data }) => (event === "realtime.removed" ? [[id, data]] : []));
  const left = (topic: string, id: string, event = "task.changed"): unknown => [
    null,
    { topic, event, id },
  ];

  const handled = (verb: string, id: string): Promise<unknown> =>
    send("POST", "/moves", { verb, id, text: `card ${texts}` });
  const filters = (id: string): object => ({ filters: { $values: { id } } });
  const items = (id: string, more: object = {}): object => ({ items: [{ id, rev: 1, ...more }] });
  const back = async (id: string): Promise<unknown> => {
    await send("PATCH", `/cards/${id}?rev=1`, { team: "c" });
    await send("PATCH", `/cards/${id}?rev=2`, { team: "a" });
    return send("POST", `/cards/${id}/revert?rev=3&to=2`);
  };

  test.each<[string, (id: string) => Promise<unknown>]>([
    ["update", (id) => send("PATCH", `/cards/${id}?rev=1`, { team: "b", text: `secret ${id}` })],
    ["update to nowhere", (id) => send("PATCH", `/cards/${id}?rev=1`, { team: null })],
    [
      "update_many",
      (id) =>
        send("POST", "/cards/update_many", items(id, { patch: { team: "b", text: "secret" } })),
    ],
    [
      "update_where",
      (id) => send("POST", "/cards/update_where", { ...filters(id), patch: { team: "b" } }),
    ],
    [
      "upsert",
      () =>
        send("POST", "/cards/upsert", {
          by: ["text"],
          document: { text: `card ${texts}`, team: "b" },
        }),
    ],
    ["kill", (id) => send("DELETE", `/cards/${id}?rev=1`)],
    ["delete", (id) => send("POST", `/cards/${id}/delete?rev=1`)],
    ["delete_many", (id) => send("POST", "/cards/delete_many", items(id))],
    ["delete_where", (id) => send("POST", "/cards/delete_where", filters(id))],
    ["revert", back],
    ...["update", "upsert", "updateMany", "delete", "deleteMany", "kill", "revert"].map(
      (verb): [string, (id: string) => Promise<unknown>] => [
        `${verb} of a collection in a handler`,
        (id) => handled(verb, id),
      ],
    ),
  ])("by %s", async (what, move) => {
    const hers = await ears("team:a");
    const id = await card({ team: "a" });
    await move(id);
    const times = what.startsWith("revert") ? 2 : 1;
    const expected = Array.from({ length: times }, () => left("team:a", id));
    for (const client of hers) {
      await expect.poll(() => removed(client)).toEqual(expected);
      expect(JSON.stringify(client.heard)).not.toContain("secret");
    }
  });

  test.each<[string, (id: string) => Promise<unknown>]>([
    ["delete_many", (id) => send("POST", "/pins/delete_many", items(id))],
    ["delete_where", (id) => send("POST", "/pins/delete_where", filters(id))],
    ["kill", (id) => send("DELETE", `/pins/${id}?rev=1`)],
  ])("by %s of what is removed for good", async (_what, move) => {
    const hers = await ears("team:a");
    const { id } = await send("POST", "/pins", { text: `pin ${(texts += 1)}`, team: "a" });
    await move(id);
    for (const client of hers)
      await expect.poll(() => removed(client)).toEqual([left("team:a", id, "pin.changed")]);
  });

  test("once: what was deleted and moves, comes back or ends meanwhile has left already", async () => {
    const [hers] = await ears("team:a");
    if (hers === undefined) throw new Error("nobody hears");
    const id = await card({ team: "a" });
    await send("POST", `/cards/${id}/delete?rev=1`);
    await send("POST", `/cards/${id}/restore?rev=2`);
    await send("POST", `/cards/${id}/delete?rev=3`);
    await send("DELETE", `/cards/${id}?rev=4`);
    const last = await card({ team: "a" });
    await send("DELETE", `/cards/${last}?rev=1`);
    await expect
      .poll(() => removed(hers))
      .toEqual([left("team:a", id), left("team:a", id), left("team:a", last)]);
  });

  test("by the end of what it refers to", async () => {
    const board = (await send("POST", "/boards", { name: "x" })).id;
    const [hers] = await ears("team:a", `board:${board}`);
    const [cut, along] = [await card({ board }), await card({ team: "a", pile: board })];
    await send("DELETE", `/boards/${board}?rev=1`);
    if (hers === undefined) throw new Error("nobody hears");
    await expect
      .poll(() => removed(hers))
      .toEqual(
        expect.arrayContaining([
          left(`board:${board}`, cut, "board.changed"),
          left("team:a", along),
        ]),
      );
    expect(removed(hers)).toHaveLength(2);
  });

  test("topics that stay, and those with an end event of their own, have not left", async () => {
    const [hers] = await ears("team:a");
    const id = await card({ team: "a" });
    await send("PATCH", `/cards/${id}?rev=1`, { text: `stays ${id}` });
    const note = (await send("POST", "/notes", { text: "n", team: "a" })).id;
    await send("DELETE", `/notes/${note}?rev=1`);
    if (hers === undefined) throw new Error("nobody hears");
    await expect.poll(() => hers.heard.length).toBe(4);
    expect(removed(hers)).toEqual([]);
  });
});
