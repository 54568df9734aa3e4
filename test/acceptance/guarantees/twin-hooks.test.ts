// What hooks of single verbs are told by the verbs that do the same, and what of their errors callers are told
// (decisions.md "A twin takes the rule of its original").
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
errors:
  impolite: {kind: domain, detail: Say please.}
  secret: {kind: domain, detail: The secret reason., context: {reason: string}}
hooks:
  judge: {run: registry/hooks.ts#judge, phase: before, errors: [impolite]}
documents:
  things:
    type: {name: string, size: integer, times: integer}
    set: {times: registry/set.ts#times}
    guard: open
    unique: [[name]]
    upsert: true
    soft_delete: true
    bulk: {max: 10}
    history: {revisions: true}
    hooks:
      create: {before: [judge], on_failure: [registry/hooks.ts#failed]}
      update: {before: [registry/hooks.ts#updating]}
operations:
  log.read: {post: /log/read, out: {lines: "string[]"}, run: registry/hooks.ts#read, guard: open}
`,
  "registry/set.ts": `export const times = ({ size }) => size * 2;
`,
  "registry/hooks.ts": `import { fail } from "../generated/errors.js";
let lines = [];
export const read = () => { const heard = lines; lines = []; return { lines: heard }; };
export const judge = ({ name }) => {
  lines.push("create " + name);
  if (name === "impolite") throw fail("impolite");
  if (name === "secret") throw fail("secret", { reason: "nobody is to know" });
};
export const failed = ({ name }, _context, error) => void lines.push("failed " + name + " " + error.code);
export const updating = ({ patch }) => void lines.push("update " + JSON.stringify(patch));
`,
};

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project.remove());

describe.each(engines.filter(({ isAvailable }) => isAvailable))("on $name", (engine) => {
  let service: TestService;
  beforeAll(async () => {
    service = await project.start(engine);
  });
  afterAll(() => service.stop());
  const heard = async (): Promise<readonly string[]> =>
    (await service.post("/log/read", {})).body.lines;

  test("an error that a hook does not declare is masked for one of many, too", async () => {
    const many = (name: string, atomic: boolean) =>
      service.post("/things/create_many", {
        items: [
          { name: `beside ${name} ${atomic}`, size: 1 },
          { name, size: 1 },
        ],
        atomic,
      });
    const told = await many("impolite", false);
    expect(told.body.outcomes[1].error).toMatchObject({ code: "impolite", kind: "domain" });
    const refused = await many("impolite", true);
    expect(refused.body.context.errors).toMatchObject([{ item: 1, code: "impolite" }]);
    for (const isAtomic of [false, true]) {
      const masked = await many("secret", isAtomic);
      expect([masked.status, masked.body.code]).toEqual([500, "core.internal"]);
      expect(JSON.stringify(masked.body)).not.toMatch(/secret|nobody is to know/);
    }
    const { hits } = (await service.post("/things/list", {})).body;
    expect(hits.map(({ name }: { name: string }) => name)).toEqual(["beside impolite false"]);
    await heard();
  });

  test("an upsert that only a deleted document stands against asks the hooks once", async () => {
    const { id } = (await service.post("/things", { name: "gone", size: 1 })).body;
    expect((await service.post(`/things/${id}/delete?rev=1`, {})).status).toBe(200);
    await heard();
    const upsert = { by: ["name"], document: { name: "gone", size: 2 } };
    const answer = await service.post("/things/upsert", upsert);
    const lines = await heard();
    expect([answer.status, answer.body.code]).toEqual([409, "unique_violation"]);
    expect(lines).toEqual(["create gone", "failed gone unique_violation"]);
  });

  test("hooks of updating are told of a revert what a caller could have sent", async () => {
    const { id } = (await service.post("/things", { name: "back", size: 1 })).body;
    await service.call("PATCH", `/things/${id}?rev=1`, { body: { size: 7 } });
    await heard();
    const reverted = await service.post(`/things/${id}/revert?rev=2&to=1`, {});
    expect(reverted.body).toMatchObject({ size: 1, times: 2 });
    expect(await heard()).toEqual(['update {"size":1}']);
  });
});
