// Webhooks and rights: who lost a right is told nothing more, not even what waits (attack 132), and caps hold (attack 154).
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { uuidv7 } from "../../../runtime/ports/uuid.js";
import { apiKeyStore } from "../../../runtime/ports/api-keys.js";
import { identityStore } from "../../../runtime/ports/identity.js";
import type { Log } from "../../../runtime/ports/log.js";
import { tenantStore, type TenantStore } from "../../../runtime/ports/tenants.js";
import { webhookStore } from "../../../runtime/ports/webhooks.js";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

const may = ["webhooks.read", "tasks.read", "tasks.write"];

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let people: People;
    let member: Member;
    let colleague: Member;
    let receiver: Server;
    let base = "";
    const received: { readonly path: string; readonly body: string }[] = [];
    /** Paths that answer 500 until they are removed here. */
    const failing = new Set<string>();
    const lines: { readonly fields: Record<string, unknown>; readonly text: string }[] = [];
    const note = (fields: object, said: string): void =>
      void lines.push({ fields: { ...fields }, text: said });
    const log: Log = { debug: note, info: note, warn: note, error: note };

    beforeAll(async () => {
      receiver = createServer((req, res) => {
        void text(req).then((body) => {
          const path = req.url ?? "";
          received.push({ path, body });
          res.writeHead(failing.has(path) ? 500 : 204).end();
        });
      });
      await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
      base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
      service = await startTestService(engine, {
        log,
        environment: {
          WEBHOOK_ADDRESSES: "any",
          WEBHOOK_BACKOFF_SECONDS: "0.2",
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
      colleague = await people.member(member.tenantId, ...may);
      received.length = 0;
      failing.clear();
    });

    const as = (method: string, path: string, body?: unknown, who = member): Promise<Answer> =>
      people.as(who.token, method, path, body);
    const subscribe = async (path: string, who = member): Promise<string> => {
      const made = await as("POST", "/webhooks", asked(path), who);
      expect(made.status).toBe(201);
      return made.body.id;
    };
    const asked = (path: string): object => ({
      url: `${base}${path}`,
      events: ["tasks.completed"],
    });
    const complete = async (who = colleague): Promise<void> => {
      const task = await as("POST", "/tasks", { title: "it", project: who.id }, who);
      const { id, rev } = task.body;
      expect((await as("POST", `/tasks/${id}/complete`, { rev }, who)).status).toBe(200);
    };
    const at = (path: string): number => received.filter((one) => one.path === path).length;
    const tenants = (work: (store: TenantStore) => Promise<unknown>): Promise<unknown> =>
      service.running.connection.write("test.rights", ({ transaction }) =>
        work(transaction.of(tenantStore)),
      );
    const revoke = (permission: string) =>
      tenants((store) => store.revoke(member.tenantId, member.id, permission));

    const endings: readonly (readonly [string, () => Promise<unknown>])[] = [
      ["its permission to have webhooks", () => revoke("webhooks.read")],
      ["its permission to read what the event tells", () => revoke("tasks.read")],
      [
        "its membership",
        () => tenants((store) => store.removeMember(member.tenantId, member.id, Date.now())),
      ],
      ["its tenant", () => tenants((store) => store.setTenantActive(member.tenantId, false))],
      [
        "its account",
        () =>
          service.running.connection.write("test.rights", ({ transaction }) =>
            transaction.of(identityStore).deactivate(member.id, Date.now()),
          ),
      ],
    ];

    test.each(endings)("who has lost %s is told nothing of what waits", async (what, lose) => {
      failing.add("/waits");
      const id = await subscribe("/waits");
      await complete();
      await expect.poll(() => at("/waits"), { timeout: 10_000 }).toBeGreaterThanOrEqual(1);
      await lose();
      // A call that had begun before may still arrive; the next attempt ends all.
      await expect
        .poll(() => lines.filter(({ fields }) => fields["webhook"] === id).at(-1)?.text, {
          timeout: 20_000,
        })
        .toBe("the owner of a webhook may no longer hear an event");
      const before = at("/waits");
      failing.clear();
      const [last] = lines.filter(({ fields }) => fields["webhook"] === id).slice(-1);
      expect([what, last?.fields["reason"]]).toEqual([what, expect.stringMatching(/^its owner/)]);
      const store = service.running.connection.database.reader.of(webhookStore);
      // It is noted behind the line of the log.
      await expect
        .poll(() => store.deliveries(id, undefined, 10))
        .toMatchObject([
          { dueAt: null, deliveredAt: null, error: expect.stringMatching(/^its owner/) },
        ]);
      expect(at("/waits")).toBe(before);
    });

    test("an event staged without the right is not delivered once the right is back", async () => {
      const id = await subscribe("/back");
      await subscribe("/stays", colleague);
      await revoke("tasks.read");
      await complete();
      await expect.poll(() => at("/stays"), { timeout: 10_000 }).toBe(1);
      await people.grant(member.tenantId, member.id, "tasks.read");
      await complete();
      await expect.poll(() => at("/back"), { timeout: 10_000 }).toBe(1);
      await expect
        .poll(async () => (await as("GET", `/webhooks/${id}/deliveries`)).body.deliveries)
        .toMatchObject([{ state: "delivered" }]);
    });

    const leavings: readonly (readonly [string, (admin: string) => Promise<Answer>])[] = [
      [
        "is removed from its tenant",
        (admin) =>
          people.as(admin, "DELETE", "/admin/memberships", {
            tenant_id: member.tenantId,
            principal_id: member.id,
          }),
      ],
      ["leaves its tenant", () => as("DELETE", `/tenants/${member.tenantId}`)],
      [
        "is deactivated",
        (admin) => people.as(admin, "POST", "/auth/deactivate", { principal_id: member.id }),
      ],
    ];

    test.each(leavings)("who %s has no webhooks there any more", async (what, leave) => {
      const owned = (who: Pick<Member, "id">) =>
        service.running.connection.database.reader
          .of(webhookStore)
          .list({ tenant: member.tenantId, principalId: who.id });
      const elsewhere = { tenant: "elsewhere", principalId: member.id };
      await subscribe("/leaves");
      const stays = await subscribe("/stays", colleague);
      await service.running.connection.write("test.rights", ({ transaction }) =>
        transaction.of(webhookStore).add({
          ...elsewhere,
          id: uuidv7(),
          url: `${base}/elsewhere`,
          events: ["tasks.completed"],
          secret: "sealed",
          createdAt: Date.now(),
        }),
      );
      const { id } = await people.person("admin");
      const { access_token: admin } = await people.session(id, null);
      expect((await leave(admin)).status).toBe(204);
      expect(await owned(member)).toEqual([]);
      expect(await owned(colleague)).toMatchObject([{ id: stays }]);
      const others = await service.running.connection.database.reader
        .of(webhookStore)
        .list(elsewhere);
      expect(others).toHaveLength(what === "is deactivated" ? 0 : 1);
    });

    test("nobody subscribes to what they may not read", async () => {
      const other = await people.member(member.tenantId, "webhooks.read");
      expect(await as("POST", "/webhooks", asked("/no"), other)).toMatchObject({
        status: 403,
        body: { code: "core.authorization", context: { missing: "tasks.read" } },
      });
    });

    test("an API key and a delegated caller manage no webhook", async () => {
      const id = await subscribe("/mine");
      const issued = await as("POST", "/api-keys", { actor_principal_id: colleague.id });
      const key = await as("POST", "/api-keys", {});
      expect([issued.status, key.status]).toEqual([201, 201]);
      const { access_token: acting } = await people.session(
        member.id,
        member.tenantId,
        colleague.id,
      );
      const credentials = [
        { "x-api-key": issued.body.api_key },
        { "x-api-key": key.body.api_key },
        { authorization: `Bearer ${acting}` },
      ];
      for (const headers of credentials)
        for (const [method, path, body] of [
          ["POST", "/webhooks", asked("/theirs")],
          ["GET", "/webhooks", undefined],
          ["DELETE", `/webhooks/${id}`, undefined],
          ["POST", `/webhooks/${id}/test`, undefined],
          ["GET", `/webhooks/${id}/deliveries`, undefined],
          ["POST", `/webhooks/${id}/deliveries/${id}/redeliver`, undefined],
        ] as const) {
          const answer = await service.call(method, path, {
            ...(body === undefined ? {} : { body }),
            headers: { authorization: "", ...headers },
          });
          expect([method, path, answer.status, answer.body.code]).toEqual([
            method,
            path,
            403,
            "core.authorization",
          ]);
        }
    });

    test("50 creates at once leave as many webhooks as a caller may have", async () => {
      const made = await Promise.all(
        Array.from({ length: 50 }, (_none, index) => as("POST", "/webhooks", asked(`/${index}`))),
      );
      const statuses = made.map(({ status }) => status).sort();
      expect(statuses.filter((status) => status === 201)).toHaveLength(20);
      expect(new Set(statuses)).toEqual(new Set([201, 409]));
      expect((await as("GET", "/webhooks")).body.webhooks).toHaveLength(20);
    });

    test("keys that two sessions make at once are as many as a principal may have", async () => {
      const { access_token: second } = await people.session(member.id, member.tenantId);
      const tokens = [member.token, second];
      for (let index = 0; index < 98; index += 1)
        expect((await as("POST", "/api-keys", {})).status).toBe(201);
      const made = await Promise.all(
        Array.from({ length: 10 }, (_none, index) =>
          people.as(tokens[index % 2] ?? "", "POST", "/api-keys", {}),
        ),
      );
      expect(made.filter(({ status }) => status === 201)).toHaveLength(2);
      const keys = service.running.connection.database.reader.of(apiKeyStore);
      expect(await keys.list(member.id)).toHaveLength(100);
    });
  });
}
