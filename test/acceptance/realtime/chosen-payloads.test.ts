// Signals of documents with a payload of their own, to whom the document says.
import { expect, test } from "vitest";
import { cli } from "../../generator/cli.js";
import { writeProject } from "../../generator/scenario.js";
import { onEachEngine } from "../../support/on-each-engine.js";
import { connectWebSocket } from "../../support/realtime-clients.js";

const registry = (emits: string, events: string): string => `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token, password]}
policies: {open: [principal]}
types: {State: [open, closed]}
documents:
  tickets:
    type: {title: string, body: string, note: string?, assignee: uuid?, reporter: uuid, queue: string, state: State}
    guard: open
    tenant: false
    bulk: {max: 10}
    defaults: {state: open}
    emits:
${emits}
realtime:
  transports: [websocket]
  topics: registry/topics.ts#all
  events:
${events}
`;

const emits = `      create: {event: ticket.opened, data: {ticket: id, queue: queue}}
      update:
        - {event: ticket.assigned, data: {ticket: id, title: title}, to: assignee, if_changed: assignee}
        - {event: ticket.told, data: {ticket: id, state: state}, to: "{reporter}", if_changed: [state, title]}
        - {event: ticket.told, data: {ticket: id, state: state}, to: "{assignee}", if_changed: state}
        - {event: ticket.seen, data: {title: title}, to: "user:{assignee}", if_changed: assignee}
        - {event: ticket.seen, data: {title: title}, to: "user:{reporter}", if_changed: body}`;
const events = `    ticket.opened: {data: {ticket: uuid, queue: string}, audience: [topic], delivery: ephemeral, to: "queue:{queue}"}
    ticket.assigned: {data: {ticket: uuid, title: string}, audience: [principal], delivery: durable}
    ticket.told: {data: {ticket: uuid, state: string}, audience: [principal], delivery: durable}
    ticket.moved: {data: {state: State}, audience: [principal, topic], delivery: ephemeral}
    ticket.seen: {data: {title: string}, audience: [topic], delivery: ephemeral}`;

const files = {
  "registry/service.yaml": registry(emits, events),
  "registry/topics.ts": "export const all = (topics) => topics;\n",
};

onEachEngine(files, ({ service, people }) => {
  test("carry what they say, to whom they say", async () => {
    const [ada, bob] = [await people.person(), await people.person()];
    const tokenOf = async ({ id }: typeof ada) => (await people.session(id, null)).access_token;
    const [adas, bobs] = [await tokenOf(ada), await tokenOf(bob)];
    const byAda = await connectWebSocket(service, { token: adas }, { topics: ["queue:red"] });
    const byBob = await connectWebSocket(service, { token: bobs });
    const as = (method: string, path: string, body: object) => people.as(adas, method, path, body);
    const { body: ticket } = await as("POST", "/tickets", {
      title: "Broken",
      body: "secret",
      reporter: ada.id,
      queue: "red",
    });
    await as("PATCH", `/tickets/${ticket.id}?rev=1`, { assignee: bob.id });
    await as("PATCH", `/tickets/${ticket.id}?rev=2`, { body: "nobody hears this" });
    await as("POST", "/tickets/update_many", {
      items: [{ id: ticket.id, rev: 3, patch: { state: "closed" } }],
    });
    const told = ({ heard }: typeof byAda) => heard.map(({ event, data }) => [event, data]);
    await expect
      .poll(() => told(byAda))
      .toEqual([
        ["ticket.opened", { ticket: ticket.id, queue: "red" }],
        ["ticket.told", { ticket: ticket.id, state: "closed" }],
      ]);
    await expect
      .poll(() => told(byBob))
      .toEqual([
        ["ticket.assigned", { ticket: ticket.id, title: "Broken" }],
        ["ticket.told", { ticket: ticket.id, state: "closed" }],
      ]);
    // Two patterns lead to one topic, which the document leaves when neither does any more.
    const watching = await connectWebSocket(
      service,
      { token: adas },
      { topics: [`user:${ada.id}`] },
    );
    const patched = (rev: number, patch: object) =>
      as("PATCH", `/tickets/${ticket.id}?rev=${rev}`, patch);
    await patched(4, { assignee: ada.id });
    await patched(5, { assignee: bob.id });
    await patched(6, { reporter: bob.id });
    await expect
      .poll(() => told(watching).filter(([event]) => /seen|removed/.test(String(event))))
      .toEqual([
        ["ticket.seen", { title: "Broken" }],
        ["realtime.removed", { topic: `user:${ada.id}`, event: "ticket.seen", id: ticket.id }],
      ]);
    watching.close();
    byAda.close();
    byBob.close();
  });
});

test.each([
  ["{event: ticket.moved, data: {state: title}, to: '{assignee}'}", "does not take every title"],
  ["{event: ticket.moved, data: {state: state}, to: assignee}", "write {assignee}"],
  ["{event: ticket.seen, data: {title: title}, to: 'queue:{ queue }'}", "braces without a field"],
  ["{event: ticket.seen, data: {title: title}, to: ''}", "is empty"],
  ["{event: ticket.opened, data: {ticket: id, queue: note}}", "does not take every note"],
  ["{event: ticket.opened, data: {ticket: title, queue: queue}}", "does not take every title"],
  ["{event: ticket.opened, data: {ticket: id}}", "needs queue"],
  ["{event: ticket.opened, data: {ticket: id, queue: queue, more: id}}", "has no member more"],
  ["{event: ticket.opened, data: {ticket: id, queue: queu}}", "has no field queu"],
  ["{event: ticket.told, data: {ticket: id, state: state}}", "does not say to whom"],
  ["{event: ticket.told, data: {ticket: id, state: state}, to: title}", "title is no UUID"],
  ['{event: ticket.told, data: {ticket: id, state: state}, to: "a:{title}"}', "is not one field"],
  ["ticket.opened", "say its `data`"],
])("a payload that doesn't fit is told: %s", async (emission, fault) => {
  const { root, remove } = writeProject({
    "registry/service.yaml": registry(`      create: ${emission}`, events),
    "registry/topics.ts": "export const all = (topics) => topics;\n",
  });
  const { code, stdout } = await cli(root, "check");
  expect([code, stdout]).toEqual([1, expect.stringContaining(fault)]);
  remove();
});
