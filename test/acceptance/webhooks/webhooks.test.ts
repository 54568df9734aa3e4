// Webhooks over HTTP: callers subscribe to integration events and are told, signed, at least once, and nobody waits for anybody.
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { isCallable, isPublic, lookupPublic } from "../../../runtime/families/webhooks/address.js";
import { uuidv7 } from "../../../runtime/ports/uuid.js";
import { tenantStore } from "../../../runtime/ports/tenants.js";
import { webhookStore } from "../../../runtime/ports/webhooks.js";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const may = ["webhooks.read", "tasks.read", "tasks.write"];

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let people: People;
    let member: Member;
    let receiver: Server;
    let base = "";
    const received: Received[] = [];
    /** How each path answers; 204 where nothing is said. */
    const answers = new Map<string, (res: ServerResponse) => void>();

    beforeAll(async () => {
      receiver = createServer((req, res) => {
        void text(req).then((body) => {
          const path = req.url ?? "";
          received.push({ path, headers: req.headers, body });
          const answer = answers.get(path);
          if (answer === undefined) res.writeHead(204).end();
          else answer(res);
        });
      });
      await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
      base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
      service = await startTestService(engine, {
        environment: {
          WEBHOOK_ADDRESSES: "any",
          WEBHOOK_BACKOFF_SECONDS: "0.05",
          WEBHOOK_MAX_ATTEMPTS: "3",
          DRAIN_SECONDS: "1",
        },
      });
      people = peopleOf(service);
    }, 60_000);
    afterAll(async () => {
      await service.stop();
      receiver.closeAllConnections();
      receiver.close();
    });
    beforeEach(async () => {
      member = await people.member("", ...may);
      received.length = 0;
      answers.clear();
    });

    const as = (method: string, path: string, body?: unknown, who = member): Promise<Answer> =>
      people.as(who.token, method, path, body);
    const subscribe = async (path: string, who = member): Promise<Answer["body"]> => {
      const made = await as("POST", "/webhooks", subscription(`${base}${path}`), who);
      expect(made.status).toBe(201);
      return made.body;
    };
    const subscription = (url: string): object => ({ url, events: ["tasks.completed"] });
    const complete = async (who = member): Promise<string> => {
      const task = await as("POST", "/tasks", { title: "it", project: who.id }, who);
      const { id, rev } = task.body;
      expect((await as("POST", `/tasks/${id}/complete`, { rev }, who)).status).toBe(200);
      return id;
    };
    const at = (path: string): readonly Received[] => received.filter((one) => one.path === path);
    const arrived = (path: string, count = 1): Promise<void> =>
      expect.poll(() => at(path).length, { timeout: 10_000 }).toBeGreaterThanOrEqual(count);
    const deliveriesOf = async (id: string): Promise<Answer["body"]> =>
      (await as("GET", `/webhooks/${id}/deliveries`)).body.deliveries;

    test("an event arrives, signed with the secret that is shown once", async () => {
      const made = await subscribe("/a");
      expect(made.secret).toMatch(/^whsec_/);
      const listed = await as("GET", "/webhooks");
      const { secret, ...entry } = made;
      expect(listed.body).toEqual({ webhooks: [entry] });
      const task = await complete();
      await arrived("/a");
      const [first] = at("/a");
      const told = new Webhook(secret).verify(
        first?.body ?? "",
        first?.headers as Record<string, string>,
      );
      expect(told).toMatchObject({
        type: "tasks.completed",
        tenant_id: member.tenantId,
        data: { id: task, state: "done" },
      });
      await expect
        .poll(() => deliveriesOf(made.id))
        .toMatchObject([
          { event: "tasks.completed", state: "delivered", attempts: 1, status: 204, error: null },
        ]);
      expect(first?.headers["webhook-id"]).toBe((await deliveriesOf(made.id))[0].event_id);
    });

    test("a rollback delivers nothing", async () => {
      await subscribe("/undone");
      const task = await as("POST", "/tasks", { title: "it", project: member.id });
      const late = await as("POST", `/tasks/${task.body.id}/complete`, { rev: 7 });
      expect(late.status).toBe(409);
      await complete();
      await arrived("/undone");
      expect(at("/undone")).toHaveLength(1);
    });

    test("only its owner sees a webhook, and only its tenant is heard", async () => {
      const { id } = await subscribe("/mine");
      const colleague = await people.member(member.tenantId, ...may);
      const stranger = await people.member("", ...may);
      for (const other of [colleague, stranger]) {
        expect((await as("GET", "/webhooks", undefined, other)).body).toEqual({ webhooks: [] });
        for (const [method, path] of [
          ["DELETE", `/webhooks/${id}`],
          ["POST", `/webhooks/${id}/test`],
          ["GET", `/webhooks/${id}/deliveries`],
          ["POST", `/webhooks/${id}/deliveries/${id}/redeliver`],
        ] as const)
          expect((await as(method, path, undefined, other)).status).toBe(404);
      }
      await complete(stranger);
      await complete(colleague);
      await arrived("/mine");
      expect(at("/mine").map(({ body }) => JSON.parse(body).tenant_id)).toEqual([member.tenantId]);
    });

    test("a failing receiver is tried again, then given up, and tried again on request", async () => {
      answers.set("/fails", (res) => res.writeHead(500).end());
      const { id } = await subscribe("/fails");
      await complete();
      await expect
        .poll(() => deliveriesOf(id), { timeout: 10_000 })
        .toMatchObject([
          { state: "failed", attempts: 3, status: 500, error: "the webhook answered 500" },
        ]);
      const ids = new Set(at("/fails").map(({ headers }) => headers["webhook-id"]));
      expect([ids.size, at("/fails").length]).toEqual([1, 3]);
      answers.clear();
      const [{ id: delivery }] = await deliveriesOf(id);
      expect((await as("POST", `/webhooks/${id}/deliveries/${delivery}/redeliver`)).status).toBe(
        202,
      );
      await expect
        .poll(() => deliveriesOf(id), { timeout: 10_000 })
        .toMatchObject([{ state: "delivered", attempts: 1, status: 204 }]);
    });

    test.each([
      ["a redirect", (res: ServerResponse) => res.writeHead(302, { location: `${base}/b` }).end()],
      ["a connection that ends", (res: ServerResponse) => res.destroy()],
    ])("%s is a failed attempt", async (_what, answer) => {
      answers.set("/odd", answer);
      const { id } = await subscribe("/odd");
      await complete();
      await expect
        .poll(() => deliveriesOf(id), { timeout: 10_000 })
        .toMatchObject([{ state: "failed", attempts: 3 }]);
      expect(at("/b")).toEqual([]);
    });

    test("410 ends the attempts at once", async () => {
      answers.set("/gone", (res) => res.writeHead(410).end());
      const { id } = await subscribe("/gone");
      await complete();
      await expect.poll(() => deliveriesOf(id)).toMatchObject([{ state: "failed", attempts: 1 }]);
    });

    test("a webhook can be tried", async () => {
      const { id } = await subscribe("/try");
      const tried = await as("POST", `/webhooks/${id}/test`);
      expect(tried).toMatchObject({ status: 202, body: { event: "webhook.test" } });
      await arrived("/try");
      expect(JSON.parse(at("/try")[0]?.body ?? "")).toMatchObject({
        type: "webhook.test",
        data: { webhook_id: id },
      });
    });

    test("one that is silent holds up no other", async () => {
      answers.set("/silent", () => undefined);
      const slow = await subscribe("/silent");
      await subscribe("/quick");
      for (let index = 0; index < 12; index += 1) await complete();
      await arrived("/quick", 12);
      // Those that are silent have taken their share, and the rest waits.
      expect(at("/silent").length).toBeLessThanOrEqual(2);
      expect(await deliveriesOf(slow.id)).toHaveLength(12);
      expect((await as("DELETE", `/webhooks/${slow.id}`)).status).toBe(204);
    });

    test("a webhook with much to do is told all of it, and holds up no other", async () => {
      answers.set("/behind", () => undefined);
      const behind = await subscribe("/behind");
      const busy = await subscribe("/busy");
      await service.running.connection.write("test.burst", async ({ transaction, resources }) => {
        const store = transaction.of(webhookStore);
        const owner = { tenant: member.tenantId, principalId: member.id };
        for (const [id, count] of [
          [behind.id, 300],
          [busy.id, 40],
        ] as const) {
          const webhook = await store.find(owner, id);
          if (webhook === null) throw new Error("the webhook is gone");
          for (let index = 0; index < count; index += 1) {
            const eventId = uuidv7();
            const payload = resources.sealer.seal("{}", eventId);
            const event = { id: eventId, name: "tasks.completed", tenant: owner.tenant, payload };
            const kept = { shape: null, traceparent: null, createdAt: Date.now() };
            await store.stage({ ...event, ...kept }, webhook);
          }
        }
      });
      await arrived("/busy", 40);
      expect(at("/behind").length).toBeLessThanOrEqual(2);
      expect((await as("DELETE", `/webhooks/${behind.id}`)).status).toBe(204);
    });

    test("one that answers, and does not come to an end, is under way as well", async () => {
      answers.set("/endless", (res) => res.writeHead(200).write("…"));
      const { id } = await subscribe("/endless");
      for (let index = 0; index < 6; index += 1) await complete();
      await arrived("/endless", 2);
      await expect.poll(() => deliveriesOf(id)).toHaveLength(6);
      expect(at("/endless")).toHaveLength(2);
      expect((await as("DELETE", `/webhooks/${id}`)).status).toBe(204);
    });

    test("former and inactive members hear nothing", async () => {
      await subscribe("/left");
      const colleague = await people.member(member.tenantId, ...may);
      await subscribe("/stays", colleague);
      await service.running.connection.write("test.leave", async ({ transaction }) => {
        await transaction.of(tenantStore).removeMember(member.tenantId, member.id, Date.now());
      });
      await complete(colleague);
      await arrived("/stays");
      expect(at("/left")).toEqual([]);
    });

    test("webhooks take turns, however much waits for each", async () => {
      const [webhooks, events] = [20, 20];
      const held: ServerResponse[] = [];
      let isHeld = true;
      for (let index = 0; index < webhooks; index += 1) {
        await subscribe(`/turn-${index}`);
        answers.set(`/turn-${index}`, (res) => {
          if (isHeld) held.push(res);
          else setTimeout(() => res.writeHead(204).end(), 20);
        });
      }
      for (let index = 0; index < events; index += 1) await complete();
      isHeld = false;
      for (const res of held) res.writeHead(204).end();
      const all = webhooks * events;
      await expect.poll(() => received.length, { timeout: 30_000 }).toBeGreaterThanOrEqual(all);
      const half = new Map<string, number>();
      for (const { path } of received.slice(0, all / 2)) half.set(path, (half.get(path) ?? 0) + 1);
      expect(half.size).toBe(webhooks);
      expect(Math.min(...half.values())).toBeGreaterThan(events / 4);
    });

    test("a caller has so many webhooks at most", async () => {
      for (let index = 0; index < 20; index += 1) await subscribe(`/${index}`);
      const more = await as("POST", "/webhooks", subscription(`${base}/more`));
      expect(more).toMatchObject({
        status: 409,
        body: { code: "webhooks_limit", context: { most: 20 } },
      });
    });

    test.each([
      ["an event that carries secrets", { events: ["authn.password_reset_requested"] }],
      ["an event that is not there", { events: ["tasks.lost"] }],
      ["no event", { events: [] }],
      ["the same event twice", { events: ["tasks.completed", "tasks.completed"] }],
      ["what is no URL", { url: "here" }],
      ["another protocol", { url: "ftp://example.com/" }],
      ["credentials in the address", { url: "https://a:b@example.com/" }],
    ])("%s is refused", async (_what, given) => {
      const asked = { ...subscription(`${base}/a`), ...given };
      expect((await as("POST", "/webhooks", asked)).status).toBe(422);
    });

    test("without a say of the deployment, private addresses are refused", async () => {
      const strict = await startTestService(engine);
      try {
        for (const url of [
          `${base}/a`,
          "https://127.0.0.1/",
          "https://2130706433/",
          "https://[::1]/",
          "https://[::ffff:10.0.0.1]/",
          "https://169.254.169.254/latest/meta-data",
          "https://localhost/",
          "https://metadata.google.internal/",
        ]) {
          const refused = await strict.post("/webhooks", subscription(url));
          expect([url, refused.status, refused.body.context.errors?.[0]?.path]).toEqual([
            url,
            422,
            "/url",
          ]);
        }
        const taken = await strict.post("/webhooks", subscription("https://example.com/hook"));
        expect(taken.status).toBe(201);
      } finally {
        await strict.stop();
      }
    });
  });
}

describe("addresses", () => {
  const inside = [
    "10.1.2.3 192.168.0.1 100.64.0.1 0.0.0.0 127.0.0.1 169.254.169.254 172.31.0.1 192.0.0.1 198.18.0.1 198.19.255.255",
    "224.0.0.1 255.255.255.255 :: ::1 fe80::1 fe80::1%eth0 fec0::1 fd00::1 ff02::1 100::1 4000::1 5f00::1 3fff::1",
    // Those that stand for IPv4 addresses, as libuv prints them as well.
    "::127.0.0.1 ::7f00:1 ::ffff:10.0.0.1 ::ffff:a00:1 64:ff9b::a00:1 64:ff9b:1::a00:1 2002:a00:1::1 2001:0:a00:1::1",
    "2001:2::1 2001:10::1 2001:db8::1 nowhere",
  ];
  test.each(inside.join(" ").split(" "))("%s is not public", (address) =>
    expect(isPublic(address)).toBe(false),
  );

  test.each([
    "1.1.1.1",
    "192.0.1.1",
    "198.20.0.1",
    "2606:4700::1111",
    "2a00:1450::1",
    "::ffff:1.1.1.1",
  ])("%s is public", (address) => expect(isPublic(address)).toBe(true));

  test("a name is looked up when it is called, and refused where it leads inside", async () => {
    expect(isCallable("https://localhost.example.com/", "public")).toBe(true);
    const looked = await new Promise((resolve) =>
      lookupPublic("localhost", { all: true }, (error) => resolve(error?.message)),
    );
    expect(looked).toBe("the address is not public");
  });
});
