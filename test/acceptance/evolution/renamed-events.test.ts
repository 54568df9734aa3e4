// Integration events and signals that are called otherwise, while the version before goes on beside: what waits, who subscribes
// and what is kept is found by both, each under its own names (evolution.md "Rename").
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { EventSource } from "eventsource";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { uuidv7 } from "../../../runtime/ports/uuid.js";
import { tenantStore } from "../../../runtime/ports/tenants.js";
import { webhookStore } from "../../../runtime/ports/webhooks.js";
import { engines, sharedDatabase } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

interface Names {
  readonly event: string;
  readonly signal: string;
  readonly live: string;
  readonly events: string;
  readonly signals: string;
}

const registry = ({ event, signal, live, events, signals }: Names) => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies:
  open: []
  member: [principal, tenant]
  reader: [principal, tenant, {authorize: notes.read}]
  chief: [principal, tenant, {authorize: notes.secret}]
types: {Note: {text: string, reader: uuid, room: string}}
documents:
  notes:
    type: Note
    guard: member
    emits: {create: [${signal}, ${live}]}
outbox:
  events:
${events}
webhooks: {guard: member}
realtime:
  topics: registry/handlers.ts#topics
  events:
${signals}
operations:
  notes.tell: {post: /tell, in: {text: string}, run: registry/handlers.ts#tell, guard: member}
`,
  "registry/handlers.ts": `import { stageEvent } from "../generated/outbox.js";
export const topics = async (requested) => requested;
export const tell = async ({ text }, context) => {
  await stageEvent(context, "${event}", { text });
};
`,
  "registry/deliver.ts": `export const state = { isAway: false, heard: [] };
export const deliver = async ({ name, data, attempt }) => {
  if (state.isAway) throw new Error("away");
  state.heard.push(name + " " + data.text);
};
`,
});
const made = (name: string, was = "", guard = "reader"): string =>
  `    ${name}: {destination: "registry/deliver.ts#deliver", data: {text: string}, guard: ${guard}${was}}`;
const signalsOf = (signal: string, live: string, was: readonly [string, string] = ["", ""]) =>
  `    ${signal}: {data: Note, audience: [principal], delivery: durable, to: "{reader}"${was[0]}}
    ${live}: {data: Note, audience: [topic], delivery: ephemeral, to: "room:{room}"${was[1]}}`;

const first = registry({
  event: "notes.made",
  signal: "note.made",
  live: "note.heard",
  events: made("notes.made"),
  signals: signalsOf("note.made", "note.heard"),
});
const second = registry({
  event: "notes.written",
  signal: "note.written",
  live: "note.seen",
  events: `${made("notes.written", ", was: notes.made")}\n${made("notes.hidden", "", "chief")}`,
  signals: signalsOf("note.written", "note.seen", [", was: note.made", ", was: note.heard"]),
});

/** What a destination of a version has heard, and whether it is away. */
interface Destination {
  isAway: boolean;
  readonly heard: string[];
}

interface Side {
  readonly service: TestService;
  readonly people: People;
  readonly destination: Destination;
  readonly spec: TestProject;
}

let projects: readonly [TestProject, TestProject];
beforeAll(async () => {
  const before = await testProject(first);
  projects = [before, await testProject(second, before)];
});
afterAll(() => projects.forEach((project) => project.remove()));

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    const data = mkdtempSync(join(tmpdir(), "opwright-renamed-"));
    let shared: Awaited<ReturnType<typeof sharedDatabase>>;
    let old: Side;
    let next: Side;
    let receiver: Server;
    let base = "";
    const received: string[] = [];

    const started = async (project: TestProject): Promise<Side> => {
      const service = await project.start(shared.same, {
        environment: {
          // One folder, so that both have the same secrets.
          DATA_DIR: data,
          OUTBOX_BACKOFF_SECONDS: "0.02",
          OUTBOX_MAX_ATTEMPTS: "100",
          WEBHOOK_ADDRESSES: "any",
          WEBHOOK_BACKOFF_SECONDS: "0.05",
          DRAIN_SECONDS: "1",
          ...(engine.name === "postgres" ? { BUS_URL: shared.url } : {}),
        },
      });
      const { identitySpec } = await project.load("generated/identity.ts");
      const { state } = await project.load("registry/deliver.ts");
      return {
        service,
        people: peopleOf(service, identitySpec),
        destination: state,
        spec: project,
      };
    };
    beforeAll(async () => {
      receiver = createServer((req, res) => {
        void text(req).then((body) => {
          const { type, data: told } = JSON.parse(body) as {
            readonly type: string;
            readonly data: { readonly text: string };
          };
          received.push(`${type} ${told.text}`);
          res.writeHead(204).end();
        });
      });
      await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
      base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
      shared = await sharedDatabase(engine);
      old = await started(projects[0]);
      next = await started(projects[1]);
    }, 60_000);
    afterAll(async () => {
      await old.service.stop();
      await next.service.stop();
      await shared.drop();
      receiver.closeAllConnections();
      receiver.close();
      rmSync(data, { recursive: true, force: true });
    });
    beforeEach(() => {
      received.length = 0;
      for (const { destination } of [old, next]) {
        destination.isAway = false;
        destination.heard.length = 0;
      }
    });
    const tell = async (side: Side, who: Member, what: string): Promise<void> => {
      expect((await side.people.as(who.token, "POST", "/tell", { text: what })).status).toBe(204);
    };
    const heard = (side: Side) => side.destination.heard;

    test("an event is delivered by either version, whichever has staged it, under the name that it knows", async () => {
      const who = await old.people.member("");
      next.destination.isAway = true;
      await tell(old, who, "one");
      await tell(next, who, "two");
      await expect
        .poll(() => [...heard(old)].sort(), { timeout: 10_000 })
        .toEqual(["notes.made one", "notes.made two"]);
      next.destination.isAway = false;
      old.destination.isAway = true;
      await tell(old, who, "three");
      await tell(next, who, "four");
      await expect
        .poll(() => [...heard(next)].sort(), { timeout: 10_000 })
        .toEqual(["notes.written four", "notes.written three"]);
      expect(heard(old)).toHaveLength(2);
    });

    test("an event that has waited while only the version before ran is delivered", async () => {
      const who = await old.people.member("");
      old.destination.isAway = true;
      next.destination.isAway = true;
      await tell(old, who, "waits");
      await old.service.restart();
      next.destination.isAway = false;
      await expect.poll(() => heard(next), { timeout: 10_000 }).toEqual(["notes.written waits"]);
    });

    test("a subscription hears what either version stages, and each version lists it under its names", async () => {
      const who = await old.people.member("", "notes.read");
      const subscribed = async (side: Side, event: string): Promise<string> => {
        const asked = { url: `${base}/${event}`, events: [event] };
        const answer = await side.people.as(who.token, "POST", "/webhooks", asked);
        expect([answer.status, answer.body.events]).toEqual([201, [event]]);
        return answer.body.id;
      };
      const listed = async (side: Side): Promise<unknown> =>
        (await side.people.as(who.token, "GET", "/webhooks")).body.webhooks.map(
          ({ events }: { readonly events: unknown }) => events,
        );
      const ids = [await subscribed(old, "notes.made"), await subscribed(next, "notes.written")];
      expect(await listed(old)).toEqual([["notes.made"], ["notes.made"]]);
      expect(await listed(next)).toEqual([["notes.written"], ["notes.written"]]);
      await tell(old, who, "one");
      await tell(next, who, "two");
      const texts = (): readonly string[] =>
        received.map((one) => one.replace(/^notes\.(?:made|written) /, "")).sort();
      await expect.poll(texts, { timeout: 10_000 }).toEqual(["one", "one", "two", "two"]);
      for (const id of ids) {
        const events = async (side: Side): Promise<unknown> =>
          (
            await side.people.as(who.token, "GET", `/webhooks/${id}/deliveries`)
          ).body.deliveries.map(({ event }: { readonly event: string }) => event);
        expect(await events(old)).toEqual(["notes.made", "notes.made"]);
        expect(await events(next)).toEqual(["notes.written", "notes.written"]);
      }
    });

    test("once only the next version runs, subscribers hear the new name", async () => {
      const who = await old.people.member("", "notes.read");
      const asked = { url: `${base}/left`, events: ["notes.made"] };
      expect((await old.people.as(who.token, "POST", "/webhooks", asked)).status).toBe(201);
      await old.service.stop();
      onTestFinished(async () => {
        old = await started(projects[0]);
      });
      await tell(next, who, "later");
      await expect.poll(() => received, { timeout: 10_000 }).toEqual(["notes.written later"]);
    });

    test("a delivery of an event that a version doesn't know is left to one that knows who may hear it (attack 180)", async () => {
      const who = await next.people.member("", "notes.read", "notes.secret");
      const subscribe = async (side: Side, path: string, event: string): Promise<string> => {
        const asked = { url: `${base}${path}`, events: [event] };
        const answer = await side.people.as(who.token, "POST", "/webhooks", asked);
        expect(answer.status).toBe(201);
        return answer.body.id;
      };
      const hidden = await subscribe(next, "/hidden", "notes.hidden");
      await subscribe(old, "/known", "notes.made");
      await next.service.stop();
      await old.service.running.connection.write("test.hidden", async (context) => {
        const { transaction, resources } = context;
        await transaction.of(tenantStore).revoke(who.tenantId, who.id, "notes.secret");
        const id = uuidv7();
        const payload = resources.sealer.seal(JSON.stringify({ text: "hidden" }), id);
        const event = { id, name: "notes.hidden", tenant: who.tenantId, payload, shape: null };
        const told = { ...event, traceparent: null, createdAt: Date.now() };
        await transaction.of(webhookStore).stage(told, { id: hidden });
      });
      await tell(old, who, "known");
      await expect.poll(() => received, { timeout: 10_000 }).toEqual(["notes.made known"]);
      const deliveries = async (side: Side): Promise<unknown> =>
        (await side.people.as(who.token, "GET", `/webhooks/${hidden}/deliveries`)).body.deliveries;
      expect(await deliveries(old)).toMatchObject([{ state: "pending", attempts: 0 }]);
      next = await started(projects[1]);
      await expect
        .poll(() => deliveries(next), { timeout: 10_000 })
        .toMatchObject([{ state: "failed", error: expect.stringContaining("notes.secret") }]);
      expect(received).toEqual(["notes.made known"]);
    });

    /** What a stream of a version hears, by event. */
    const listening = async (side: Side, { token }: Member, query: string) => {
      const signals: string[] = [];
      const source = new EventSource(`${side.service.url}/realtime/sse?${query}`, {
        fetch: (url, init) =>
          fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } }),
      });
      onTestFinished(() => source.close());
      for (const name of ["note.made", "note.written", "note.heard", "note.seen"])
        source.addEventListener(name, ({ data: told }) => {
          const said = JSON.parse(told as string) as { readonly data: { readonly text: string } };
          signals.push(`${name} ${said.data.text}`);
        });
      await new Promise<void>((resolve, reject) => {
        source.addEventListener("open", () => resolve());
        source.addEventListener("error", ({ code, message }) =>
          reject(new Error(`${code}: ${message}`)),
        );
      });
      return signals;
    };
    const note = async (side: Side, who: Member, said: string): Promise<void> => {
      const body = { text: said, reader: who.id, room: "a" };
      expect((await side.people.as(who.token, "POST", "/notes", body)).status).toBe(201);
    };

    test("kept signals have the name that each version knows, live and in the history", async () => {
      const who = await old.people.member("");
      const [before, after] = [
        await listening(old, who, "device_id=old"),
        await listening(next, who, "device_id=next"),
      ];
      await note(old, who, "one");
      await note(next, who, "two");
      await expect
        .poll(() => before, { timeout: 10_000 })
        .toEqual(["note.made one", "note.made two"]);
      await expect
        .poll(() => after, { timeout: 10_000 })
        .toEqual(["note.written one", "note.written two"]);
      const history = async (side: Side): Promise<unknown> =>
        (await side.people.as(who.token, "GET", "/realtime/history")).body.signals.map(
          ({ event }: { readonly event: string }) => event,
        );
      expect(await history(old)).toEqual(["note.made", "note.made"]);
      expect(await history(next)).toEqual(["note.written", "note.written"]);
      // What was kept is replayed to a connection that comes later.
      await expect
        .poll(await listening(next, who, "device_id=late").then((signals) => () => signals))
        .toEqual(["note.written one", "note.written two"]);
    });

    // Without a bus, topics are heard in one process alone.
    if (engine.name === "postgres")
      test("a signal on a topic has the name that the version of each connection knows", async () => {
        const who = await old.people.member("");
        const before = await listening(old, who, "topics=room:a&from=now");
        const after = await listening(next, who, "topics=room:a&from=now");
        const live = (signals: readonly string[]): readonly string[] =>
          signals.filter((one) => /heard|seen/.test(one));
        await note(old, who, "one");
        await expect.poll(() => live(after)).toEqual(["note.seen one"]);
        await note(next, who, "two");
        await expect.poll(() => live(before)).toEqual(["note.heard one", "note.heard two"]);
        await expect.poll(() => live(after)).toEqual(["note.seen one", "note.seen two"]);
      });
  });
}

const refused: readonly (readonly [string, string, string, string])[] = [
  [
    "still is an event",
    `${made("notes.made")}\n${made("notes.written", ", was: notes.made")}`,
    signalsOf("note.made", "note.heard"),
    "notes.made is still an event, so notes.written cannot have been called that",
  ],
  [
    "is that of two events",
    `${made("notes.sent", ", was: notes.made")}\n${made("notes.written", ", was: notes.made")}`,
    signalsOf("note.made", "note.heard"),
    "notes.sent and notes.written cannot both have been called notes.made",
  ],
  [
    "still is a signal",
    made("notes.written"),
    signalsOf("note.made", "note.heard", ["", ", was: note.made"]),
    "note.made is still an event, so note.heard cannot have been called that",
  ],
];
test.each(refused)(
  "a former name of an event is refused that %s",
  async (_title, events, signals, message) => {
    const names = { event: "notes.written", signal: "note.made", live: "note.heard" };
    await expect(testProject(registry({ ...names, events, signals }))).rejects.toThrow(
      `OPW100 ${message}`,
    );
  },
);
