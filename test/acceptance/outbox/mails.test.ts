// Integration events as mails: what the author's function makes of them reaches a real mail server, once it is there, and nothing else does.
import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { smtp } from "../../../runtime/families/outbox/smtp.js";
import { outboxStore } from "../../../runtime/ports/outbox.js";
import { readSettings } from "../../../runtime/server/settings.js";
import { engines, type TestEngine } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import { recordingLog } from "../../support/recording-log.js";
import { startTestService, type TestService } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
outbox:
  mail: registry/mail.ts#render
  events:
    orders.placed: {destination: mail, data: {to: string, subject: string, more: string?}}
    orders.counted: {destination: mail, data: {count: integer}}
operations:
  orders.place:
    post: /orders
    in: {to: string, subject: string, more: string?}
    run: registry/orders.ts#place
    guard: open
`,
  "registry/orders.ts": `import { stageEvent } from "../generated/outbox.js";
export const place = async (input, context) => {
  await stageEvent(context, "orders.counted", { count: 1 });
  await stageEvent(context, "orders.placed", { more: null, ...input });
};
`,
  "registry/mail.ts": `import type { RenderMail } from "../generated/outbox.js";
export const render: RenderMail = (event) => {
  if (event.name !== "orders.placed") return null;
  const { to, subject, more } = event.data;
  return { to, subject, text: "It is on its way.", html: "<p>It is on its way.</p>", ...JSON.parse(more ?? "{}") };
};
`,
};

interface Received {
  readonly user: unknown;
  readonly from: string;
  readonly to: readonly string[];
  readonly source: string;
}

const received: Received[] = [];
const servers: SMTPServer[] = [];
/** What the server says to a mail: null takes it. */
let refusal: Error | null = null;

/** A mail server with credentials on a port of its own. */
async function mailServer(options: SMTPServerOptions = {}): Promise<string> {
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    hideSTARTTLS: true,
    onAuth: ({ username, password }, _session, done) =>
      password === "p@ss/word" ? done(null, { user: username }) : done(new Error("no")),
    onData(stream, { user, envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
        const source = Buffer.concat(chunks).toString();
        received.push({ user, from, to: envelope.rcptTo.map((one) => one.address), source });
        done(refusal);
      });
    },
    ...options,
  });
  server.on("error", () => undefined);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `127.0.0.1:${(server.server.address() as AddressInfo).port}`;
}

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterEach(() => {
  refusal = null;
  received.length = 0;
});
afterAll(() => {
  project.remove();
  for (const server of servers) server.close();
});

const from = "Demo shop <shop@demo.test>";
const order = { to: "ann@example.test", subject: "Thank you, Änn" };

test("a test asks for the mails that the events of its service make", async () => {
  const { testService } = await project.load("generated/testing.ts");
  await using app = await testService();
  const place = async (body: object): Promise<void> => {
    const headers = { "content-type": "application/json" };
    const sent = { method: "POST", headers, body: JSON.stringify({ more: null, ...body }) };
    expect((await fetch(`${app.url}/orders`, sent)).status).toBe(204);
  };
  expect(await app.mails()).toEqual([]);
  await place(order);
  await place({ ...order, subject: "Again" });
  const mails = await app.mails();
  const made = { to: [order.to], text: "It is on its way.", html: "<p>It is on its way.</p>" };
  expect(mails).toMatchObject([
    { ...made, subject: order.subject, event: { name: "orders.placed", data: { to: order.to } } },
    { ...made, subject: "Again" },
  ]);
  expect((await app.mails())[0]).toBe(mails[0]);
  await place({ ...order, to: "nobody" });
  await expect(app.mails()).rejects.toThrow("plain addresses");
});

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    const running: TestService[] = [];
    afterEach(() => Promise.all(running.splice(0).map((service) => service.stop())));
    const started = async (
      url: string,
      of: TestEngine = engine,
      sender: string = from,
    ): Promise<TestService> => {
      const { service: definition } = await project.load("generated/service.ts");
      const service = await startTestService(of, {
        definition,
        folder: `${project.root}/generated`,
        environment: {
          DESTINATION_MAIL: url,
          MAIL_FROM: sender,
          OUTBOX_BACKOFF_SECONDS: "0.01",
          OUTBOX_MAX_ATTEMPTS: "3",
        },
      });
      running.push(service);
      return service;
    };
    const stateOf = ({ running: { connection } }: TestService) =>
      connection.database.reader.of(outboxStore).state(Date.now());
    const delivered = { pending: 0, dead: 0, lagMillis: 0 };

    test("an event becomes a mail; one that nothing is made of is done with", async () => {
      const service = await started(`smtp://shop:p%40ss%2Fword@${await mailServer()}`);
      expect((await service.post("/orders", order)).status).toBe(204);
      await expect.poll(() => stateOf(service)).toEqual(delivered);
      expect(received).toHaveLength(1);
      const [{ user, from: envelopeFrom, to, source } = {} as Received] = received;
      expect([user, envelopeFrom, to]).toEqual(["shop", "shop@demo.test", [order.to]]);
      for (const line of [
        /^From: Demo shop <shop@demo\.test>\r$/m,
        /^To: ann@example\.test\r$/m,
        /^Subject: =\?UTF-8\?Q\?Thank_you=2C_=C3=84nn\?=\r$/m,
        /^Message-ID: <[\da-f-]{36}@demo\.test>\r$/m,
        /^Auto-Submitted: auto-generated\r$/m,
        /^Content-Type: multipart\/alternative;/m,
        /^It is on its way\.\r$/m,
        /<p>It is on its way\.<\/p>/,
      ])
        expect(source).toMatch(line);
    });

    test("without a server, mails are kept for the console, the newest first", async () => {
      const lines = recordingLog();
      const { service: definition } = await project.load("generated/service.ts");
      const folder = `${project.root}/generated`;
      const service = await startTestService(engine, { definition, folder, log: lines });
      running.push(service);
      const asked = async () => (await service.call("GET", "/console/mails")).body.mails;
      for (const more of [
        null,
        '{"to":["ann@example.test","bob@example.test"],"text":"Hi\\n you"}',
      ])
        expect((await service.post("/orders", { ...order, more })).status).toBe(204);
      expect((await service.post("/orders", { ...order, to: "nobody" })).status).toBe(204);
      await expect.poll(() => stateOf(service)).toEqual(delivered);
      const mails = await asked();
      expect(mails).toHaveLength(2);
      expect(mails).toContainEqual({
        to: [order.to],
        subject: order.subject,
        text: "It is on its way.",
        html: "<p>It is on its way.</p>",
        event: {
          id: expect.any(String),
          name: "orders.placed",
          created_at: expect.stringMatching(/Z$/),
        },
      });
      const told = lines.lines
        .map(({ fields }) => fields["mail"])
        .filter((one) => one !== undefined);
      expect(told.toSorted()).toEqual([
        `to ${order.to} and 1 more: ${order.subject} · Hi you`,
        `to ${order.to}: ${order.subject} · It is on its way.`,
      ]);
      expect(lines.lines.filter(({ message }) => message.startsWith("no mail"))).toHaveLength(1);
      const access = (await service.call("GET", "/console/access")).body;
      expect(access.own).toContain("console.mails");
    });

    test("with a server, none is kept", async () => {
      const service = await started(`smtp://${await mailServer()}`);
      expect((await service.post("/orders", order)).status).toBe(204);
      await expect.poll(() => received.length).toBe(1);
      expect((await service.call("GET", "/console/mails")).body).toEqual({ mails: [] });
    });

    test.each([
      ["Shop, Inc. <shop@demo.test>", /^From: "Shop, Inc\." <shop@demo\.test>$/],
      ["Ännas Lädchen <shop@dömain.test>", /^From: =\?UTF-8\?.*\?= <shop@xn--dmain-jua\.test>$/],
      ["shop@demo.test", /^From: shop@demo\.test$/],
    ])(
      "the headers of a mail of %s are those of RFC 5322",
      async (sender, line) => {
        const url = `smtp://${await mailServer()}`;
        const service = await started(url, engine, sender);
        for (const subject of ["Hello", "Grüße ".repeat(60), "x".repeat(3_000), "🎉".repeat(200)])
          expect((await service.post("/orders", { to: order.to, subject })).status).toBe(204);
        await expect.poll(() => received.length).toBe(4);
        for (const { source } of received) {
          const [head = ""] = source.split("\r\n\r\n");
          const lines = head.split("\r\n");
          expect(lines.filter((one) => one.length > 998 || /[^\t\x20-\x7e]/.test(one))).toEqual([]);
          const fields = head.replaceAll(/\r\n(?=[ \t])/g, "").split("\r\n");
          const named = (name: string): readonly string[] =>
            fields.filter((field) => field.toLowerCase().startsWith(`${name}:`));
          for (const once of ["date", "from", "to", "subject", "message-id", "mime-version"])
            expect([once, named(once).length]).toEqual([once, 1]);
          expect(named("from")[0]).toMatch(line);
          // RFC 5322 §3.3.
          expect(named("date")[0]).toMatch(
            /^Date: (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d\d:\d\d:\d\d \+0000$/,
          );
          expect(Math.abs(Date.parse(named("date")[0]?.slice(6) ?? "") - Date.now())).toBeLessThan(
            600_000,
          );
          // RFC 5322 §3.6.4: a dot-atom on both sides.
          expect(named("message-id")[0]).toMatch(/^Message-ID: <[\da-f-]{36}@[a-z0-9.-]+>$/);
        }
        await expect.poll(() => stateOf(service)).toEqual(delivered);
      },
      30_000,
    );

    test("a mail that the server refuses is tried again under the same Message-ID, and given up in the end", async () => {
      refusal = new Error("greylisted");
      const url = await mailServer();
      const service = await started(`smtp://${url}`);
      await service.post("/orders", order);
      const dead = { pending: 0, dead: 1, lagMillis: 0 };
      await expect.poll(() => stateOf(service), { timeout: 10_000 }).toEqual(dead);
      const ids = received.map(({ source }) => /^Message-ID: (.*)\r$/m.exec(source)?.[1]);
      expect([ids.length, new Set(ids).size]).toEqual([3, 1]);
    }, 20_000);

    test("no value of an event adds a header, a recipient, or a file", async () => {
      const service = await started(`smtp://${await mailServer()}`);
      const subject = "Hello\r\nBcc: eve@example.test\r\n\r\nBuy now";
      const more = JSON.stringify({
        headers: { Bcc: "eve@example.test" },
        bcc: "eve@example.test",
        attachments: [{ path: "/etc/passwd" }],
      });
      expect((await service.post("/orders", { to: order.to, subject, more })).status).toBe(204);
      await expect.poll(() => received.length).toBe(1);
      const [{ to, source } = {} as Received] = received;
      expect(to).toEqual([order.to]);
      expect(source).not.toMatch(/^Bcc:/im);
      expect(source).not.toMatch(/passwd|root:/);
      await expect.poll(() => stateOf(service)).toEqual(delivered);
      for (const hostile of [
        "ann@example.test, eve@example.test",
        "ann@example.test\r\nBcc: eve@example.test",
        "Ann <eve@example.test>",
        "ann@example.test>\r\nRCPT TO:<eve@example.test",
        "ann\u0001@example.test",
      ])
        await service.post("/orders", { to: hostile, subject: "x" });
      await expect.poll(() => stateOf(service), { timeout: 10_000 }).toMatchObject({ dead: 5 });
      expect(received).toHaveLength(1);
    }, 20_000);

    test("a certificate that nobody vouches for is not talked to", async () => {
      const service = await started(`smtps://${await mailServer({ secure: true })}`);
      await service.post("/orders", order);
      await expect.poll(() => stateOf(service), { timeout: 10_000 }).toMatchObject({ dead: 1 });
      expect(received).toEqual([]);
    }, 20_000);
  });
}

test("a server without TLS gets nothing where TLS is required", async () => {
  const url = `smtp://${await mailServer({ disabledCommands: ["STARTTLS"] })}`;
  const mail = { to: "ann@example.test", subject: "x", text: "y" };
  const event = {
    name: "a.b",
    data: {},
    tenant: "",
    created_at: "2026-01-01T00:00:00Z",
    attempt: 1,
  };
  const one = smtp({ url, from, requiresTls: true }, () => mail);
  const [sqlite] = engines;
  const service = await project.start(sqlite as TestEngine);
  const context = service.running.connection.context("outbox.a.b");
  await expect(one.destination({ ...event, id: "1" }, context)).rejects.toThrow("STARTTLS");
  await service.stop();
  await one.close();
  expect(received).toEqual([]);
});

test.each<[string, Readonly<Record<string, string>>, string]>([
  ["nobody sends", { DESTINATION_MAIL: "smtps://mail.example.test" }, "MAIL_FROM must be"],
  [
    "a sender adds headers",
    {
      DESTINATION_MAIL: "smtp://mail.example.test",
      MAIL_FROM: "a@example.test\nBcc: b@example.test",
    },
    "MAIL_FROM must be",
  ],
  [
    "a URL says more than where the server is",
    {
      DESTINATION_MAIL: "smtps://mail.example.test/?tls.rejectUnauthorized=false",
      MAIL_FROM: from,
    },
    "DESTINATION_MAIL must be",
  ],
])("a service does not start where %s", async (_case, environment, fault) => {
  const { service: definition } = await project.load("generated/service.ts");
  expect(() => readSettings(definition, environment)).toThrow(fault);
});

test("a service that makes no mails does not start with a mail server", async () => {
  const { service: definition } = await project.load("generated/service.ts");
  const { mail: _mail, ...outbox } = definition.outbox;
  const environment = { DESTINATION_MAIL: "smtps://mail.example.test", MAIL_FROM: from };
  expect(() => readSettings({ ...definition, outbox }, environment)).toThrow("outbox.mail");
});
