// Permissions, roles, the decision port and scopes over HTTP (service.md "Authorization per operation", attacks 23, 26, 28, 29).
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { notesSpec } from "../../../generated/documents/notes.js";
import { placesSpec } from "../../../generated/documents/places.js";
import { service as reference } from "../../../generated/service.js";
import {
  authorization,
  collection,
  defineService,
  documents,
  json,
  listing,
  nothing,
  ownRows,
  principal,
  route,
  tenant,
  type AnyRoute,
  type Authorization,
  type Question,
  type ScopePort,
  type Validator,
} from "../../../runtime/index.js";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";
import { tenantStore } from "../../../runtime/ports/tenants.js";

const project = "01890000-0000-7000-8000-000000000007";
const anyNote: Validator<{ readonly text: string; readonly pinned?: boolean }> = () => null;

/** Notes behind other hooks than the reference service's. */
function notesRoutes(
  prefix: string,
  { authorize, scope }: Authorization,
  port: ScopePort,
  lifting: readonly string[] = [],
) {
  const guarded = (action: string) => [
    principal,
    tenant,
    authorize(action),
    scope(notesSpec, port, ...lifting),
  ];
  const create = route({
    operationId: `${prefix}.create`,
    method: "POST",
    path: `/${prefix}`,
    status: 201,
    input: json(anyNote),
    hooks: guarded("notes.write"),
    transaction: "write",
    run: documents.create(notesSpec),
  });
  const list = route({
    operationId: `${prefix}.list`,
    method: "POST",
    path: `/${prefix}/list`,
    status: 200,
    input: listing.page(notesSpec),
    hooks: guarded("notes.read"),
    transaction: "read",
    run: documents.list(notesSpec),
  });
  return [create, list] as readonly AnyRoute[];
}

const questions: Question[] = [];
const usual = authorization({ override: ["admin", "{resource}.admin"] });

const definition = defineService({
  ...reference,
  routes: [
    ...reference.routes,
    ...notesRoutes("pinned", usual, () => ({ $values: { pinned: true } })),
    ...notesRoutes("strict", authorization({ override: [] }), ownRows),
    ...notesRoutes("renamed", authorization({ override: ["staff"] }), ownRows, ["staff"]),
    ...notesRoutes("overseen", usual, ownRows, ["admin", "notes.admin"]),
    ...notesRoutes("broken", usual, () => ({ $values: { nobody: 1 } })),
    ...notesRoutes("wide", usual, () => ({ $or: [] })),
    ...notesRoutes(
      "decided",
      authorization({
        override: ["admin"],
        decide: (question) => {
          questions.push(question);
          return question.actions.includes("notes.read");
        },
      }),
      () => ({}),
    ),
    route({
      operationId: "notes.summary",
      method: "GET",
      path: "/summary",
      status: 200,
      input: nothing,
      hooks: [principal, tenant, usual.scope(notesSpec, ownRows)],
      transaction: "read",
      run: async (_input, context) => ({
        notes: await collection(notesSpec, context).count(),
        places: await collection(placesSpec, context).count(),
      }),
    }),
  ],
});

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let people: People;
    beforeAll(async () => {
      service = await startTestService(engine, { definition, signsIn: false });
      people = peopleOf(service);
    });
    afterAll(() => service.stop());

    const createTask = (token: string): Promise<Answer> =>
      people.as(token, "POST", "/tasks", { title: "t", project });
    const createNote = (token: string, text = "n", pinned = false): Promise<Answer> =>
      people.as(token, "POST", "/notes/create", { text, pinned });
    const listNotes = async (token: string, at = "/notes/list"): Promise<readonly string[]> =>
      (await people.as(token, "POST", at, { size: 1_000 })).body.hits.map(
        ({ text }: { readonly text: string }) => text,
      );

    describe("roles", () => {
      test("give what they have, and what their roles have, over HTTP", async () => {
        const { tenantId, id, token } = await people.member("");
        const admin = (await people.session((await people.person("platform.admin")).id, null))
          .access_token;
        const grant = (body: object, method = "POST"): Promise<Answer> =>
          people.as(admin, method, "/admin/grants", { tenant_id: tenantId, ...body });
        expect((await createTask(token)).status).toBe(403);
        for (const body of [
          { principal_id: id, permission: "role:editor" },
          { role: "editor", permission: "role:author" },
          { role: "author", permission: "tasks.write" },
        ])
          expect((await grant(body)).status).toBe(204);
        expect((await createTask(token)).status).toBe(201);
        const held = await people.as(
          admin,
          "GET",
          `/admin/grants?role=editor&tenant_id=${tenantId}`,
        );
        expect(held.body).toEqual({ permissions: ["role:author"] });
        await grant({ role: "author", permission: "tasks.write" }, "DELETE");
        expect((await createTask(token)).status).toBe(403);
      });

      test("that contain each other come to an end", async () => {
        const { tenantId, id, token } = await people.member("");
        await people.grant(tenantId, id, "role:a");
        await people.grant(tenantId, "role:a", "role:b");
        await people.grant(tenantId, "role:b", "role:a");
        expect((await createTask(token)).status).toBe(403);
        await people.grant(tenantId, "role:b", "tasks.write");
        expect((await createTask(token)).status).toBe(201);
      });

      test("of one tenant are none in another; those that hold everywhere do", async () => {
        const [one, two] = [await people.member(""), await people.member("")];
        for (const { tenantId, id } of [one, two]) await people.grant(tenantId, id, "role:local");
        await people.grant(one.tenantId, "role:local", "tasks.write");
        expect([
          (await createTask(one.token)).status,
          (await createTask(two.token)).status,
        ]).toEqual([201, 403]);
        await people.grant(null, "role:local", "tasks.write");
        expect((await createTask(two.token)).status).toBe(201);
        await service.running.connection.write("test.revoke", ({ transaction }) =>
          transaction.of(tenantStore).revoke(null, "role:local", "tasks.write"),
        );
      });

      test("that a tenant gives reach no platform action", async () => {
        const { tenantId, id, token } = await people.member("");
        await people.grant(tenantId, id, "role:boss");
        await people.grant(tenantId, "role:boss", "platform.admin");
        await people.grant(tenantId, "role:boss", "admin");
        expect((await people.as(token, "POST", "/admin/tenants", { tenant_key: "x" })).status).toBe(
          403,
        );
      });

      test("a grant names one holder, which is there", async () => {
        const admin = (await people.session((await people.person("platform.admin")).id, null))
          .access_token;
        const cases = [
          [{ permission: "a.b" }, 422],
          [{ permission: "a.b", principal_id: project, role: "x" }, 422],
          [{ permission: "a.b", role: "Not A Role" }, 422],
          [{ permission: "role:", role: "x" }, 422],
          [{ permission: "a.b", role: "x", tenant_id: project }, 404],
          [{ permission: "a.b", principal_id: project }, 404],
        ] as const;
        for (const [body, status] of cases)
          expect((await people.as(admin, "POST", "/admin/grants", body)).status).toBe(status);
        expect((await people.as(admin, "GET", "/admin/grants")).status).toBe(422);
      });
    });

    describe("a decision port of the author's", () => {
      test("is asked about every subject, and its word counts", async () => {
        const owner = await people.member("");
        const agent = await people.member(owner.tenantId);
        const acting = (await people.session(owner.id, owner.tenantId, agent.id)).access_token;
        questions.length = 0;
        expect((await people.as(acting, "POST", "/decided/list", {})).status).toBe(200);
        expect(questions.slice(0, 2)).toEqual(
          [owner.id, agent.id].map((principalId) => ({
            principalId,
            actions: ["notes.read", "admin"],
            tenant: owner.tenantId,
          })),
        );
        const denied = await people.as(acting, "POST", "/decided", { text: "n" });
        expect([denied.status, denied.body.code]).toEqual([403, "core.authorization"]);
      });
    });

    describe("scopes", () => {
      test("own rows: another's note is not there, in any operation", async () => {
        const one = await people.member("", "notes.read");
        const two = await people.member(one.tenantId, "notes.read");
        const { body: note } = await createNote(one.token, "mine");
        const at = `id=${note.id}`;
        const operations = [
          ["GET", `/notes/get?${at}`, undefined],
          ["PATCH", `/notes/update?${at}&rev=1`, { text: "theirs" }],
          ["DELETE", `/notes/kill?${at}`, undefined],
        ] as const;
        for (const [method, path, body] of operations) {
          const answer = await people.as(two.token, method, path, body);
          expect([path, answer.status, answer.body.code]).toEqual([path, 404, "core.not_found"]);
        }
        for (const list of ["/notes/list", "/notes/list_cursor"])
          expect((await people.as(two.token, "POST", list, {})).body.hits).toEqual([]);
        for (const list of ["/notes/raw_list", "/notes/raw_list_cursor"])
          expect(
            (await people.as(two.token, "POST", list, { return_fields: ["text"] })).body.hits,
          ).toEqual([]);
        expect(await listNotes(one.token)).toEqual(["mine"]);
        expect((await people.as(one.token, "GET", `/notes/get?${at}`)).status).toBe(200);
        const updated = await people.as(one.token, "PATCH", `/notes/update?${at}&rev=1`, {
          text: "m",
        });
        expect(updated.body.data.text).toBe("m");
        expect((await people.as(one.token, "DELETE", `/notes/kill?${at}`)).status).toBe(204);
      });

      test("hold in what a handler reads itself, and for that document alone", async () => {
        const one = await people.member("", "notes.read");
        const two = await people.member(one.tenantId, "notes.read");
        for (const { token } of [one, one, two]) await createNote(token);
        expect((await people.as(one.token, "GET", "/summary")).body).toEqual({
          notes: 2,
          places: 0,
        });
        expect((await people.as(two.token, "GET", "/summary")).body.notes).toBe(1);
      });

      test("are lifted for who has one of the permissions that they name", async () => {
        const one = await people.member("", "notes.read", "notes.write");
        await createNote(one.token, "ones");
        for (const permission of ["admin", "notes.admin"]) {
          const { token } = await people.member(one.tenantId, permission, "notes.read");
          expect(await listNotes(token, "/overseen/list")).toEqual(["ones"]);
          expect(await listNotes(token)).toEqual([]);
          expect(await listNotes(token, "/strict/list")).toEqual([]);
          expect(await listNotes(token, "/renamed/list")).toEqual([]);
        }
        const staff = await people.member(one.tenantId, "staff");
        expect(await listNotes(staff.token, "/renamed/list")).toEqual(["ones"]);
        const plain = await people.member(one.tenantId, "admin");
        expect((await people.as(plain.token, "POST", "/strict/list", {})).status).toBe(403);
      });

      test("are not lifted where who acts lacks the override", async () => {
        const boss = await people.member("", "admin");
        const agent = await people.member(boss.tenantId, "notes.read");
        await createNote((await people.member(boss.tenantId, "notes.read")).token, "another's");
        const acting = (await people.session(boss.id, boss.tenantId, agent.id)).access_token;
        expect(await listNotes(boss.token, "/overseen/list")).toEqual(["another's"]);
        expect(await listNotes(acting, "/overseen/list")).toEqual([]);
      });

      test("nothing is written outside them", async () => {
        const { token } = await people.member("", "notes.read", "notes.write");
        const create = (pinned: boolean): Promise<Answer> =>
          people.as(token, "POST", "/pinned", { text: "n", pinned });
        expect((await create(true)).status).toBe(201);
        expect((await create(false)).status).toBe(403);
        expect(await listNotes(token)).toHaveLength(1);
      });

      test("a port whose filter cannot be read is a masked fault, never a wider result", async () => {
        const { token } = await people.member("", "notes.read");
        await createNote(token);
        for (const list of ["/broken/list", "/wide/list"]) {
          const answer = await people.as(token, "POST", list, {});
          expect([answer.status, answer.body.code, answer.body.context]).toEqual([
            500,
            "core.configuration",
            {},
          ]);
        }
      });

      test("a cursor is its caller's own", async () => {
        const one = await people.member("", "notes.read");
        const two = await people.member(one.tenantId, "notes.read");
        for (const text of ["a", "b", "c"]) await createNote(one.token, text);
        const { body } = await people.as(one.token, "POST", "/notes/list_cursor", { size: 1 });
        const next = { size: 1, after: body.next_cursor };
        expect((await people.as(one.token, "POST", "/notes/list_cursor", next)).status).toBe(200);
        const stolen = await people.as(two.token, "POST", "/notes/list_cursor", next);
        expect([stolen.status, stolen.body.code]).toEqual([422, "invalid_cursor"]);
      });

      test("no client names the owner or the tenant", async () => {
        const { token, id, tenantId } = await people.member("", "notes.read");
        for (const field of ["owner_id", "tenant_id", "$owner", "owner"]) {
          const filtered = await people.as(token, "POST", "/notes/list", {
            filters: { $values: { [field]: id } },
          });
          expect([filtered.status, filtered.body.code]).toEqual([422, "field_not_queryable"]);
          const sorted = await people.as(token, "POST", "/notes/list", {
            sorts: { [field]: "asc" },
          });
          expect(sorted.status).toBe(422);
          const created = await people.as(token, "POST", "/notes/create", {
            text: "n",
            [field]: tenantId,
          });
          expect(created.status).toBe(422);
        }
      });
    });

    test("an idempotency key is its caller's own", async () => {
      const one = await people.member("", "tasks.write");
      const two = await people.member(one.tenantId, "tasks.write");
      const create = (token: string): Promise<Answer> =>
        service.call("POST", "/tasks", {
          body: { title: "t", project },
          headers: { authorization: `Bearer ${token}`, "idempotency-key": "same" },
        });
      const [first, second, again] = [
        await create(one.token),
        await create(two.token),
        await create(one.token),
      ];
      expect([first.status, second.status, again.status]).toEqual([201, 201, 201]);
      expect([first.body.id === second.body.id, first.body.id === again.body.id]).toEqual([
        false,
        true,
      ]);
    });

    test("whatever is asked, a caller sees exactly its own rows of its tenant that match", async () => {
      interface Row {
        readonly owner: Member;
        readonly id: string;
        readonly text: string;
        readonly pinned: boolean;
      }
      const first = await people.member("", "notes.read");
      const owners = [
        first,
        await people.member(first.tenantId, "notes.read"),
        await people.member("", "notes.read"),
      ];
      const rows: Row[] = [];
      for (let index = 0; index < 36; index += 1) {
        const owner = owners[index % 3] ?? first;
        const [text, pinned] = [`t${index % 4}`, index % 2 === 0];
        const { body } = await createNote(owner.token, text, pinned);
        rows.push({ owner, id: body.id, text, pinned });
      }
      const texts = fc.constantFrom<string[]>("t0", "t1", "t2", "t3", "t9", "' OR 1=1 --");
      const values = fc.record(
        {
          text: fc.oneof(texts, fc.array(texts, { maxLength: 3 })),
          pinned: fc.oneof(fc.boolean(), fc.constant(null)),
          id: fc.constantFrom(...rows.map(({ id }) => id)),
        },
        { requiredKeys: [] },
      );
      const query = fc.record({
        caller: fc.constantFrom(...owners),
        values,
        direction: fc.constantFrom("asc" as const, "desc" as const),
        size: fc.constantFrom(1, 5, 100),
        byCursor: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(query, async ({ caller, values: wanted, direction, size, byCursor }) => {
          const matches = (row: Row): boolean =>
            row.owner.id === caller.id &&
            Object.entries(wanted).every(([name, value]) => {
              const actual = row[name as "id" | "text" | "pinned"];
              return Array.isArray(value) ? value.includes(actual as string) : actual === value;
            });
          const expected = rows
            .filter(matches)
            .map(({ id }) => id)
            .toSorted();
          if (direction === "desc") expected.reverse();
          const body = { filters: { $values: wanted }, sorts: { id: direction }, size };
          const path = byCursor ? "/notes/list_cursor" : "/notes/list";
          const seen: string[] = [];
          let after: string | undefined;
          for (let page = 1; ; page += 1) {
            const paging = byCursor ? (after === undefined ? {} : { after }) : { page };
            const answer = await people.as(caller.token, "POST", path, { ...body, ...paging });
            expect(answer.status).toBe(200);
            seen.push(...answer.body.hits.map(({ id }: { readonly id: string }) => id));
            after = answer.body.next_cursor ?? undefined;
            if (byCursor ? after === undefined : seen.length >= answer.body.count) break;
          }
          expect(seen).toEqual(expected);
        }),
        { numRuns: 60 },
      );
    }, 60_000);
  });
}
