// Tenants, memberships and permissions over HTTP (service.md "Tenant membership and active tenant", attacks 11, 26, 30, 31).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tasksSpec } from "../../../generated/documents/tasks.js";
import { service as reference } from "../../../generated/service.js";
import type { TasksCreate } from "../../../generated/types/tasks.js";
import { createPrincipal } from "../../../runtime/families/identity/provision.js";
import { authorize } from "../../../generated/identity.js";
import {
  defineService,
  documents,
  json,
  listing,
  params,
  path,
  principal,
  route,
  tenant,
  type Validator,
} from "../../../runtime/index.js";
import { engines } from "../../support/engines.js";
import { peopleOf } from "../../support/people.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";
import { tenantStore } from "../../../runtime/ports/tenants.js";

const password = "correct horse battery staple";
const project = "01890000-0000-7000-8000-000000000007";
const anything: Validator<TasksCreate> = () => null;
const guarded = (action: string) => [principal, tenant, authorize(action)];

/** The reference service, and beside it tasks behind the guards of registry.md. */
const definition = defineService({
  ...reference,
  routes: [
    ...reference.routes,
    route({
      operationId: "safe.create",
      method: "POST",
      path: "/safe",
      status: 201,
      input: json(anything),
      hooks: guarded("tasks.write"),
      transaction: "write",
      run: documents.create(tasksSpec),
    }),
    route({
      operationId: "safe.get",
      method: "GET",
      path: "/safe/{id}",
      status: 200,
      input: params({ id: path.uuid }),
      hooks: guarded("tasks.read"),
      transaction: "read",
      run: documents.get(tasksSpec),
    }),
    route({
      operationId: "safe.list_cursor",
      method: "POST",
      path: "/safe/list_cursor",
      status: 200,
      input: listing.cursor(tasksSpec),
      hooks: guarded("tasks.read"),
      transaction: "read",
      run: documents.listCursor(tasksSpec),
    }),
  ],
});

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let admin = "";
    let names = 0;
    beforeAll(async () => {
      service = await startTestService(engine, { definition, signsIn: false });
      admin = await signIn((await person("platform.admin")).login);
    });
    afterAll(() => service.stop());

    interface Person {
      readonly id: string;
      readonly login: string;
    }

    /** A new principal, with a permission everywhere where one is given. */
    const person = async (permission?: string): Promise<Person> => {
      const login = `t${(names += 1)}@example.test`;
      const { connection } = service.running;
      const id = await createPrincipal(connection.context("test.people"), { login, password });
      if (permission !== undefined) await grant(null, id, permission);
      return { id, login };
    };
    const grant = (
      tenantId: string | null,
      principalId: string,
      permission: string,
    ): Promise<void> =>
      service.running.connection.write("test.grant", (context) =>
        context.transaction.of(tenantStore).grant(tenantId, principalId, permission),
      );
    const signIn = async (login: string): Promise<string> =>
      (await service.post("/auth/login", { login, password })).body.access_token;
    const as = (token: string, method: string, at: string, body?: unknown): Promise<Answer> =>
      service.call(method, at, {
        headers: { authorization: `Bearer ${token}` },
        ...(body === undefined ? {} : { body }),
      });
    const newTenant = async (): Promise<string> =>
      (await as(admin, "POST", "/admin/tenants", { tenant_key: `k${(names += 1)}` })).body
        .tenant_id;
    const invite = (tenantId: string, principalId: string): Promise<Answer> =>
      as(admin, "POST", "/admin/memberships", { tenant_id: tenantId, principal_id: principalId });
    const activate = (token: string, tenantId: string): Promise<Answer> =>
      as(token, "POST", `/tenants/${tenantId}/activate`);

    /** A member of a new tenant with a token scoped to it, and the given permissions there. */
    const member = async (...permissions: readonly string[]) => {
      const { id, login } = await person();
      const tenantId = await newTenant();
      await invite(tenantId, id);
      for (const permission of permissions) await grant(tenantId, id, permission);
      const token: string = (await activate(await signIn(login), tenantId)).body.access_token;
      return { id, login, tenantId, token };
    };

    test("a tenant is created once a key, and administered by the permitted alone", async () => {
      const created = await as(admin, "POST", "/admin/tenants", { tenant_key: "acme" });
      expect([created.status, created.body]).toEqual([
        201,
        { tenant_id: expect.any(String), tenant_key: "acme" },
      ]);
      expect((await as(admin, "POST", "/admin/tenants", { tenant_key: "acme" })).status).toBe(409);
      expect((await as(admin, "POST", "/admin/tenants", { tenant_key: "Not A Key" })).status).toBe(
        422,
      );
      const nobody = await signIn((await person()).login);
      const routes = [
        ["POST", "/admin/tenants", { tenant_key: "x" }],
        ["GET", `/admin/tenants/${created.body.tenant_id}/members`, undefined],
        ["POST", `/admin/tenants/${created.body.tenant_id}/deactivate`, undefined],
        ["POST", "/admin/memberships", { tenant_id: project, principal_id: project }],
        ["DELETE", "/admin/memberships", { tenant_id: project, principal_id: project }],
      ] as const;
      for (const [method, at, body] of routes) {
        const refused = await as(nobody, method, at, body);
        expect([refused.status, refused.body.code]).toEqual([403, "core.authorization"]);
        const anonymous = await service.call(method, at, body === undefined ? {} : { body });
        expect([anonymous.status, anonymous.body.code]).toEqual([401, "core.authentication"]);
      }
    });

    test("a member sees the tenant, takes a token for it, and is listed by id alone", async () => {
      const { id, login } = await person();
      const tenantId = await newTenant();
      const token = await signIn(login);
      expect((await as(token, "GET", "/tenants")).body).toEqual({ tenants: [] });
      expect((await invite(tenantId, id)).status).toBe(204);
      expect((await invite(tenantId, id)).status).toBe(204);
      const { body } = await as(token, "GET", "/tenants");
      expect(body.tenants).toEqual([
        { tenant_id: tenantId, tenant_key: expect.any(String), is_current: false },
      ]);
      const scoped = await activate(token, tenantId);
      expect([scoped.status, scoped.body.access_token_type]).toEqual([200, "Bearer"]);
      const seen = await as(scoped.body.access_token, "GET", "/tenants");
      expect(seen.body.tenants[0].is_current).toBe(true);
      expect((await as(admin, "GET", `/admin/tenants/${tenantId}/members`)).body).toEqual({
        members: [{ principal_id: id }],
      });
    });

    test("a switch ends the session that it replaces, unless that is to be kept", async () => {
      const people = peopleOf(service);
      const { id, tenantId } = await people.member("");
      const first = (await people.session(id, null)).access_token;
      const me = (token: string): Promise<Answer> => people.as(token, "GET", "/auth/me");
      expect((await me(first)).body).toEqual({
        principal_id: id,
        actor_principal_id: null,
        tenant_id: null,
        session_id: expect.any(String),
        scopes: null,
      });
      const path = `/tenants/${tenantId}/activate`;
      const kept = await people.as(first, "POST", `${path}?keep=true`);
      expect([kept.status, (await me(first)).status]).toEqual([200, 200]);
      const second = await people.as(first, "POST", path);
      expect((await me(second.body.access_token)).body).toMatchObject({ tenant_id: tenantId });
      expect((await me(first)).status).toBe(401);
      const { body } = await people.as(kept.body.access_token, "GET", "/auth/sessions");
      // The one that the member was made with, the kept one, and the last.
      expect(body.sessions).toHaveLength(3);
    });

    test("a refreshed token stays in its tenant", async () => {
      const { id, login } = await person();
      const tenantId = await newTenant();
      await invite(tenantId, id);
      const { body } = await activate(await signIn(login), tenantId);
      const refreshed = await service.post("/auth/refresh", { refresh_token: body.refresh_token });
      const seen = await as(refreshed.body.access_token, "GET", "/tenants");
      expect(seen.body.tenants[0].is_current).toBe(true);
    });

    const ends: readonly (readonly [
      string,
      string,
      (m: {
        readonly id: string;
        readonly tenantId: string;
        readonly token: string;
      }) => Promise<Answer>,
    ])[] = [
      [
        "leaving",
        "tenant_mismatch",
        ({ tenantId, token }) => as(token, "DELETE", `/tenants/${tenantId}`),
      ],
      [
        "removal",
        "tenant_mismatch",
        ({ id, tenantId }) =>
          as(admin, "DELETE", "/admin/memberships", { tenant_id: tenantId, principal_id: id }),
      ],
      [
        "deactivation",
        "tenant_inactive",
        ({ tenantId }) => as(admin, "POST", `/admin/tenants/${tenantId}/deactivate`),
      ],
    ];
    test.each(ends)(
      "after %s the scoped token is dead on the next request, as %s, and cannot be had again",
      async (_what, code, end) => {
        const { login, tenantId, token, id } = await member("tasks.read");
        expect((await as(token, "POST", "/safe/list_cursor", {})).status).toBe(200);
        expect((await end({ id, tenantId, token })).status).toBe(204);
        for (const at of ["/safe/list_cursor", "/places/list"]) {
          const refused = await as(token, "POST", at, {});
          expect([refused.status, refused.body.code, refused.body.kind]).toEqual([
            401,
            code,
            "authentication",
          ]);
        }
        const again = await activate(await signIn(login), tenantId);
        expect([again.status, again.body.code]).toEqual([401, code]);
      },
    );

    // service.md "Tenant membership and active tenant", row by row.
    test.each<readonly [string, () => Promise<void>]>([
      [
        "member → token scoped to the tenant, by activation",
        async () => {
          const { id, login } = await person();
          const tenantId = await newTenant();
          await invite(tenantId, id);
          const pair = await activate(await signIn(login), tenantId);
          expect([pair.status, Object.keys(pair.body).length]).toEqual([200, 5]);
          const claims = JSON.parse(
            Buffer.from(pair.body.access_token.split(".")[1], "base64url").toString(),
          );
          expect(claims.tid).toBe(tenantId);
        },
      ],
      [
        "member → removed, by leaving; the scoped token no longer matches",
        async () => {
          const { tenantId, token } = await member();
          expect((await as(token, "DELETE", `/tenants/${tenantId}`)).status).toBe(204);
          expect((await as(token, "GET", "/tenants")).body.code).toBe("tenant_mismatch");
        },
      ],
      [
        "tenant active → inactive; activation fails with tenant_inactive",
        async () => {
          const { login, tenantId } = await member();
          const deactivate = (): Promise<Answer> =>
            as(admin, "POST", `/admin/tenants/${tenantId}/deactivate`);
          expect([(await deactivate()).status, (await deactivate()).status]).toEqual([204, 204]);
          const refused = await activate(await signIn(login), tenantId);
          expect([refused.status, refused.body.code]).toEqual([401, "tenant_inactive"]);
        },
      ],
      [
        "member absent → member → member absent, by invitation and removal",
        async () => {
          const { id } = await person();
          const tenantId = await newTenant();
          const body = { tenant_id: tenantId, principal_id: id };
          const members = async (): Promise<readonly unknown[]> =>
            (await as(admin, "GET", `/admin/tenants/${tenantId}/members`)).body.members;
          expect((await as(admin, "POST", "/admin/memberships", body)).status).toBe(204);
          expect(await members()).toEqual([{ principal_id: id }]);
          expect((await as(admin, "DELETE", "/admin/memberships", body)).status).toBe(204);
          expect(await members()).toEqual([]);
          expect((await as(admin, "DELETE", "/admin/memberships", body)).status).toBe(404);
        },
      ],
    ])("%s", (_row, check) => check());

    test("a tenant that is not there and one that is another's are told alike", async () => {
      const token = await signIn((await person()).login);
      const other = await newTenant();
      const [absent, foreign] = [await activate(token, project), await activate(token, other)];
      expect([absent.status, absent.body]).toEqual([401, foreign.body]);
      expect(foreign.body.code).toBe("tenant_mismatch");
      expect((await as(token, "DELETE", `/tenants/${other}`)).status).toBe(404);
    });

    test("a guarded operation asks for a caller, then a tenant, then a permission", async () => {
      const anonymous = await service.post("/safe", { title: "t", project });
      expect([anonymous.status, anonymous.body.code]).toEqual([401, "core.authentication"]);
      const unscoped = await as(
        await signIn((await person("tasks.write")).login),
        "POST",
        "/safe",
        { title: "t", project },
      );
      expect([unscoped.status, unscoped.body.code]).toEqual([401, "tenant_required"]);
      const reader = await member("tasks.read");
      const denied = await as(reader.token, "POST", "/safe", { title: "t", project });
      expect([denied.status, denied.body.code]).toEqual([403, "core.authorization"]);
      for (const permission of ["tasks.write", "tasks.admin", "admin"]) {
        const { token } = await member(permission);
        expect((await as(token, "POST", "/safe", { title: "t", project })).status).toBe(201);
      }
    });

    test("no permission of one tenant administers the others", async () => {
      for (const permission of ["admin", "platform.admin"]) {
        const { id, tenantId, token } = await member(permission);
        const other = await newTenant();
        for (const answer of [
          await as(token, "POST", "/admin/tenants", { tenant_key: "mine" }),
          await as(token, "POST", `/admin/tenants/${other}/deactivate`),
          await as(token, "GET", `/admin/tenants/${tenantId}/members`),
          await as(token, "POST", "/admin/memberships", { tenant_id: other, principal_id: id }),
        ])
          expect([answer.status, answer.body.code]).toEqual([403, "core.authorization"]);
      }
    });

    test("a member who is invited again has none of their former permissions", async () => {
      const { id, login, tenantId, token } = await member("tasks.write");
      const create = (scoped: string): Promise<Answer> =>
        as(scoped, "POST", "/safe", { title: "t", project });
      expect((await create(token)).status).toBe(201);
      await as(token, "DELETE", `/tenants/${tenantId}`);
      await invite(tenantId, id);
      const again: string = (await activate(await signIn(login), tenantId)).body.access_token;
      expect((await create(again)).status).toBe(403);
    });

    test("a permission of one tenant is none in another", async () => {
      const { id, login, token } = await member("tasks.write");
      const second = await newTenant();
      await invite(second, id);
      const elsewhere: string = (await activate(await signIn(login), second)).body.access_token;
      expect((await as(token, "POST", "/safe", { title: "t", project })).status).toBe(201);
      expect((await as(elsewhere, "POST", "/safe", { title: "t", project })).status).toBe(403);
    });

    test("another tenant's rows are 404 and in no list, and its cursors are refused", async () => {
      const [mine, theirs] = [await member("tasks.admin"), await member("tasks.admin")];
      const { body: row } = await as(theirs.token, "POST", "/safe", { title: "theirs", project });
      await as(theirs.token, "POST", "/safe", { title: "theirs too", project });
      expect((await as(theirs.token, "GET", `/safe/${row.id}`)).status).toBe(200);
      expect((await as(mine.token, "GET", `/safe/${row.id}`)).status).toBe(404);
      expect((await as(mine.token, "POST", "/safe/list_cursor", {})).body.hits).toEqual([]);
      const { body: page } = await as(theirs.token, "POST", "/safe/list_cursor", { size: 1 });
      const stolen = await as(mine.token, "POST", "/safe/list_cursor", {
        size: 1,
        after: page.next_cursor,
      });
      expect([stolen.status, stolen.body.code]).toEqual([422, "invalid_cursor"]);
    });

    test("another tenant's ids are 404 in every operation that takes one, as ids of nothing are", async () => {
      const [mine, theirs] = [await member("admin"), await member("admin")];
      await grant(null, mine.id, "platform.admin");
      const bodies = {
        tasks: { title: "t", project },
        projects: { name: "P", key: "PP" },
        notes: { text: "n" },
      };
      const ids: Record<string, string> = {};
      for (const [name, body] of Object.entries(bodies)) {
        const at = name === "notes" ? "/notes/create" : `/${name}`;
        ids[name] = (await as(theirs.token, "POST", at, body)).body.id;
      }
      const taking = reference.routes.filter(
        ({ operationId, input }) =>
          "id" in input.parameters && /^(?:tasks|projects|notes)\./.test(operationId),
      );
      expect(taking.length).toBeGreaterThan(12);
      for (const { operationId, method, path: at, input } of taking) {
        const [name = ""] = operationId.split(".");
        const ask = async (id: string): Promise<unknown> => {
          const query = [
            ...(at.includes("{id}") ? [] : [`id=${id}`]),
            ...("rev" in input.parameters ? ["rev=1"] : []),
            ...("to" in input.parameters ? ["to=1"] : []),
          ].join("&");
          const body =
            input.body === undefined
              ? undefined
              : operationId === "tasks.complete"
                ? { rev: 1 }
                : {};
          const target = `${at.replace("{id}", id).replace("{revision}", "1")}${query === "" ? "" : `?${query}`}`;
          const answer = await as(mine.token, method, target, body);
          return [answer.status, answer.body];
        };
        const foreign = await ask(ids[name] ?? "");
        expect([operationId, foreign]).toEqual([operationId, await ask(project)]);
        expect(foreign).toMatchObject([404, { code: "core.not_found" }]);
      }
    });

    test("a tenant header means nothing", async () => {
      const [mine, theirs] = [await member("tasks.admin"), await member("tasks.admin")];
      await as(theirs.token, "POST", "/safe", { title: "theirs", project });
      const answer = await service.call("POST", "/safe/list_cursor", {
        body: {},
        headers: {
          authorization: `Bearer ${mine.token}`,
          "x-tenant-id": theirs.tenantId,
          "x-forwarded-host": "globex.test",
        },
      });
      expect(answer.body.hits).toEqual([]);
    });

    test("no token is given for a tenant that is deactivated at the same time", async () => {
      for (let round = 0; round < 10; round += 1) {
        const { login, tenantId } = await member();
        const token = await signIn(login);
        const [scoped] = await Promise.all([
          activate(token, tenantId),
          as(admin, "POST", `/admin/tenants/${tenantId}/deactivate`),
        ]);
        if (scoped.status !== 200) continue;
        expect((await as(scoped.body.access_token, "GET", "/tenants")).status).toBe(401);
      }
    });
  });
}
