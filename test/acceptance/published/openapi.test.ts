// The OpenAPI document is true: every operation is driven from it, and every answer is validated against it.
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import openapi from "../../../generated/openapi.json" with { type: "json" };
import { identitySpec } from "../../../generated/identity.js";
import { enqueue } from "../../../generated/jobs.js";
import { issueSession } from "../../../runtime/families/identity/operations.js";
import { createPrincipal } from "../../../runtime/families/identity/provision.js";
import { formats } from "../../../runtime/contract/validation.js";
import { silentLog, type Log } from "../../../runtime/ports/log.js";
import { engines } from "../../support/engines.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";
import { tenantStore } from "../../../runtime/ports/tenants.js";

interface OperationObject {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
  readonly responses: Readonly<Record<string, unknown>>;
  readonly "x-error-codes": readonly string[];
  readonly "x-requires-authn"?: boolean;
  readonly "x-required-permissions"?: readonly string[];
}

const someId = "01890000-0000-7000-8000-00000000ffff";
const someSession = { key: "k", upload_id: "u", expires_at: "2030-01-01T00:00:00Z", token: "t" };
/** Bodies that are sound, for operations that do not take an empty one: by key, or by name for all namespaces. */
const bodies: Readonly<Record<string, unknown>> = {
  agg_list: { aggregates: { $computed: { n: { $count: {} } } } },
  raw: { return_fields: ["id"] },
  raw_cursor: { return_fields: ["id"] },
  raw_list: { return_fields: ["id"] },
  raw_list_cursor: { return_fields: ["id"] },
  "articles.create": { title: "t", body: "b" },
  "authn.change_password": { current_password: "x", new_password: "a long password" },
  "authn.deactivate_principal": { principal_id: someId },
  "authn.reactivate_principal": { principal_id: someId },
  "files.presign_download": { key: "k", expires_in: 60 },
  "files.presign_upload": { key: "k", expires_in: 60 },
  "files.presign_post": { key: "k", expires_in: 60 },
  "files.begin_upload": { key: "k" },
  "files.presign_part": { session: someSession, part_number: 1, expires_in: 60 },
  "files.list_parts": { session: someSession },
  "files.complete_upload": { session: someSession, parts: [{ part_number: 1, etag: "x" }] },
  "files.abort_upload": { session: someSession },
  metadata: { key: "k" },
  update_metadata: { key: "k" },
  copy: { from: "k", to: "l" },
  move: { from: "k", to: "l" },
  "notes.create": { text: "n" },
  "principals.create_principal": { login: "x", password: "a long password" },
  "principals.grant_permission": { principal_id: someId, permission: "a.b" },
  "principals.revoke_permission": { principal_id: someId, permission: "a.b" },
  "projects.create": { name: "P", key: "PP" },
  "realtime.acknowledge": { up_to: "x" },
  "tasks.comment": { text: "t" },
  "tasks.complete": { rev: 1 },
  "tasks.create": { title: "t", project: someId },
  "tenant_admin.create_tenant": { tenant_key: "x" },
  "tenant_admin.invite_member": { tenant_id: someId, principal_id: someId },
  "tenant_admin.remove_member": { tenant_id: someId, principal_id: someId },
  "webhooks.create": { url: "https://example.com/hook", events: ["tasks.completed"] },
};

const otherId = "01890000-0000-7000-8000-0000000000aa";

/** A form with a small file. */
function smallForm(): FormData {
  const form = new FormData();
  form.set("file", new Blob(["x"]), "x.txt");
  return form;
}

/** A body that is sound, or undefined where the operation takes none. */
function bodyFor(operation: OperationObject): unknown {
  const { requestBody, operationId } = operation;
  if (requestBody === undefined) return undefined;
  if (Object.hasOwn(requestBody.content, "multipart/form-data")) return smallForm();
  return bodies[operationId] ?? bodies[nameOf(operation)] ?? {};
}

const nameOf = ({ operationId }: OperationObject): string => operationId.split(".")[1] ?? "";

const ajv = new Ajv2020({ strict: false, formats, validateFormats: true });
ajv.addSchema(openapi, "openapi");

/** A part of the document, or what it refers to. Fails where that is not there. */
function resolved<Part>(part: Part | { readonly $ref: string }): Part {
  if (typeof part !== "object" || part === null || !("$ref" in part)) return part as Part;
  const value = part.$ref
    .slice(2)
    .split("/")
    .reduce<unknown>((at, step) => (at as Readonly<Record<string, unknown>>)[step], openapi);
  if (value === undefined) throw new Error(`${part.$ref} leads nowhere`);
  return resolved(value as Part);
}

/** An operation of the document with what it refers to besides schemas and answers. */
function readOperation(operation: OperationObject): OperationObject {
  return {
    ...operation,
    ...(operation.parameters === undefined
      ? {}
      : { parameters: operation.parameters.map((parameter) => resolved(parameter)) }),
    "x-error-codes": operation["x-error-codes"].flatMap((code) =>
      resolved<string | readonly string[]>(code),
    ),
  };
}

const operations = Object.entries(openapi.paths).flatMap(([path, methods]) =>
  Object.entries(methods as unknown as Readonly<Record<string, OperationObject>>).map(
    ([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation: readOperation(operation),
    }),
  ),
);

/** The JSON Pointer of an answer's schema in the document, following a response reference. */
function schemaPointer(path: string, method: string, status: number): string | undefined {
  const escape = (text: string) => text.replaceAll("~", "~0").replaceAll("/", "~1");
  const methods = openapi.paths[path as keyof typeof openapi.paths] as unknown as Readonly<
    Record<string, OperationObject>
  >;
  const response = methods[method.toLowerCase()]?.responses[String(status)] as
    | { readonly $ref?: string; readonly content?: unknown }
    | undefined;
  if (response === undefined) return undefined;
  const at = response.$ref ?? `#/paths/${escape(path)}/${method.toLowerCase()}/responses/${status}`;
  return `openapi${encodeURI(at)}/content/application~1json/schema`;
}

const driven = new Map<string, Set<number>>();

/** Checks an answer against the document: its status is listed, its body valid, its code promised. */
function checkAnswer(path: string, method: string, answer: Answer): void {
  const { operation } =
    operations.find((candidate) => candidate.path === path && candidate.method === method) ?? {};
  if (operation === undefined) throw new Error(`${method} ${path} is not in the document`);
  driven.set(
    operation.operationId,
    (driven.get(operation.operationId) ?? new Set()).add(answer.status),
  );
  expect(Object.keys(operation.responses), `${operation.operationId} ${answer.status}`).toContain(
    String(answer.status),
  );
  if (answer.body === undefined) {
    if (method !== "HEAD") expect([202, 204, 304]).toContain(answer.status);
    return;
  }
  // Bytes have no schema.
  if (answer.headers.get("content-disposition") !== null) return;
  const pointer = schemaPointer(path, method, answer.status) ?? "";
  const isValid = ajv.validate(pointer, answer.body);
  expect(isValid, `${operation.operationId} ${answer.status}: ${ajv.errorsText()}`).toBe(true);
  if (answer.status >= 400) expect(operation["x-error-codes"]).toContain(answer.body.code);
}

/** A token of a member of the tester's tenant who has no permission at all. */
async function memberOf({ running, tester }: TestService): Promise<string> {
  const given = { login: "member@example.test", password: "a long password" };
  const { connection } = running;
  const id = await createPrincipal(connection.context("test.people"), given);
  const tokens = await connection.write("test.people", async (context) => {
    await context.transaction.of(tenantStore).addMember(tester.tenantId, id);
    return issueSession(identitySpec, context, { principalId: id, tenant: tester.tenantId });
  });
  return tokens.access_token;
}

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let ids: Record<string, string> = {};
    let resetToken = "";
    let memberToken = "";
    /** Events go to the log in development; here their tokens are read from it. */
    const log: Log = {
      ...silentLog,
      info: (entry) => {
        const { event, payload } = entry as { readonly event?: string; readonly payload?: string };
        if (event === "authn.password_reset_requested")
          resetToken = (JSON.parse(payload ?? "") as { readonly token: string }).token;
      },
    };
    beforeAll(async () => {
      service = await startTestService(engine, { log });
      memberToken = await memberOf(service);
      driven.clear();
    });
    afterAll(() => service.stop());

    const drive = async (
      path: string,
      method: string,
      options: {
        readonly id?: string | undefined;
        readonly delivery?: string;
        readonly query?: string;
        readonly body?: unknown;
        readonly headers?: Record<string, string>;
      } = {},
    ): Promise<Answer> => {
      const id = options.id ?? someId;
      const at = path
        .replace(/\{(?:id|key|task|project)\}/, id)
        .replace("{delivery}", options.delivery ?? someId)
        .replace("{revision}", "1");
      const target = at + (options.query ?? "");
      const answer = await service.call(method, target, {
        ...(options.body === undefined ? {} : { body: options.body }),
        ...(options.headers === undefined ? {} : { headers: options.headers }),
      });
      checkAnswer(path, method, answer);
      return answer;
    };

    test("documents of every kind succeed as documented", async () => {
      const payloads = {
        "/articles": { title: "t", body: "b" },
        "/projects": { name: "P", key: "PP" },
        "/tasks": { title: "t", project: "01890000-0000-7000-8000-000000000006" },
      };
      for (const [root, body] of Object.entries(payloads)) {
        const created = await drive(root, "POST", { body });
        const { id } = created.body;
        ids = { ...ids, [root]: id };
        await drive(`${root}/{id}`, "GET", { id });
        await drive(`${root}/{id}`, "GET", { id, headers: { "if-none-match": '"1"' } });
        await drive(`${root}/{id}`, "PATCH", { id, query: "?rev=1", body: {} });
        await drive(`${root}/{id}/delete`, "POST", { id, query: "?rev=1" });
        await drive(`${root}/{id}/restore`, "POST", { id, query: "?rev=2" });
      }
      const comments = { id: ids["/tasks"], body: { text: "t" } };
      await drive("/tasks/{task}/comments", "POST", comments);
      await drive("/tasks/{id}/complete", "POST", { id: ids["/tasks"], body: { rev: 3 } });
      const note = await drive("/notes/create", "POST", { body: { text: "n" } });
      await drive("/notes/get", "GET", { query: `?id=${note.body.id}` });
      await drive("/notes/update", "PATCH", {
        query: `?id=${note.body.id}&rev=1`,
        body: { pinned: true },
      });
      for (const [root, list] of [
        ["/articles", "/list"],
        ["/projects", "/list"],
        ["/tasks", "/query"],
        ["/notes", "/list"],
        ["/places", "/list"],
      ] as const) {
        await drive(`${root}${list}`, "POST", { body: { size: 2 } });
        await drive(`${root}/raw_list`, "POST", { body: { return_fields: ["id"] } });
        await drive(`${root}/list_cursor`, "POST", { body: { size: 2 } });
        const aggregates = { $groups: { created: "created_at" }, $computed: { n: { $count: {} } } };
        await drive(`${root}/agg_list`, "POST", { body: { aggregates } });
        await drive(`${root}/raw_list_cursor`, "POST", { body: { return_fields: ["id"] } });
      }
      const options = { highlight: true, facets: ["state"] };
      for (const [root, asked] of [
        ["/search/tasks", { query: "t", options }],
        ["/search/places", { query: "t" }],
        ["/articles", { query: "t", options: { facets: ["tags"] } }],
      ] as const) {
        await drive(`${root}/typed`, "POST", { body: asked });
        await drive(`${root}/raw`, "POST", { body: { ...asked, return_fields: ["id"] } });
        await drive(`${root}/typed_cursor`, "POST", { body: asked });
        await drive(`${root}/raw_cursor`, "POST", { body: { ...asked, return_fields: ["id"] } });
      }
      await drive("/articles/{id}", "DELETE", { id: ids["/articles"] });
      await drive("/projects/{id}", "DELETE", { id: ids["/projects"] });
      await drive("/tasks/{id}", "DELETE", { id: ids["/tasks"] });
      await drive("/notes/kill", "DELETE", { query: `?id=${note.body.id}` });
      await drive("/places/{id}", "GET");
    });

    /** What is known of an object is read and changed, and it is moved to and fro. */
    const driveAbout = async (root: string, key: string): Promise<void> => {
      await drive(`${root}/metadata`, "POST", { body: { key } });
      const told = { key, description: "said", tags: { stage: "draft" } };
      await drive(`${root}/metadata/update`, "POST", { body: told });
      await drive(`${root}/copy`, "POST", { body: { from: key, to: "copied" } });
      await drive(`${root}/move`, "POST", { body: { from: "copied", to: "moved" } });
      for (const path of ["metadata", "metadata/update", "copy", "move"]) {
        const body = path.startsWith("metadata") ? { key: "none" } : { from: "none", to: "x" };
        await drive(`${root}/${path}`, "POST", { body });
      }
    };

    test("revisions and deleted documents answer as documented", async () => {
      const body = { name: "P", key: "PP" };
      const { id } = (await drive("/projects", "POST", { body })).body;
      await drive("/projects/{id}", "PATCH", { id, query: "?rev=1", body: { name: "Q" } });
      for (const path of ["revisions", "revisions/{revision}", "revisions/{revision}/diff"]) {
        await drive(`/projects/{id}/${path}`, "GET", { id });
        await drive(`/projects/{id}/${path}`, "GET");
      }
      await drive("/projects/{id}/revert", "POST", { id, query: "?rev=1&to=1" });
      await drive("/projects/{id}/revert", "POST", { id, query: "?rev=2&to=1" });
      await drive("/projects/{id}/deleted", "GET", { id });
      await drive("/projects/{id}/delete", "POST", { id, query: "?rev=3" });
      await drive("/projects/{id}/deleted", "GET", { id });
      await drive("/projects/list_deleted", "POST", { body: { size: 2 } });
    });

    test("the audit trail answers as documented", async () => {
      for (const path of ["/audit", "/audit/download"]) {
        const query = "?resource=projects&since=2026-01-01T00:00:00Z";
        expect((await drive(path, "GET", { query })).status).toBe(200);
        expect((await drive(path, "GET", { query: "?since=then" })).status).toBe(422);
      }
    });

    test("files succeed as documented", async () => {
      const { key } = (await drive("/files", "POST", { body: smallForm() })).body;
      await drive("/files/{key}", "GET", { id: key });
      await drive("/files/{key}", "GET", { id: key, headers: { range: "bytes=0-0" } });
      await drive("/files/{key}", "GET", { id: key, headers: { range: "bytes=9-" } });
      await drive("/files/{key}", "GET", { id: key, headers: { "if-none-match": "*" } });
      await drive("/files/{key}", "GET", { id: key, headers: { "if-match": '"x"' } });
      await drive("/files/{key}", "HEAD", { id: key });
      await drive("/files/{key}", "HEAD", { id: key, headers: { "if-none-match": "*" } });
      await driveAbout("/files", key);
      await drive("/files/list", "POST", { body: {} });
      await drive("/files/presign/download", "POST", { body: { key, expires_in: 60 } });
      await drive("/files/presign/post", "POST", { body: { key: "new", expires_in: 60 } });
      await drive("/files/presign/upload", "POST", { body: { key: "new", expires_in: "PT1M" } });
      const { body: session } = await drive("/files/uploads", "POST", { body: { key: "parts" } });
      const asked = { session, part_number: 1, expires_in: 60 };
      const { body: signed } = await drive("/files/uploads/parts/url", "POST", { body: asked });
      const put = await fetch(signed.url, { method: "PUT", body: "x" });
      const parts = [{ part_number: 1, etag: put.headers.get("etag") }];
      await drive("/files/uploads/parts", "POST", { body: { session } });
      await drive("/files/uploads/complete", "POST", { body: { session, parts } });
      await drive("/files/uploads/complete", "POST", { body: { session, parts } });
      await drive("/files/uploads/abort", "POST", { body: { session } });
      const foreign = { ...session, key: "other" };
      await drive("/files/uploads/abort", "POST", { body: { session: foreign } });
      await drive("/files/{key}", "DELETE", { id: key });
      for (const method of ["GET", "HEAD", "DELETE"]) await drive("/files/{key}", method);
    });

    test("files of a composite succeed as documented", async () => {
      const form = new FormData();
      form.set("file", new Blob(["%PDF-1.7"]), "x.pdf");
      const { key } = (await drive("/articles/blobs/files", "POST", { body: form })).body;
      await drive("/articles/blobs/files/{key}", "GET", { id: key });
      await drive("/articles/blobs/files/{key}", "HEAD", { id: key });
      await driveAbout("/articles/blobs/files", key);
      await drive("/articles/blobs/files/list", "POST", { body: {} });
      await drive("/articles/blobs/files/{key}", "DELETE", { id: key });
    });

    test("encrypted files succeed as documented", async () => {
      const { key } = (await drive("/vault/files/upload", "POST", { body: smallForm() })).body;
      await drive("/vault/files/download/{key}", "GET", { id: key });
      await drive("/vault/files/download/{key}", "GET", {
        id: key,
        headers: { range: "bytes=0-0" },
      });
      await drive("/vault/files/download/{key}", "HEAD", { id: key });
      await driveAbout("/vault/files", key);
      await drive("/vault/files/list", "POST", { body: {} });
      await drive("/vault/files/delete/{key}", "DELETE", { id: key });
    });

    test("signing in and out succeeds as documented", async () => {
      const login = "driver@example.test";
      const password = "correct horse battery staple";
      await createPrincipal(service.running.connection.context("test.people"), { login, password });
      const signIn = async (): Promise<Record<string, string>> => {
        const { body } = await drive("/auth/login", "POST", { body: { login, password } });
        return { authorization: `Bearer ${body.access_token}`, refresh: body.refresh_token };
      };
      const { authorization = "", refresh } = await signIn();
      await drive("/auth/refresh", "POST", { body: { refresh_token: refresh } });
      const headers = { authorization };
      const { body } = await drive("/auth/sessions", "GET", { headers });
      await drive("/auth/change-password", "POST", {
        headers,
        body: { current_password: password, new_password: password },
      });
      const { authorization: again = "" } = await signIn();
      await drive("/auth/logout", "POST", { headers: { authorization: again } });
      const { authorization: last = "" } = await signIn();
      const [session] = (await drive("/auth/sessions", "GET", { headers: { authorization: last } }))
        .body.sessions;
      await drive("/auth/sessions/{id}", "DELETE", {
        id: session.id,
        headers: { authorization: last },
      });
      expect(body.sessions).toHaveLength(1);
    });

    test("mailboxes succeed as documented", async () => {
      const task = { title: "t", project: ids["/projects"], assignee: service.tester.id };
      for (let count = 0; count < 3; count += 1) await service.post("/tasks", task);
      // Positions are given out after the commit.
      await expect
        .poll(async () => (await drive("/realtime/history", "GET")).body.signals)
        .toHaveLength(3);
      const { body: page } = await drive("/realtime/history", "GET", { query: "?limit=2" });
      expect([page.signals.length, page.has_more]).toEqual([2, true]);
      const up_to = page.signals[1].id;
      const rest = await drive("/realtime/history", "GET", { query: `?after=${up_to}&limit=1` });
      expect(rest.body.signals).toHaveLength(1);
      for (const query of ["?limit=0", "?limit=101", "?after=x"])
        expect((await drive("/realtime/history", "GET", { query })).status).toBe(422);
      const { id: project } = (await service.post("/projects", { name: "heard", key: "HRD" })).body;
      const topic = `?topic=project:${project}`;
      const present = await drive("/realtime/presence", "GET", { query: topic });
      expect(present.status).toBe(200);
      expect((await drive("/realtime/presence", "GET", { query: "?topic=x" })).status).toBe(403);
      const query = "?device_id=driver";
      const acked = await drive("/realtime/sse/ack", "POST", { query, body: { up_to } });
      expect(acked.body).toEqual({ acked: true });
      const none = await drive("/realtime/sse/ack", "POST", { query, body: { up_to: "-" } });
      expect(none.body).toEqual({ acked: false });
      const whole = "?device_id=driver&protocol=1&topics=task:a,b&last_event_id=-";
      const again = await drive("/realtime/sse/ack", "POST", { query: whole, body: { up_to } });
      expect(again.status).toBe(200);
      const { parameters } = openapi.paths["/realtime/sse/ack"].post;
      expect(parameters.map(({ name }: { readonly name: string }) => name)).toEqual(
        expect.arrayContaining(["device_id", "protocol", "topics", "last_event_id"]),
      );
      for (const wrong of ["device_id=a%20b", "topics=a,,b", "protocol=2", "other=1"]) {
        const bad = { query: `?${wrong}`, body: { up_to } };
        expect((await drive("/realtime/sse/ack", "POST", bad)).status).toBe(422);
      }
    });

    test("webhooks succeed as documented", async () => {
      const body = bodies["webhooks.create"];
      const { id } = (await drive("/webhooks", "POST", { body })).body;
      await drive("/webhooks", "GET");
      const { body: tried } = await drive("/webhooks/{id}/test", "POST", { id });
      await drive("/webhooks/{id}/deliveries", "GET", { id });
      const again = "/webhooks/{id}/deliveries/{delivery}/redeliver";
      await drive(again, "POST", { id, delivery: tried.id });
      await drive("/webhooks/{id}", "DELETE", { id });
      for (const path of ["/webhooks/{id}/deliveries", "/webhooks/{id}"])
        await drive(path, path.endsWith("s") ? "GET" : "DELETE", { id });
    });

    test("jobs and their runs succeed as documented", async () => {
      const finish = "/projects/{project}/finish";
      const { run } = (await drive(finish, "POST", { id: someId })).body;
      expect((await drive(finish, "POST", { id: "x" })).status).toBe(422);
      await vi.waitFor(async () => {
        const { body } = await drive("/job-runs/{id}", "GET", { id: run });
        expect(body).toMatchObject({ state: "done", input: { project: someId } });
      });
      const query = "?job=projects.finish&state=done";
      expect((await drive("/job-runs", "GET", { query })).body.runs).toMatchObject([{ id: run }]);
      expect((await drive("/job-runs", "GET", { query: "?state=lost" })).status).toBe(422);
      await drive("/job-runs/{id}", "GET");
      for (const verb of ["cancel", "retry"])
        await drive(`/job-runs/{id}/${verb}`, "POST", { id: run });
      const { connection } = service.running;
      const { tenantId } = service.tester;
      const delayed = await connection.write(
        "test.delayed",
        (context) => enqueue(context, "projects.finish", { project: otherId }, { delay: "1d" }),
        tenantId,
      );
      await drive("/job-runs/{id}/cancel", "POST", { id: delayed });
      expect((await drive("/job-runs/{id}/retry", "POST", { id: delayed })).status).toBe(204);
    });

    test("tenants and their administration succeed as documented", async () => {
      const { connection } = service.running;
      const given = { login: "keeper@example.test", password: "correct horse battery staple" };
      const id = await createPrincipal(connection.context("test.people"), given);
      await connection.write("test.grant", (context) =>
        context.transaction.of(tenantStore).grant(null, id, "platform.admin"),
      );
      const { body: pair } = await drive("/auth/login", "POST", { body: given });
      const headers = { authorization: `Bearer ${pair.access_token}` };
      const { body: tenant } = await drive("/admin/tenants", "POST", {
        headers,
        body: { tenant_key: "driven" },
      });
      const membership = { tenant_id: tenant.tenant_id, principal_id: id };
      await drive("/admin/memberships", "POST", { headers, body: membership });
      await drive("/admin/tenants/{id}/members", "GET", { headers, id: tenant.tenant_id });
      await drive("/tenants", "GET", { headers });
      await drive("/admin/tenants", "GET", { headers });
      await drive("/auth/me", "GET", { headers });
      await drive("/tenants/{id}/activate", "POST", {
        headers,
        id: tenant.tenant_id,
        query: "?keep=true",
      });
      await drive("/tenants/{id}", "DELETE", { headers, id: tenant.tenant_id });
      await drive("/admin/memberships", "POST", { headers, body: membership });
      await drive("/admin/memberships", "DELETE", { headers, body: membership });
      await drive("/admin/tenants/{id}/deactivate", "POST", { headers, id: tenant.tenant_id });
      await drive("/admin/tenants/{id}/reactivate", "POST", { headers, id: tenant.tenant_id });
      const holder = `?principal_id=${id}`;
      await drive("/admin/grants", "GET", { headers, query: holder });
      const issued = await drive("/api-keys", "POST", { headers, body: { label: "driver" } });
      await drive("/api-keys", "GET", { headers });
      await drive("/api-keys/{id}", "DELETE", { headers, id: issued.body.key_id });
      const another = { login: "another@example.test", password: given.password };
      const { body: made } = await drive("/admin/principals", "POST", { headers, body: another });
      const grant = { principal_id: made.principal_id, permission: "tasks.read" };
      await drive("/admin/grants", "POST", { headers, body: grant });
      await drive("/admin/grants", "DELETE", { headers, body: grant });
      await drive("/auth/deactivate", "POST", {
        headers,
        body: { principal_id: made.principal_id },
      });
      await drive("/auth/reactivate", "POST", {
        headers,
        body: { principal_id: made.principal_id },
      });
      await drive("/admin/principals", "GET", { headers, query: `?login=${given.login}` });
      await drive("/auth/password-reset/request", "POST", { body: { login: given.login } });
      await expect.poll(() => resetToken).not.toBe("");
      const confirmation = { token: resetToken, new_password: "another long password" };
      await drive("/auth/password-reset/confirm", "POST", { body: confirmation });
    });

    const guarded = operations.filter(({ operation }) => operation["x-requires-authn"] === true);
    test.each(guarded)(
      "$operation.operationId is 401 for nobody, and 403 for who lacks its permission",
      async ({ path, method, operation }) => {
        const at = path
          .replaceAll(/\{(?:id|key|task|project|delivery)\}/g, someId)
          .replace("{revision}", "1");
        const needed = (operation.parameters ?? [])
          .filter(({ in: place, required }) => place === "query" && required)
          .map(({ name }) => `${name}=${name === "to" ? 1 : someId}`);
        const rev = (operation.parameters ?? []).some(({ name }) => name === "rev");
        const query = [
          ...needed.filter((one) => !one.startsWith("rev=")),
          ...(rev ? ["rev=1"] : []),
        ];
        const target = `${at}${query.length === 0 ? "" : `?${query.join("&")}`}`;
        const send = (authorization: string): Promise<Answer> =>
          service.call(method, target, {
            headers: { authorization },
            body: bodyFor(operation),
          });
        const anonymous = await send("");
        const codeOf = ({ headers }: Answer): string | null => headers.get("x-error-code");
        expect([anonymous.status, codeOf(anonymous)]).toEqual([401, "core.authentication"]);
        expect(anonymous.headers.get("www-authenticate")).toContain("Bearer");
        if ((operation["x-required-permissions"] ?? []).length === 0) return;
        const lacking = await send(`Bearer ${memberToken}`);
        expect([lacking.status, codeOf(lacking)]).toEqual([403, "core.authorization"]);
      },
    );

    test.each(operations)(
      "the errors of $operation.operationId are as documented",
      async ({ path, method, operation }) => {
        const needsId = /\{(?:id|task)\}/.test(path);
        const hasBody = operation.requestBody !== undefined;
        if (needsId) await drive(path, method, { id: "x", ...(hasBody ? { body: {} } : {}) });
        await drive(path, method, { query: "?a=1&a=2", ...(hasBody ? { body: {} } : {}) });
        await drive(path, method, { query: "?unknown=1", ...(hasBody ? { body: {} } : {}) });
        await drive(path, method, {
          headers: { "x-deadline-budget": "x" },
          ...(hasBody ? { body: {} } : {}),
        });
        if (hasBody) {
          for (const body of ["{", '{"a":1,"a":2}', "[]", '{"unknown":1}', '{"x":1e999}'])
            await drive(path, method, { body, query: needsId ? "?rev=1" : "" });
          await drive(path, method, { body: "{}", headers: { "content-type": "text/plain" } });
          await drive(path, method, { body: `{"x":"${"y".repeat(1_100_000)}"}` });
        }
        const parameters = operation.parameters ?? [];
        if (parameters.some(({ name }) => name === "If-Match")) {
          await drive(path, method, {
            headers: { "if-match": "W/x" },
            ...(hasBody ? { body: {} } : {}),
          });
          const id = parameters.some(({ name, in: place }) => name === "id" && place === "query")
            ? "id=01890000-0000-7000-8000-00000000ffff&"
            : "";
          await drive(path, method, { query: `?${id}rev=5`, ...(hasBody ? { body: {} } : {}) });
        }
        if (parameters.some(({ name }) => name === "Idempotency-Key")) {
          await drive(path, method, {
            headers: { "idempotency-key": "x y" },
            ...(hasBody ? { body: {} } : {}),
          });
        }
      },
    );

    test("every operation of the document was driven, to success and to an error", () => {
      const incomplete = operations
        .map(({ operation }) => operation.operationId)
        .filter((key) => {
          const statuses = [...(driven.get(key) ?? [])];
          return (
            key !== "places.get" &&
            (!statuses.some((status) => status < 400) || !statuses.some((status) => status >= 400))
          );
        });
      expect(incomplete).toEqual([]);
    });
  });
}

test("the document passes @redocly/cli lint without an error", async () => {
  const { execFile } = await import("node:child_process");
  const { promisify } = await import("node:util");
  const root = new URL("../../..", import.meta.url).pathname;
  const run = promisify(execFile);
  const { stdout } = await run(
    "npx",
    ["redocly", "lint", "generated/openapi.json", "--format=json", "--extends=recommended"],
    {
      cwd: root,
      env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
    },
  ).catch((error: { readonly stdout: string }) => error);
  const report = JSON.parse(stdout) as { readonly totals: { readonly errors: number } };
  expect(report.totals.errors).toBe(0);
});
