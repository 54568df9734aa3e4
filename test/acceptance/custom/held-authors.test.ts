// The author's functions that are no step of an operation: whoever forgets an `await` there fails, and the log says which
// function and line, on every engine alike (attack 162).
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { connectWebSocket } from "../../support/realtime-clients.js";
import { recordingLog } from "../../support/recording-log.js";
import type { TestService } from "../../support/service.js";

const registry = `registry: 1
service: {name: held, title: Held, version: 1.0.0}
types: {Text: {text: string}}
policies: {open: [], heard: [principal, may_hear], mine: [principal, {scope: mine, override: [boss]}]}
hooks: {may_hear: {run: registry/code.ts#mayHear, phase: before}}
scopes: {mine: registry/code.ts#mine}
identity: {methods: [token]}
authorization: {decide: registry/code.ts#decide}
documents:
  notes: {type: {text: string}, guard: open}
  cards: {type: {text: string}, guard: mine}
outbox:
  events:
    notes.sent: {data: Text, destination: registry/code.ts#deliver, guard: open}
    notes.mailed: {data: Text, destination: mailbox, guard: open}
    notes.told: {data: Text, destination: registry/code.ts#swallow, guard: heard}
  mail: registry/code.ts#mailOf
webhooks: {guard: heard, events: [notes.told]}
realtime:
  transports: [sse, websocket]
  topics: registry/code.ts#topics
  events: {notes.heard: {data: Text, audience: [topic], delivery: ephemeral}}
operations:
  code.stage: {post: /stage, in: {event: string, text: string}, run: registry/handlers.ts#stage, guard: open}
  code.follow: {post: /follow, in: {text: string}, run: registry/handlers.ts#follow, guard: open}
  code.cards: {post: /own-cards, out: {count: integer}, run: registry/handlers.ts#cards, guard: open}
`;

/** Each forgets an await where the text is `forgets`. */
const code = `import { collection } from "opwright/runtime";
import { notesSpec } from "../generated/documents/notes.js";
const found = globalThis.heldUnderTest ??= { delivered: [], isForgetful: false };
const look = (context) => collection(notesSpec, context).find({ size: 1 });
export const deliver = async ({ data }, context) => {
  if (data.text === "forgets") { look(context); return; }
  await look(context);
  found.delivered.push(data.text);
};
export const swallow = async () => {};
export const mailOf = async ({ data }, context) => {
  if (data.text === "forgets") look(context); else await look(context);
  found.delivered.push("mailed " + data.text);
  return null;
};
export const mayHear = async (_input, context) => {
  if (found.isForgetful) look(context); else await look(context);
};
export const topics = async (asked, context) => {
  if (asked.includes("forgets")) look(context); else await look(context);
  return asked;
};
export const decide = async (_question, context) => {
  await look(context);
  return false;
};
export const mine = async (_question, context) => {
  await look(context);
  return {};
};
`;
const handlers = `import { collection } from "opwright/runtime";
import { notesSpec } from "../generated/documents/notes.js";
import { cardsSpec } from "../generated/documents/cards.js";
import { stageEvent } from "../generated/outbox.js";
const look = (context) => collection(notesSpec, context).find({ size: 1 });
export const stage = async ({ event, text }, context) => {
  const staged = stageEvent(context, event, { text });
  await collection(notesSpec, context).create({ text });
  await staged;
};
export const follow = async ({ text }, context) => {
  context.whenCommitted(async () => { if (text === "forgets") look(context); else await look(context); });
};
export const cards = async (_input, context) => ({ count: await collection(cardsSpec, context).count() });
`;

interface Found {
  delivered: string[];
  isForgetful: boolean;
}

let project: TestProject;
let receiver: Server;
let base = "";
const called: string[] = [];
beforeAll(async () => {
  project = await testProject({
    "registry/service.yaml": registry,
    "registry/code.ts": code,
    "registry/handlers.ts": handlers,
  });
  receiver = createServer((req, res) => {
    called.push(req.url ?? "");
    req.resume().on("end", () => res.writeHead(204).end());
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});
afterAll(() => {
  receiver.closeAllConnections();
  receiver.close();
  project.remove();
});

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(`functions that forget to await, on ${engine.name}`, () => {
    const log = recordingLog();
    let service: TestService;
    let found: Found;
    beforeAll(async () => {
      service = await project.start(engine, {
        log,
        environment: {
          DESTINATION_MAILBOX: "smtp://127.0.0.1:1",
          MAIL_FROM: "held@example.test",
          OUTBOX_MAX_ATTEMPTS: "2",
          OUTBOX_BACKOFF_SECONDS: "0.01",
          WEBHOOK_ADDRESSES: "any",
          WEBHOOK_MAX_ATTEMPTS: "2",
          WEBHOOK_BACKOFF_SECONDS: "0.01",
        },
      });
      found = (globalThis as unknown as { heldUnderTest: Found }).heldUnderTest;
    });
    afterAll(() => service.stop());
    beforeEach(() => {
      log.lines.length = 0;
      called.length = 0;
      found.delivered.length = 0;
      found.isForgetful = false;
    });

    /** What the log says of a forgotten await in a function; "" until it says so. */
    const told = (name: string): string => {
      const lines = log.lines.map((line) => JSON.stringify(line));
      return (
        lines.find((line) => new RegExp(`an await is missing: ${name} (?:of|in) `).test(line)) ?? ""
      );
    };
    const expectTold = async (name: string): Promise<void> => {
      await expect.poll(() => told(name), { timeout: 8_000 }).not.toBe("");
      expect(told(name)).toMatch(
        /collection\(notes\)\.find at .*registry\/(?:code|handlers)\.ts:\d+/,
      );
    };
    const stage = (event: string, text: string) =>
      service.call("POST", "/stage", { body: { event, text } });

    test("a destination: the attempt has failed, and so has the next one", async () => {
      expect((await stage("notes.sent", "forgets")).status).toBe(204);
      await expectTold("deliver");
      await expect
        .poll(() => log.lines.map(({ message }) => message), { timeout: 8_000 })
        .toContain("an integration event was given up");
      expect((await stage("notes.sent", "waits")).status).toBe(204);
      await expect.poll(() => found.delivered, { timeout: 8_000 }).toEqual(["waits"]);
    });

    test("what makes mails: none is sent", async () => {
      expect((await stage("notes.mailed", "forgets")).status).toBe(204);
      await expectTold("mailOf");
      await expect
        .poll(() => log.lines.map(({ message }) => message), { timeout: 8_000 })
        .toContain("an integration event was given up");
      log.lines.length = 0;
      expect((await stage("notes.mailed", "waits")).status).toBe(204);
      await expect.poll(() => found.delivered, { timeout: 8_000 }).toContain("mailed waits");
      expect(told("mailOf")).toBe("");
    });

    test("the authorizer of topics: the topic is refused", async () => {
      const listen = async (topic: string): Promise<number> => {
        const { status, body } = await fetch(`${service.url}/realtime/sse?topics=${topic}`, {
          headers: { authorization: `Bearer ${service.tester.token}` },
        });
        await body?.cancel();
        return status;
      };
      expect(await listen("forgets")).toBe(500);
      await expectTold("topics");
      expect(await listen("waits")).toBe(200);
      const { tester } = service;
      const socket = await connectWebSocket(service, tester);
      log.lines.length = 0;
      expect(await socket.topics("subscribe", ["forgets"])).toMatchObject({
        error: { code: "core.internal" },
      });
      await expectTold("topics");
      expect(await socket.topics("subscribe", ["waits"])).toMatchObject({
        data: { topics: ["waits"] },
      });
      socket.close();
    });

    test("the guard of an event: asked where it is staged and before it is sent, and nothing is sent", async () => {
      const url = `${base}/${engine.name}`;
      const made = await service.call("POST", "/webhooks", {
        body: { url, events: ["notes.told"] },
      });
      expect(made.status).toBe(201);
      // The hook waits for the database in the turn of the call that stages.
      expect((await stage("notes.told", "waits")).status).toBe(204);
      await expect.poll(() => called, { timeout: 8_000 }).toEqual([`/${engine.name}`]);
      found.isForgetful = true;
      expect((await stage("notes.told", "again")).status).toBe(204);
      await expectTold("mayHear");
      log.lines.length = 0;
      // Asked again before it is sent.
      await expectTold("mayHear");
      expect(called).toEqual([`/${engine.name}`]);
    });

    test("what follows a commit: it stays, and the log says so", async () => {
      expect((await service.call("POST", "/follow", { body: { text: "forgets" } })).status).toBe(
        204,
      );
      await expectTold("the work of context.whenCommitted");
      log.lines.length = 0;
      expect((await service.call("POST", "/follow", { body: { text: "waits" } })).status).toBe(204);
      expect(log.lines.filter(({ level }) => level === "error")).toEqual([]);
    });

    test("the function that decides may ask the database while a call waits for it", async () => {
      const { status, body } = await service.call("POST", "/own-cards");
      expect([status, body]).toEqual([200, { count: 0 }]);
    });
  });
}
