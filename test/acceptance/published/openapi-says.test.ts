// The OpenAPI document says what the service enforces, and how one operation leads to the next (service.md "What the service does").
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { declaredService, type DeclaredService } from "../../support/declared.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

const registry = `
registry: 1
service:
  name: told
  title: Told
  version: 1.0.0
  contact: {name: The team, email: api@example.com}
  license: {name: Apache 2.0, identifier: Apache-2.0}
identity: {provisioning: {guard: open}}
policies: {open: []}
documents:
  notes: {description: What somebody wrote down., type: {text: string, tags: "string[]?"}, guard: open, idempotency: [create]}
storage:
  files: {description: Scans of letters., guard: open, multipart: true}
operations:
  notes.tell:
    post: /tell
    summary: Tell somebody
    description: Sends a *letter*, at most once a day.
    in: {text: string}
    run: registry/tell.ts#tell
    guard: open
    deadline: 3s
  notes.misplace: {post: /misplace, run: registry/tell.ts#misplace, guard: open, transaction: read}
`;

const handlers = `
import { collection, type ExecutionContext } from "opwright/runtime";
import { notesSpec } from "../generated/documents/notes.js";
export const tell = async (): Promise<void> => undefined;
export const misplace = async (_input: unknown, context: ExecutionContext): Promise<void> => {
  await collection(notesSpec, context).create({ text: "n", tags: null });
};
`;

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let declared: DeclaredService;
    let service: TestService;
    // oxlint-disable-next-line typescript/no-explicit-any -- a document is looked into everywhere
    let document: any;
    beforeAll(async () => {
      declared = await declaredService({
        "registry/service.yaml": registry,
        "registry/tell.ts": handlers,
      });
      service = await startTestService(engine, { ...declared, signsIn: false });
      document = (await service.call("GET", "/openapi.json")).body;
    });
    afterAll(async () => {
      await service.stop();
      declared.remove();
    });

    test("who answers for it, and on which terms", () => {
      expect(document.info).toMatchObject({
        contact: { name: "The team", email: "api@example.com" },
        license: { name: "Apache 2.0", identifier: "Apache-2.0" },
      });
    });

    test("what the operations of each tag are about", () => {
      const tags = document.tags as readonly { name: string; description: string }[];
      expect(tags.map(({ name }) => name)).toEqual(["authn", "files", "notes", "principals"]);
      expect(tags.map(({ description }) => description)).toEqual([
        "Who is calling: signing in and out, sessions, passwords.",
        "Scans of letters.",
        "What somebody wrote down.",
        "Administration of principals and permissions.",
      ]);
    });

    test("what an operation does, in its author's words", () => {
      const { summary, description } = document.paths["/tell"].post;
      expect(summary).toBe("Tell somebody");
      expect(description).toBe("Sends a *letter*, at most once a day.\n\nTime budget: 3 s.");
    });

    test("a permission has one holder, a principal or a role", async () => {
      const { principal_id: id } = (
        await service.post("/admin/principals", {
          login: "ann",
          password: "a long enough password",
        })
      ).body;
      const grant = async (holder: object): Promise<readonly unknown[]> => {
        const answer: Answer = await service.post("/admin/grants", {
          permission: "a.b",
          ...holder,
        });
        return [answer.status, answer.body?.context?.errors?.[0]?.keyword];
      };
      const role = { role: "editor" };
      expect(await grant({ principal_id: id })).toEqual([204, undefined]);
      expect(await grant(role)).toEqual([204, undefined]);
      expect((await grant({}))[0]).toBe(422);
      expect((await grant({ principal_id: id, ...role }))[0]).toBe(422);
      expect(document.components.schemas.PrincipalsGrantPermissionInput.oneOf).toEqual([
        { required: ["principal_id"] },
        { required: ["role"] },
      ]);
    });

    test("links lead from what was created to what goes on with it", async () => {
      const { links } = document.paths["/notes"].post.responses["201"];
      expect(Object.keys(links)).toEqual(["get", "update", "kill"]);
      const { body } = await service.post("/notes", { text: "n" });
      const pathOf = (link: {
        operationId: string;
        parameters: Record<string, string>;
      }): string => {
        const [path = ""] =
          Object.entries(document.paths).find(([, methods]) =>
            Object.values(methods as Record<string, { operationId: string }>).some(
              ({ operationId }) => operationId === link.operationId,
            ),
          ) ?? [];
        const valueOf = (name: string): string =>
          String(body[(link.parameters[name] ?? "").replace("$response.body#/", "")]);
        const query = link.parameters["rev"] === undefined ? "" : `?rev=${valueOf("rev")}`;
        return path.replace("{id}", valueOf("id")) + query;
      };
      expect((await service.call("GET", pathOf(links.get))).body).toEqual(body);
      const changed = await service.call("PATCH", pathOf(links.update), { body: { text: "m" } });
      expect(changed.status).toBe(200);
      const steps = (path: string, status: string): readonly string[] =>
        Object.keys(document.paths[path].post.responses[status].links);
      expect(steps("/files/files/uploads", "201")).toEqual([
        "presign_part",
        "list_parts",
        "complete_upload",
        "abort_upload",
      ]);
      expect(steps("/files/files/uploads/parts", "200")).toEqual([
        "presign_part",
        "complete_upload",
      ]);
      expect(steps("/files/files/uploads/parts/url", "200")).toEqual(["complete_upload"]);
    });

    test("a write outside a write transaction is one of the errors that are documented", async () => {
      const { status, body } = await service.post("/misplace", undefined);
      expect([status, body.code]).toEqual([500, "core.configuration"]);
      const codes = document.paths["/misplace"].post["x-error-codes"].flatMap(
        (code: string | { $ref: string }) =>
          typeof code === "string"
            ? [code]
            : document.components["x-error-codes"][code.$ref.split("/").pop() ?? ""],
      );
      expect(codes).toContain("core.configuration");
    });

    test("a weak tag in If-Match counts, for documents and files, in reads and writes", () => {
      const { IfMatch, OptionalIfMatch, NeededIfMatch } = document.components.parameters;
      const said = [IfMatch, OptionalIfMatch, NeededIfMatch].flatMap((one) => one ?? []);
      expect(said.length).toBeGreaterThan(1);
      for (const { description } of said)
        expect(description).toContain("A weak tag counts as the strong one of its version.");
    });

    test("a body that does not arrive, keys of idempotency, lengths of passwords", () => {
      const { post } = document.paths["/notes"];
      expect(Object.keys(post.responses)).toContain("408");
      expect(Object.keys(document.paths["/files/files"].post.responses)).toContain("408");
      expect(Object.keys(document.paths["/notes/{id}"].get.responses)).not.toContain("408");
      const key = document.components.parameters.IdempotencyKey;
      expect(key.schema.pattern).toBe("^[\\x21-\\x7e]{1,255}$");
      for (const rule of ["255", "24 hours", "422", "409", "Idempotency-Replayed"])
        expect(key.description).toContain(rule);
      const { password } = document.components.schemas.PrincipalsCreatePrincipalInput.properties;
      expect(password).toMatchObject({ minLength: 8, maxLength: 1024 });
    });
  });
}
