// Principals and permissions by HTTP and by the command, and deactivation (service.md "Authentication routes").
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines, type FreshDatabase } from "../../support/engines.js";
import { runCommand } from "../../support/process.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

const password = "correct horse battery staple";
const nobody = "01890000-0000-7000-8000-000000000001";

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let database: FreshDatabase;
    let admin = "";
    const data = mkdtempSync(join(tmpdir(), "opwright-provisioning-"));

    const command = (args: readonly string[], input?: string) =>
      runCommand(
        { DATA_DIR: data, ...database.environment },
        args,
        input === undefined ? {} : { input },
      );
    const signIn = (login: string): Promise<Answer> =>
      service.post("/auth/login", { login, password });
    const as = (token: string, method: string, at: string, body: unknown): Promise<Answer> =>
      service.call(method, at, { headers: { authorization: `Bearer ${token}` }, body });

    beforeAll(async () => {
      database = await engine.create();
      const made = await command([
        "create-principal",
        "root@example.test",
        "--grant",
        "platform.admin",
      ]);
      expect([made.status, made.stderr]).toEqual([0, ""]);
      expect(made.stdout).toMatch(/^[0-9a-f-]{36}\n$/);
      service = await startTestService(engine, {
        signsIn: false,
        environment: { ...database.environment },
      });
      admin = (await signIn("root@example.test")).body.access_token;
    }, 60_000);
    afterAll(async () => {
      await service.stop();
      await database.drop();
      rmSync(data, { recursive: true, force: true });
    });

    const create = async (login: string): Promise<string> =>
      (await as(admin, "POST", "/admin/principals", { login, password })).body.principal_id;

    test("the command makes the first administrator, once, and refuses what it cannot do", async () => {
      const again = await command(["create-principal", "ROOT@example.test"]);
      expect([again.status, again.stdout]).toEqual([1, ""]);
      expect(again.stderr).toBe('core.conflict: {"reason":"the login is taken"}\n');
      const short = await command(["create-principal", "short@example.test"], "1234567\n");
      expect([short.status, short.stdout]).toEqual([1, ""]);
      expect(short.stderr).toContain("must have at least 8 characters");
      expect(short.stderr).not.toContain("1234567");
      const granted = await command([
        "create-principal",
        "typo@example.test",
        "--grant",
        "Tasks.Read",
      ]);
      expect([granted.status, granted.stdout]).toEqual([1, ""]);
      expect(granted.stderr).toContain('"Tasks.Read\\" is no permission');
      // Nobody was made: the login is free.
      expect((await command(["create-principal", "typo@example.test"])).status).toBe(0);
      for (const args of [["create-principal"], ["create-principal", "a", "b"], ["create"]]) {
        const { status, stderr } = await command(args);
        expect([status, stderr]).toEqual([
          2,
          "usage: server.js [migrate [--plan | --wait] | backup FOLDER | restore [FOLDER | --at TIME] | doctor | create-principal LOGIN [--grant PERMISSION]… | search-rebuild [NAME] | objects-rebuild [NAME] | outbox | dead-letters [EVENT] | redrive [EVENT] | jobs [failed [JOB] | retry [JOB] | pause JOB | resume JOB] | export FOLDER | import FOLDER [--check]]\n",
        ]);
      }
    });

    test("a principal made by an administrator signs in; a taken login is 409, a short password 422", async () => {
      const made = await as(admin, "POST", "/admin/principals", { login: "dora", password });
      expect([made.status, Object.keys(made.body)]).toEqual([201, ["principal_id"]]);
      expect((await signIn("dora")).status).toBe(200);
      const taken = await as(admin, "POST", "/admin/principals", { login: "DORA", password });
      expect([taken.status, taken.body.code]).toEqual([409, "core.conflict"]);
      const short = { login: "emil", password: "1234567" };
      expect((await as(admin, "POST", "/admin/principals", short)).status).toBe(422);
      expect((await signIn("emil")).status).toBe(401);
    });

    test("a permission is given and taken, and works from the next request on", async () => {
      const id = await create("fred");
      const token: string = (await signIn("fred")).body.access_token;
      const grant = { principal_id: id, permission: "platform.admin" };
      const attempt = async (): Promise<number> =>
        (await as(token, "POST", "/auth/deactivate", { principal_id: nobody })).status;
      expect(await attempt()).toBe(403);
      expect((await as(admin, "POST", "/admin/grants", grant)).status).toBe(204);
      expect((await as(admin, "POST", "/admin/grants", grant)).status).toBe(204);
      expect(await attempt()).toBe(404);
      expect((await as(admin, "DELETE", "/admin/grants", grant)).status).toBe(204);
      expect(await attempt()).toBe(403);
      expect((await as(admin, "DELETE", "/admin/grants", grant)).status).toBe(404);
    });

    test("permissions are of members and of principals that are there", async () => {
      const id = await create("gerd");
      const { body: tenant } = await as(admin, "POST", "/admin/tenants", { tenant_key: "grants" });
      const inTenant = {
        principal_id: id,
        tenant_id: tenant.tenant_id,
        permission: "tasks.read",
      };
      expect((await as(admin, "POST", "/admin/grants", inTenant)).status).toBe(404);
      await as(admin, "POST", "/admin/memberships", {
        principal_id: id,
        tenant_id: tenant.tenant_id,
      });
      expect((await as(admin, "POST", "/admin/grants", inTenant)).status).toBe(204);
      const unknown = { principal_id: nobody, permission: "tasks.read" };
      expect((await as(admin, "POST", "/admin/grants", unknown)).status).toBe(404);
      const odd = { principal_id: id, permission: "Everything" };
      expect((await as(admin, "POST", "/admin/grants", odd)).status).toBe(422);
    });

    test("an administrator finds a principal by its login, and lets it in again with nothing left", async () => {
      const login = "returns@example.test";
      const id = await create(login);
      const find = async (name: string): Promise<unknown> =>
        (await as(admin, "GET", `/admin/principals?login=${encodeURIComponent(name)}`, undefined))
          .body;
      expect(await find("Returns@Example.test")).toEqual({
        principals: [{ principal_id: id, login, is_active: true }],
      });
      expect(await find("nobody@example.test")).toEqual({ principals: [] });
      const tenant = (await as(admin, "POST", "/admin/tenants", { tenant_key: "returns" })).body;
      const member = { tenant_id: tenant.tenant_id, principal_id: id };
      await as(admin, "POST", "/admin/memberships", member);
      await as(admin, "POST", "/admin/grants", { ...member, permission: "tasks.read" });
      await as(admin, "POST", "/admin/grants", { principal_id: id, permission: "tasks.write" });
      await as(admin, "POST", "/auth/deactivate", { principal_id: id });
      expect(await find(login)).toMatchObject({ principals: [{ is_active: false }] });
      expect((await signIn(login)).status).toBe(401);
      const back = await as(admin, "POST", "/auth/reactivate", { principal_id: id });
      expect(back.status).toBe(204);
      const { body: pair } = await signIn(login);
      const tenants = await as(pair.access_token, "GET", "/tenants", undefined);
      expect(tenants.body).toEqual({ tenants: [] });
      const left = await as(admin, "GET", `/admin/grants?principal_id=${id}`, undefined);
      expect(left.body).toEqual({ permissions: [] });
      const members = await as(
        admin,
        "GET",
        `/admin/tenants/${tenant.tenant_id}/members`,
        undefined,
      );
      expect(members.body).toEqual({ members: [] });
    });

    test("an administrator lists tenants by key, and makes one active again", async () => {
      const made: string[] = [];
      for (const key of ["list-a", "list-b"])
        made.push((await as(admin, "POST", "/admin/tenants", { tenant_key: key })).body.tenant_id);
      const [first = ""] = made;
      await as(admin, "POST", `/admin/tenants/${first}/deactivate`, undefined);
      const list = async (after: string): Promise<Answer["body"]> =>
        (await as(admin, "GET", `/admin/tenants?after=${after}`, undefined)).body;
      expect((await list("list")).tenants.slice(0, 2)).toEqual([
        { tenant_id: made[0], tenant_key: "list-a", is_active: false },
        { tenant_id: made[1], tenant_key: "list-b", is_active: true },
      ]);
      const again = await as(admin, "POST", `/admin/tenants/${first}/reactivate`, undefined);
      expect([again.status, (await list("list")).tenants[0].is_active]).toEqual([204, true]);
    });

    test("a deactivated principal is out at once and for good", async () => {
      const id = await create("hans");
      const { body } = await signIn("hans");
      expect((await as(admin, "POST", "/auth/deactivate", { principal_id: id })).status).toBe(204);
      const { status } = await service.call("GET", "/auth/sessions", {
        headers: { authorization: `Bearer ${body.access_token}` },
      });
      expect(status).toBe(401);
      const refreshed = await service.post("/auth/refresh", { refresh_token: body.refresh_token });
      expect(refreshed.status).toBe(401);
      expect((await signIn("hans")).status).toBe(401);
    });

    test("a deactivated principal is given nothing, at the same time neither", async () => {
      const { body: tenant } = await as(admin, "POST", "/admin/tenants", { tenant_key: "gone" });
      const tenant_id: string = tenant.tenant_id;
      const everywhere = { permission: "tasks.read" };
      const statuses: number[] = [];
      for (let round = 0; round < 10; round += 1) {
        const principal_id = await create(`gone${round}`);
        const [left, ...given] = await Promise.all([
          as(admin, "POST", "/auth/deactivate", { principal_id }),
          as(admin, "POST", "/admin/memberships", { tenant_id, principal_id }),
          as(admin, "POST", "/admin/grants", { ...everywhere, principal_id }),
        ]);
        expect(left.status).toBe(204);
        statuses.push(...given.map(({ status }) => status));
        const later = [
          await as(admin, "POST", "/admin/memberships", { tenant_id, principal_id }),
          await as(admin, "POST", "/admin/grants", { ...everywhere, principal_id }),
        ];
        expect(later.map(({ status }) => status)).toEqual([404, 404]);
        const path = `/admin/grants?principal_id=${principal_id}`;
        expect((await as(admin, "GET", path, undefined)).body).toEqual({ permissions: [] });
      }
      expect(statuses.filter((status) => status !== 204 && status !== 404)).toEqual([]);
      const members = await as(admin, "GET", `/admin/tenants/${tenant_id}/members`, undefined);
      expect(members.body).toEqual({ members: [] });
    });

    test.each([
      ["POST", "/admin/principals", { login: "x", password }],
      ["POST", "/admin/grants", { principal_id: nobody, permission: "admin" }],
      ["DELETE", "/admin/grants", { principal_id: nobody, permission: "admin" }],
      ["POST", "/auth/deactivate", { principal_id: nobody }],
    ])("%s %s is for administrators alone", async (method, at, body) => {
      expect((await service.call(method, at, { body })).status).toBe(401);
      await create("plain");
      const token: string = (await signIn("plain")).body.access_token;
      expect((await as(token, method, at, body)).status).toBe(403);
    });
  });
}
