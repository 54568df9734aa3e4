// How many tenants and invitations somebody may make.
import { expect, test } from "vitest";
import { invitationStore } from "../../../runtime/ports/invitations.js";
import { tenantStore } from "../../../runtime/ports/tenants.js";
import { uuidv7 } from "../../../runtime/ports/uuid.js";
import { onEachEngine } from "../../support/on-each-engine.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
roles:
  owner: {permissions: [members.read, members.write], gives: [owner]}
tenancy:
  selector: {create: {roles: [owner]}}
  members: {}
identity: {}
outbox: {events: {tenancy.member_invited: {destination: "registry/mail.ts#send"}}}
`,
  "registry/mail.ts": `export const send = async () => undefined;`,
};

onEachEngine(files, ({ service, people }) => {
  test("a principal creates tenants until it has 100, and a tenant invites until 1 000 are open", async () => {
    const owner = await people.member("", "role:owner");
    const { write } = service.running.connection;
    const made = (count: number) =>
      write("test.tenants", async ({ transaction }) => {
        const store = transaction.of(tenantStore);
        for (let at = 0; at < count; at += 1) {
          const id = uuidv7();
          await store.addTenant({ id, key: `t-${id}`, isActive: true });
          await store.addMember(id, owner.id);
        }
      });
    const create = async (key: string) =>
      (await people.as(owner.token, "POST", "/tenants", { tenant_key: key })).body;
    await made(98);
    expect(await create("the-last")).toMatchObject({ tenant_key: "the-last" });
    expect(await create("one-more")).toMatchObject({
      code: "tenants_limit",
      context: { most: 100 },
    });
    const now = Date.now();
    await write("test.invitations", async ({ transaction }) => {
      for (let at = 0; at < 999; at += 1)
        await transaction.of(invitationStore).put({
          id: uuidv7(),
          tenant: owner.tenantId,
          login: `guest${at}@example.test`,
          roles: [],
          invitedBy: owner.id,
          createdAt: now,
          expiresAt: now + 60_000,
          digest: `digest${at}`,
        });
    });
    const invite = async (login: string) =>
      (await people.as(owner.token, "POST", "/members/invitations", { login, roles: [] })).body;
    expect(await invite("last@example.test")).toMatchObject({ login: "last@example.test" });
    expect(await invite("more@example.test")).toMatchObject({
      code: "invitations_limit",
      context: { most: 1_000 },
    });
    // One that is there is replaced.
    expect(await invite("last@example.test")).toMatchObject({ login: "last@example.test" });
  });

  test("mails to one address are throttled as registrations are", async () => {
    const statuses: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      const owner = await people.member("", "role:owner");
      const body = { login: "bombed@example.test", roles: [] };
      statuses.push((await people.as(owner.token, "POST", "/members/invitations", body)).status);
    }
    expect(statuses).toEqual([201, 201, 201, 201, 201, 429]);
  });
});
