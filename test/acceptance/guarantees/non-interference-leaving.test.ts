// What leaves tells nobody what they may not see: worlds that differ in nothing else send a caller's webhook, and mail, the same
// (attack 118). A failing world is replayed by OPWRIGHT_TEST_SEED; OPWRIGHT_TEST_WORLDS says how many there are.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { SMTPServer } from "smtp-server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { outboxStore } from "../../../runtime/ports/outbox.js";
import { engines } from "../../support/engines.js";
import { peopleOf } from "../../support/people.js";
import { testProject, type TestProject } from "../../support/project-service.js";

const seed = Number(process.env["OPWRIGHT_TEST_SEED"] ?? 1);
const numRuns = Number(process.env["OPWRIGHT_TEST_WORLDS"] ?? 2);

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies:
  staff: [principal, tenant]
  reader: [principal, tenant, {authorize: "{resource}.read"}]
types:
  Told: {text: string, to: string}
outbox:
  mail: registry/mail.ts#render
  events:
    notes.told: {destination: mail, data: Told}
    orders.told: {destination: mail, data: Told}
    secrets.told: {destination: mail, data: Told, guard: reader}
webhooks: {guard: reader}
operations:
  notes.tell: {post: /tell, in: {event: string, text: string, to: string}, run: registry/tell.ts#tell, guard: staff}
`,
  "registry/tell.ts": `import { stageEvent } from "../generated/outbox.js";
export const tell = async ({ event, ...told }, context) => {
  await stageEvent(context, event, told);
};
`,
  "registry/mail.ts": `export const render = ({ data }) => ({ to: data.to, subject: data.text, text: data.text });
`,
};

/** What others tell, and how their webhooks answer. */
const others = fc.record({
  /** In the caller's tenant, of what the caller may not hear. */
  colleagues: fc.array(fc.constantFrom("orders.told", "secrets.told"), { maxLength: 8 }),
  /** In another tenant, of anything. */
  strangers: fc.array(fc.constantFrom("notes.told", "orders.told"), { maxLength: 8 }),
  webhooks: fc.array(fc.constantFrom("/silent", "/failing", "/gone"), { maxLength: 6 }),
});
type Others = typeof others extends fc.Arbitrary<infer Value> ? Value : never;
const bare: Others = { colleagues: [], strangers: [], webhooks: [] };

interface Left {
  readonly what: string;
  readonly headers: readonly string[];
}

let project: TestProject;
let receiver: Server;
let mails: SMTPServer;
const called: { readonly path: string; readonly left: Left }[] = [];
const mailed: { readonly to: string; readonly source: string }[] = [];

/** Without ids, times and what follows from them. */
function plain(said: string): string {
  return said
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replaceAll(/^Date: .*$/gm, "Date: <time>");
}

beforeAll(async () => {
  project = await testProject(files);
  receiver = createServer((req, res) => {
    void text(req).then((body) => {
      const path = req.url ?? "";
      called.push({ path, left: { what: plain(body), headers: Object.keys(req.headers).sort() } });
      if (path !== "/silent")
        res.writeHead(path === "/failing" ? 500 : path === "/gone" ? 410 : 204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  mails = new SMTPServer({
    authOptional: true,
    hideSTARTTLS: true,
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const to = envelope.rcptTo.map(({ address }) => address).join();
        mailed.push({ to, source: Buffer.concat(chunks).toString() });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => mails.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  project.remove();
  receiver.closeAllConnections();
  receiver.close();
  mails.close();
});

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    /** What the caller's webhook and its mailbox get in a world. */
    const leaving = async (given: Others) => {
      called.length = 0;
      mailed.length = 0;
      const base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
      const service = await project.start(engine, {
        environment: {
          WEBHOOK_ADDRESSES: "any",
          DESTINATION_MAIL: `smtp://127.0.0.1:${(mails.server.address() as AddressInfo).port}`,
          MAIL_FROM: "shop@demo.test",
          DRAIN_SECONDS: "1",
        },
      });
      try {
        const { identitySpec } = await project.load("generated/identity.ts");
        const people = peopleOf(service, identitySpec);
        const caller = await people.member("", "webhooks.read", "notes.read");
        const colleague = await people.member(caller.tenantId, "admin");
        const stranger = await people.member("", "admin");
        const tell = async (who: typeof caller, event: string, said: string): Promise<void> => {
          const to = who === caller ? "ann@example.test" : "eve@example.test";
          const told = await people.as(who.token, "POST", "/tell", { event, text: said, to });
          expect(told.status).toBe(204);
        };
        const subscribe = async (who: typeof caller, path: string, events: readonly string[]) => {
          const asked = { url: `${base}${path}`, events };
          return (await people.as(who.token, "POST", "/webhooks", asked)).status;
        };
        expect(await subscribe(caller, "/caller", ["notes.told"])).toBe(201);
        for (const event of ["orders.told", "secrets.told"])
          expect(await subscribe(caller, "/caller", [event])).toBe(403);
        for (const path of given.webhooks)
          for (const who of [colleague, stranger])
            await subscribe(who, path, ["notes.told", "orders.told", "secrets.told"]);
        for (let index = 0; index < 3; index += 1) {
          for (const event of given.colleagues) await tell(colleague, event, `hidden ${index}`);
          for (const event of given.strangers) await tell(stranger, event, `hidden ${index}`);
          await tell(caller, "notes.told", `mine ${index}`);
        }
        const own = (): readonly Left[] =>
          called.filter(({ path }) => path === "/caller").map(({ left }) => left);
        await expect.poll(() => own().length, { timeout: 20_000 }).toBeGreaterThanOrEqual(3);
        const outbox = service.running.connection.database.reader.of(outboxStore);
        await expect
          .poll(async () => (await outbox.state(Date.now())).pending, { timeout: 20_000 })
          .toBe(0);
        const toCaller = mailed.filter(({ to }) => to === "ann@example.test");
        // At least once, in no order.
        const calls = new Set(own().map((left) => JSON.stringify(left)));
        const letters = new Set(toCaller.map(({ source }) => plain(source)));
        return { calls: [...calls].sort(), letters: [...letters].sort() };
      } finally {
        await service.stop();
      }
    };

    test(
      "what others tell, and how their webhooks answer, changes nothing that reaches a caller",
      async () => {
        const expected = await leaving(bare);
        expect(expected.calls).toHaveLength(3);
        expect(expected.letters).toHaveLength(3);
        for (const given of fc.sample(others, { numRuns, seed }))
          expect(await leaving(given), JSON.stringify(given)).toEqual(expected);
      },
      numRuns * 60_000,
    );
  });
}
