// What is given to a member while its membership ends is gone once it is a member again (attack 195).
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

/** Enough for each of the races below to have been lost on PostgreSQL before. */
const rounds = 6;

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let people: People;
    let admin = "";
    let member: Member;
    beforeAll(async () => {
      service = await startTestService(engine, { signsIn: false });
      people = peopleOf(service);
      admin = (await people.session((await people.person("platform.admin")).id, null)).access_token;
    }, 60_000);
    afterAll(() => service.stop());
    beforeEach(async () => {
      member = await people.member("", ...usual);
    });

    const usual = ["webhooks.read", "tasks.read"];
    const done = async (answer: Promise<Answer>): Promise<void> => {
      expect((await answer).status).toBe(204);
    };
    const membership = () => ({ tenant_id: member.tenantId, principal_id: member.id });
    const token = async (): Promise<string> =>
      (await people.session(member.id, member.tenantId)).access_token;
    const rejoin = async (): Promise<void> => {
      await done(people.as(admin, "POST", "/admin/memberships", membership()));
      for (const permission of usual) await people.grant(member.tenantId, member.id, permission);
    };

    interface Ending {
      /** Ends the membership; `by` is a token of the member's. */
      readonly end: (by: string) => Promise<Answer>;
      readonly revive?: () => Promise<void>;
    }
    const endings: Readonly<Record<string, Ending>> = {
      removed: { end: () => people.as(admin, "DELETE", "/admin/memberships", membership()) },
      "gone by itself": { end: (by) => people.as(by, "DELETE", `/tenants/${member.tenantId}`) },
      deactivated: {
        end: () => people.as(admin, "POST", "/auth/deactivate", { principal_id: member.id }),
        revive: () =>
          done(people.as(admin, "POST", "/auth/reactivate", { principal_id: member.id })),
      },
    };
    /** Ends the membership of the member while `give` runs, and begins it again; resolves with the answers of `give`. */
    const leaveDuring = async (
      { end, revive }: Ending,
      give: (by: string) => readonly Promise<Answer>[],
    ): Promise<readonly Answer[]> => {
      const by = await token();
      const [ended, ...given] = await Promise.all([end(by), ...give(by)]);
      expect(ended.status).toBe(204);
      await revive?.();
      await rejoin();
      return given;
    };

    describe.each(Object.entries(endings))("who is %s meanwhile and comes back", (_how, ending) => {
      test("has no webhooks", async () => {
        const hook = { url: "https://example.com/x", events: ["tasks.completed"] };
        for (let round = 0; round < rounds; round += 1) {
          const answers = await leaveDuring(ending, (by) =>
            [1, 2, 3].map(() => people.as(by, "POST", "/webhooks", hook)),
          );
          for (const { status } of answers) expect([201, 401, 403]).toContain(status);
          const left = await people.as(await token(), "GET", "/webhooks");
          expect([round, left.body]).toEqual([round, { webhooks: [] }]);
        }
      });

      test("has no permissions but those that are given anew", async () => {
        for (let round = 0; round < rounds; round += 1) {
          const answers = await leaveDuring(ending, () =>
            ["tasks.write", "notes.write"].map((permission) =>
              people.as(admin, "POST", "/admin/grants", {
                principal_id: member.id,
                tenant_id: member.tenantId,
                permission,
              }),
            ),
          );
          for (const { status } of answers) expect([204, 404]).toContain(status);
          const { tenant_id, principal_id } = membership();
          const query = `principal_id=${principal_id}&tenant_id=${tenant_id}`;
          const left = await people.as(admin, "GET", `/admin/grants?${query}`);
          expect([round, [...left.body.permissions].sort()]).toEqual([round, [...usual].sort()]);
        }
      });

      test("has no sessions", async () => {
        for (let round = 0; round < rounds; round += 1) {
          const { access_token: unscoped } = await people.session(member.id, null);
          const answers = await leaveDuring(ending, () =>
            [1, 2].map(() =>
              people.as(unscoped, "POST", `/tenants/${member.tenantId}/activate?keep=true`),
            ),
          );
          for (const { status, body } of answers) {
            expect([200, 401]).toContain(status);
            if (status !== 200) continue;
            expect((await people.as(body.access_token, "GET", "/auth/me")).status).toBe(401);
            const { refresh_token } = body;
            expect((await service.post("/auth/refresh", { refresh_token })).status).toBe(401);
          }
        }
      });

      test("has no keys, and nobody's key with which it acts", async () => {
        for (let round = 0; round < rounds; round += 1) {
          const owner = await people.member(member.tenantId, ...usual);
          const keys = await leaveDuring(ending, (by) => [
            people.as(by, "POST", "/api-keys", {}),
            ...[1, 2].map(() =>
              people.as(owner.token, "POST", "/api-keys", { actor_principal_id: member.id }),
            ),
          ]);
          for (const { status, body } of keys) {
            expect([201, 401, 404]).toContain(status);
            if (status !== 201) continue;
            const headers = { "x-api-key": body.api_key };
            expect((await service.call("GET", "/auth/me", { headers })).status).toBe(401);
          }
        }
      });

      test("acts no longer for others with what was issued before", async () => {
        const owner = await people.member(member.tenantId, ...usual);
        const { body: key } = await people.as(owner.token, "POST", "/api-keys", {
          actor_principal_id: member.id,
        });
        const acting = await people.session(owner.id, member.tenantId, member.id);
        const answers = async (): Promise<readonly number[]> => [
          (await service.call("GET", "/auth/me", { headers: { "x-api-key": key.api_key } })).status,
          (await people.as(acting.access_token, "GET", "/auth/me")).status,
        ];
        expect(await answers()).toEqual([200, 200]);
        await leaveDuring(ending, () => []);
        expect(await answers()).toEqual([401, 401]);
      });
    });

    test("many who switch, make and leave at once don't wait for each other for ever", async () => {
      const other = await people.tenant();
      const answers: Answer[] = [];
      for (let round = 0; round < rounds; round += 1) {
        await done(
          people.as(admin, "POST", "/admin/memberships", {
            tenant_id: other,
            principal_id: member.id,
          }),
        );
        const here = await token();
        const { access_token: there } = await people.session(member.id, other);
        answers.push(
          ...(await Promise.all([
            people.as(here, "POST", `/tenants/${other}/activate`),
            people.as(there, "POST", `/tenants/${member.tenantId}/activate`),
            people.as(here, "POST", "/api-keys", { actor_principal_id: member.id }),
            people.as(there, "POST", "/api-keys", {}),
            people.as(admin, "POST", "/admin/grants", {
              principal_id: member.id,
              tenant_id: other,
              permission: "tasks.read",
            }),
            people.as(admin, "POST", "/auth/deactivate", { principal_id: member.id }),
          ])),
        );
        await endings["deactivated"]?.revive?.();
        await rejoin();
      }
      expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    });

    test("a session that begins while all sessions of its owner end, ends as well", async () => {
      for (let round = 0; round < rounds; round += 1) {
        const { access_token: by } = await people.session(member.id, null);
        const [all, ...switched] = await Promise.all([
          people.as(by, "POST", "/auth/logout", { scope: "all" }),
          ...[1, 2].map(() =>
            people.as(by, "POST", `/tenants/${member.tenantId}/activate?keep=true`),
          ),
        ]);
        expect(all.status).toBe(204);
        for (const { status, body } of switched) {
          expect([200, 401]).toContain(status);
          if (status !== 200) continue;
          expect((await people.as(body.access_token, "GET", "/auth/me")).status).toBe(401);
        }
      }
    });

    test("two who issue keys with which the other acts both get them", async () => {
      const other = await people.member(member.tenantId, ...usual);
      for (let round = 0; round < rounds; round += 1) {
        const keys = await Promise.all([
          people.as(member.token, "POST", "/api-keys", { actor_principal_id: other.id }),
          people.as(other.token, "POST", "/api-keys", { actor_principal_id: member.id }),
        ]);
        expect(keys.map(({ status }) => status)).toEqual([201, 201]);
      }
    });
  });
}
