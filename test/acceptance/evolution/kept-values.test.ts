// What one version keeps besides documents and another one tells: signals, events, deliveries of webhooks, answers under
// idempotency keys. Each version tells them as it declares them, beside the other and after a rollback.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { engines, sharedDatabase } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

interface Version {
  readonly note: string;
  readonly defaults: string;
  /** The members of a note that the service makes. */
  readonly made: string;
  readonly dropped: string;
  readonly types: string;
  readonly label: string;
  readonly input: string;
  readonly signals: string;
}

const registry = (version: Version): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token, password]}
policies: {open: [principal]}
types:
  Note: {to: uuid, ${version.note}}
${version.types}
documents:
  notes: {type: Note, guard: open, tenant: false, emits: {create: note.told}, defaults: {${version.defaults}}${version.dropped}}
  labels: {type: {name: string${version.label}}, guard: open, tenant: false, idempotency: [create], defaults: {size: 1}}
operations:
  notes.place: {post: /place, in: {to: uuid${version.input}}, out: Note, idempotency: true, run: registry/make.ts#place, guard: open}
  pings.send: {post: /pings, in: {to: uuid${version.input}}, out: Ping, idempotency: true, run: registry/make.ts#send, guard: open}
outbox: {events: {ping.sent: {destination: shop, data: Ping}}}
webhooks: {guard: open}
realtime:
  transports: [sse]
  events:
    note.told: {data: Note, audience: [principal], delivery: durable, to: "{to}"}
${version.signals}`,
  "registry/make.ts": `import { collection } from "opwright/runtime";
import { notesSpec } from "../generated/documents/notes.js";
import { stageEvent } from "../generated/outbox.js";
import * as signals from "../generated/signals.js";
export const place = ({ to }, context) =>
  collection(notesSpec, context).create({ to, ${version.made} });
export const send = async ({ to }, context) => {
  const by = { name: "bob", nick: "b", mood: "calm" };
  const ping = { text: "hello", by, all: [by], old: "old", size: 7 };
  await stageEvent(context, "ping.sent", ping);
  if ("ping.told" in signals.events)
    await signals.stageSignal(context, "ping.told", { text: "x" }, { principals: [to] });
  return ping;
};
`,
  "registry/weights.ts": `export const toGrams = (weight) =>
  weight === null ? null : Math.round(grams(weight));
const grams = (weight) => {
  if (weight === "lost") throw new Error("no weight");
  return Number.parseFloat(weight) * 1000;
};
`,
});

const first = registry({
  note: "text: string, old: string, state: [open, done], weight: string?, rank: integer",
  defaults: "old: kept, state: open",
  made: 'text: "a", state: "done", weight: "2kg", rank: 7',
  dropped: "",
  types: `  Ping: {text: string, by: Person, all: "Person[]", old: {type: string, default: lost}}
  Person: {name: string, nick: {type: string, default: none}}
  Told: {text: string}`,
  label: ", size: integer",
  input: "",
  signals: "    ping.told: {data: Told, audience: [principal], delivery: durable}\n",
});
const second = registry({
  note: `title: {type: string, was: text}, state: [open, {value: closed, was: done}], grams: {type: [integer, "null"], was: weight, from: "registry/weights.ts#toGrams"}, size: integer`,
  defaults: "state: open, size: 1",
  made: 'title: "b", state: "closed", grams: 5',
  dropped: ", dropped: {rank: {as: 0}}",
  types: `  Ping: {text: string, by: Person, all: "Person[]", size: {type: integer, default: 3}}
  Person: {name: string, mood: {type: string, default: fine}}`,
  label: ", size: integer, shade: string?",
  input: ", times: {type: integer, default: 1}",
  signals: "",
});

const secrets = Object.fromEntries(
  ["SIGNING", "ACCESS_TOKEN", "REFRESH_PEPPER", "RESET_PEPPER", "WEBHOOK"].map((name) => [
    `SECRETS_${name}`,
    randomBytes(32).toString("base64url"),
  ]),
);

/** What a receiver has accepted, by path; it accepts nothing before it is opened. */
async function receiver() {
  const accepted: Record<string, unknown[]> = { "/shop": [], "/hook": [] };
  let isOpen = false;
  const server = createServer((req, res) => {
    void json(req).then((event) => {
      if (isOpen) accepted[req.url ?? ""]?.push((event as { readonly data: unknown }).data);
      res.writeHead(isOpen ? 204 : 503).end();
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, accepted, open: () => (isOpen = true) };
}

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    /** Both versions on one database, the second migrated over the first, and a receiver of their events. */
    const beside = async () => {
      const { same, drop } = await sharedDatabase(engine);
      onTestFinished(drop);
      const receiving = await receiver();
      const environment = {
        ...secrets,
        DESTINATION_SHOP: `${receiving.url}/shop`,
        OUTBOX_BACKOFF_SECONDS: "0.02",
        WEBHOOK_BACKOFF_SECONDS: "0.02",
        WEBHOOK_ADDRESSES: "any",
      };
      const services: TestService[] = [];
      let before: TestProject | undefined;
      for (const files of [first, second]) {
        const project = await testProject(files, before);
        onTestFinished(() => project.remove());
        before = project;
        const service = await project.start(same, { environment });
        services.push(service);
      }
      const [old, next] = services;
      if (old === undefined || next === undefined) throw new Error("a version is missing");
      const who = old.tester;
      const headers = { authorization: `Bearer ${who.token}` };
      const hook = { url: `${receiving.url}/hook`, events: ["ping.sent"] };
      expect((await old.post("/webhooks", hook)).status).toBe(201);
      return { old, next, who, headers, ...receiving };
    };
    /** What the other version tells of what this one has kept, which is stopped before anybody is told. */
    const kept = async (keeper: "old" | "next") => {
      const versions = await beside();
      const { who, headers, accepted, open } = versions;
      const [one, other] =
        keeper === "old" ? [versions.old, versions.next] : [versions.next, versions.old];
      const repeated = { ...headers, "idempotency-key": "again" };
      const make = async (service: TestService) => [
        await service.post("/place", { to: who.id }, repeated),
        await service.post("/pings", { to: who.id }, repeated),
        await service.post("/labels", { name: "blue" }, repeated),
      ];
      expect((await make(one)).map(({ status }) => status)).toEqual([200, 200, 201]);
      await one.stop();
      open();
      onTestFinished(() => other.stop());
      const answers = await make(other);
      for (const { headers: fields } of answers)
        expect(fields.get("idempotency-replayed")).toBe("true");
      await expect.poll(() => Object.values(accepted).map(({ length }) => length)).toEqual([1, 1]);
      const history = async () =>
        (await other.call("GET", "/realtime/history", { headers })).body.signals;
      await expect.poll(async () => (await history()).length).toBeGreaterThan(0);
      const stream = await heardLive(other, who.token, (await history()).length);
      const signals = (await history()).map(({ event, data }: Told) => [event, data]);
      expect(stream).toEqual(signals);
      return {
        signals,
        answers: answers.map(({ body }) => body),
        tag: answers[2]?.headers.get("etag"),
        events: Object.values(accepted).flat(),
      };
    };

    test("the next version tells what the version before has kept as it declares it itself", async () => {
      const { signals, answers, tag, events } = await kept("old");
      const note = told({ to, title: "a", state: "closed", grams: 2000, size: 1 });
      const bob = { name: "bob", mood: "fine" };
      const ping = { text: "hello", by: bob, all: [bob], size: 3 };
      expect(signals).toEqual([["note.told", note]]);
      const label = told({ name: "blue", size: 1, shade: null });
      expect(answers).toEqual([note, ping, label]);
      expect(tag).toBe('"1-2"');
      expect(events).toEqual([ping, ping]);
    }, 60_000);

    test("the version before tells what the next one has kept as it declares it itself", async () => {
      const { signals, answers, tag, events } = await kept("next");
      const note = told({ to, text: "b", old: "kept", state: "done", weight: null, rank: 0 });
      const bob = { name: "bob", nick: "none" };
      const ping = { text: "hello", by: bob, all: [bob], old: "lost" };
      expect(signals).toEqual([["note.told", note]]);
      expect(answers).toEqual([note, ping, told({ name: "blue", size: 1 })]);
      expect(tag).toBe('"1"');
      expect(events).toEqual([ping, ping]);
    }, 60_000);

    test("a signal that an author's converter refuses is announced as lost, and later ones are delivered", async () => {
      const { old, next, who, headers } = await beside();
      onTestFinished(() => next.stop());
      for (const weight of ["1kg", "lost", "3kg"])
        expect(
          (await old.post("/notes", { to: who.id, text: weight, weight, rank: 1 })).status,
        ).toBe(201);
      const history = async () => {
        const { signals } = (await next.call("GET", "/realtime/history", { headers })).body;
        return signals.map(({ data }: { readonly data: { readonly title: string } }) => data.title);
      };
      await expect.poll(history).toEqual(["1kg", "3kg"]);
      await old.stop();
      const stream = await heardLive(next, who.token, 3);
      expect(stream).toMatchObject([
        ["note.told", { title: "1kg", grams: 1000 }],
        ["realtime.gap", { from: 2, to: 2 }],
        ["note.told", { title: "3kg", grams: 3000 }],
      ]);
    }, 60_000);
  });
}

const to = expect.any(String);

interface Told {
  readonly event: string;
  readonly data: unknown;
}

function told(members: object): object {
  return {
    id: expect.any(String),
    rev: 1,
    created_at: expect.any(String),
    last_update_at: expect.any(String),
    ...members,
  };
}

/** So many signals of a stream that a device begins. */
async function heardLive(
  { url }: TestService,
  token: string,
  count: number,
): Promise<readonly (readonly [string, unknown])[]> {
  const gone = new AbortController();
  const response = await fetch(`${url}/realtime/sse?protocol=1`, {
    headers: { authorization: `Bearer ${token}`, accept: "text/event-stream" },
    signal: gone.signal,
  });
  expect(response.status).toBe(200);
  let text = "";
  const heard = () =>
    [...text.matchAll(/^event: (\S+)\n(?:id: .*\n)?data: (.*)$/gm)].map(
      ([, event = "", data = ""]) => [event, (JSON.parse(data) as Told).data] as const,
    );
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (heard().length >= count) break;
  }
  gone.abort();
  return heard();
}
