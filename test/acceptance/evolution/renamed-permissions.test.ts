// Permissions that are called otherwise, because of the policy or of the document, while the version before goes on beside:
// what either grants or takes counts in both (evolution.md "Rename").
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { engines, sharedDatabase } from "../../support/engines.js";
import { peopleOf, type People } from "../../support/people.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { Answer, TestService } from "../../support/service.js";

const registry = (policies: string, documents: string): Readonly<Record<string, string>> => ({
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token], provisioning: {guard: staff}}
tenancy: {}
policies:
  reader: [principal, tenant, {authorize: "{resource}.read"}]
${policies}
documents:
${documents}
`,
});
const writer = '  writer: [principal, tenant, {authorize: "{resource}.write"}]';
const staff = "  staff: [principal, {authorize: platform.staff}]";
const editor =
  '  writer: [principal, tenant, {authorize: "{resource}.edit", was: "{resource}.write"}]';
const document = "type: {text: string}, guard: {read: reader, write: writer}";
const first = registry(`${writer}\n${staff}`, `  notes: {${document}}`);
const second = registry(
  `${editor}\n  staff: [principal, {authorize: platform.people, was: platform.staff}]`,
  `  memos: {was: notes, ${document}}`,
);

let projects: readonly [TestProject, TestProject];
beforeAll(async () => {
  const before = await testProject(first);
  projects = [before, await testProject(second, before)];
});
afterAll(() => projects.forEach((project) => project.remove()));

interface Side {
  readonly service: TestService;
  readonly people: People;
}

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let old: Side;
    let next: Side;
    let stop: () => Promise<void>;
    let admin = "";
    beforeAll(async () => {
      const { same, drop } = await sharedDatabase(engine);
      const started = async (project: TestProject): Promise<Side> => {
        const service = await project.start(same);
        const { identitySpec } = await project.load("generated/identity.ts");
        return { service, people: peopleOf(service, identitySpec) };
      };
      old = await started(projects[0]);
      next = await started(projects[1]);
      admin = (await old.people.person("platform.staff")).id;
      stop = async () => {
        await old.service.stop();
        await next.service.stop();
        await drop();
      };
    });
    afterAll(() => stop());

    /** A request of somebody, in a session of that version. */
    const as = async (
      { people }: Side,
      who: { readonly id: string; readonly tenantId: string | null },
      method: string,
      path: string,
      body?: object,
    ): Promise<Answer> => {
      const { access_token: token } = await people.session(who.id, who.tenantId);
      return people.as(token, method, path, body);
    };
    const administered = (side: Side, method: string, body: object): Promise<Answer> =>
      as(side, { id: admin, tenantId: null }, method, "/admin/grants", body);
    const someone = async () => {
      const member = await old.people.member("");
      const grant = { principal_id: member.id, tenant_id: member.tenantId };
      const status = async (side: Side, method: string, permission: string): Promise<number> =>
        (await administered(side, method, { ...grant, permission })).status;
      const listed = async (side: Side): Promise<unknown> => {
        const { access_token: token } = await side.people.session(admin, null);
        const query = new URLSearchParams(grant).toString();
        return (await side.people.as(token, "GET", `/admin/grants?${query}`)).body.permissions;
      };
      return {
        give: (side: Side, permission: string) => status(side, "POST", permission),
        take: (side: Side, permission: string) => status(side, "DELETE", permission),
        listed,
        writes: async () => [
          (await as(old, member, "POST", "/notes", { text: "one" })).status,
          (await as(next, member, "POST", "/memos", { text: "two" })).status,
        ],
        reads: async () => [
          (await as(old, member, "POST", "/notes/list", {})).status,
          (await as(next, member, "POST", "/memos/list", {})).status,
        ],
      };
    };

    test("grants of the previous version count, and each version lists them by its own names", async () => {
      const { give, take, listed, writes } = await someone();
      expect(await writes()).toEqual([403, 403]);
      expect(await give(old, "notes.write")).toBe(204);
      expect(await writes()).toEqual([201, 201]);
      expect(await listed(old)).toEqual(["notes.write"]);
      expect(await listed(next)).toEqual(["memos.edit"]);
      expect(await take(next, "memos.edit")).toBe(204);
      expect(await writes()).toEqual([403, 403]);
      expect(await take(next, "memos.edit")).toBe(404);
    });

    test("grants of the next version count in the previous one, until either revokes them", async () => {
      const { give, take, reads, listed } = await someone();
      expect(await give(next, "memos.read")).toBe(204);
      expect(await reads()).toEqual([200, 200]);
      expect(await listed(old)).toEqual(["notes.read"]);
      expect(await take(old, "notes.read")).toBe(204);
      expect(await reads()).toEqual([403, 403]);
    });

    test("the former name is taken as the present one, and the present one is not lost on the version before", async () => {
      const { give, take, writes, listed } = await someone();
      expect(await give(next, "notes.write")).toBe(204);
      expect(await writes()).toEqual([201, 201]);
      // The version before keeps names that it doesn't know as they are.
      expect(await give(old, "memos.edit")).toBe(204);
      expect(await listed(next)).toEqual(["memos.edit"]);
      expect(await take(next, "notes.write")).toBe(204);
      expect(await writes()).toEqual([403, 403]);
      expect(await listed(old)).toEqual([]);
      expect(await give(old, "memos.edit")).toBe(204);
      expect(await writes()).toEqual([403, 201]);
    });

    test("a role has its permissions by either name", async () => {
      const member = await old.people.member("", "role:author");
      const role = { role: "author", tenant_id: member.tenantId, permission: "memos.edit" };
      expect((await administered(next, "POST", role)).status).toBe(204);
      expect((await as(old, member, "POST", "/notes", { text: "one" })).status).toBe(201);
      expect((await as(next, member, "POST", "/memos", { text: "two" })).status).toBe(201);
    });

    test("a 403 names the permission that its version asks for", async () => {
      const member = await old.people.member("");
      expect((await as(old, member, "POST", "/notes", { text: "x" })).body.context).toEqual({
        missing: "notes.write",
      });
      expect((await as(next, member, "POST", "/memos", { text: "x" })).body.context).toEqual({
        missing: "memos.edit",
      });
    });
  });
}

/** What a grant of one would give besides (attack 179). */
const confused: readonly (readonly [string, string, string, string])[] = [
  [
    "is still asked for by itself",
    `${editor}\n${staff}\n  killer: [principal, tenant, {authorize: "{resource}.write"}]`,
    `  notes: {type: {text: string}, guard: {read: reader, write: writer, kill: killer}}`,
    "grants of notes.edit are stored as notes.write, and so are those of notes.write",
  ],
  [
    "is that of two",
    `${editor}\n${staff}\n  killer: [principal, tenant, {authorize: "{resource}.kill", was: "{resource}.write"}]`,
    `  notes: {type: {text: string}, guard: {read: reader, write: writer, kill: killer}}`,
    "grants of notes.kill are stored as notes.write, and so are those of notes.edit",
  ],
  [
    "stands above all others",
    `  writer: [principal, tenant, {authorize: "{resource}.edit", was: "{resource}.admin"}]\n${staff}`,
    `  notes: {${document}}`,
    "grants of notes.edit are stored as notes.admin, and so are those of {resource}.admin",
  ],
  [
    "holds elsewhere",
    `${writer}\n  staff: [principal, {authorize: platform.people, was: notes.people}]`,
    `  notes: {${document}}`,
    "platform.people cannot have been called notes.people",
  ],
  [
    "is said in two ways",
    `${editor}\n${staff}\n  killer: [principal, tenant, {authorize: "notes.edit", was: "notes.kill"}]`,
    `  notes: {type: {text: string}, guard: {read: reader, write: writer, kill: killer}}`,
    "notes.edit cannot have been called both notes.write and notes.kill",
  ],
];

test.each(confused)(
  "a former name of a permission is refused that %s",
  async (_title, policies, documents, message) => {
    await expect(testProject(registry(policies, documents))).rejects.toThrow(
      new RegExp(`OPW097 ${message.replaceAll(/[.{}]/g, String.raw`\$&`)}`),
    );
  },
);

test("a document that takes the former name of another one shares no permission with it", async () => {
  const own = await testProject(first);
  onTestFinished(() => own.remove());
  const taken = registry(
    `${writer}\n${staff}`,
    `  memos: {was: notes, ${document}}
operations:
  notes.look: {get: /notes/look, out: {n: integer}, run: registry/handlers.ts#look, guard: reader}`,
  );
  const handler = { "registry/handlers.ts": "export const look = async () => ({ n: 1 });\n" };
  await expect(testProject({ ...taken, ...handler }, own)).rejects.toThrow(
    /OPW097 grants of memos\.read are stored as notes\.read, and so are those of notes\.read/,
  );
});
