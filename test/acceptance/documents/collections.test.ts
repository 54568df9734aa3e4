// What handlers store is what the document declares: `collection(…)` with bodies that are passed on (service.md "Document routes").
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "../../../runtime/ports/log.js";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { Answer, TestService } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: collections, title: Collections, version: 1.0.0}
policies: {open: []}
types:
  Anything: {type: object, additionalProperties: true}
  Stay:
    type: object
    properties: {from: {type: string, format: date-time}, until: {type: string, format: date-time}}
    dependentRequired: {until: [from]}
  Fact: {type: object, properties: {name: {type: string, minLength: 1}, due: {type: [string, "null"], format: date-time}, size: {type: number}}, required: [name]}
documents:
  notes: {type: {text: {type: string, maxLength: 5}, state: [open, done], at: date-time?, tags: "string[]", address: {type: object, properties: {street: {type: string}}, additionalProperties: false}}, defaults: {state: open, tags: [], address: {}}, create: [text, at, tags, address], guard: open, soft_delete: true}
  stays: {type: Stay, guard: open}
  facts: {type: Fact, read_only: true, guard: open}
operations:
  pass.note: {post: /pass/note, in: Anything, out: notes_id, run: registry/handlers.ts#note, guard: open}
  pass.patch: {post: /pass/patch, in: {id: uuid, patch: Anything}, run: registry/handlers.ts#patch, guard: open}
  pass.stay: {post: /pass/stay, in: Anything, out: notes_id, run: registry/handlers.ts#stay, guard: open}
  pass.fact: {post: /pass/fact, in: Anything, out: notes_id, run: registry/handlers.ts#fact, guard: open}
  pass.fact_patch: {post: /pass/fact_patch, in: {id: uuid, patch: Anything}, run: registry/handlers.ts#factPatch, guard: open}
  pass.endless: {post: /pass/endless, out: notes_id, run: registry/handlers.ts#endless, guard: open}
  pass.own: {post: /pass/own, in: {act: string, text: string?, given: {type: object, additionalProperties: true}, items: {type: array, items: {type: object, additionalProperties: true}}}, out: notes_id, run: registry/handlers.ts#own, guard: open, idempotency: true}
  pass.odd: {post: /pass/odd, out: notes_id, run: registry/handlers.ts#odd, guard: open}
`.replaceAll("notes_id", "{id: uuid}"),
  "registry/handlers.ts": `import { collection } from "opwright/runtime";
import { factsSpec } from "../generated/documents/facts.js";
import { notesSpec } from "../generated/documents/notes.js";
import { staysSpec } from "../generated/documents/stays.js";
export const note = (input, context) => collection(notesSpec, context).create(input);
export const patch = ({ id, patch }, context) => collection(notesSpec, context).update(id, "any", patch);
export const stay = (input, context) => collection(staysSpec, context).create(input);
export const fact = (input, context) => collection(factsSpec, context).create(input);
export const factPatch = ({ id, patch }, context) => collection(factsSpec, context).update(id, "any", patch);
export const endless = (_input, context) =>
  collection(factsSpec, context).create({ name: "endless", size: Infinity });
export const own = async ({ act, text, given, items }, context) => {
  const notes = collection(notesSpec, context);
  const note = await notes.create({ text: "t" });
  await {
    type: () => notes.create({ text: 5 }),
    missing: () => notes.create({}),
    renamed: () => notes.create({ text: "t", street: text }),
    many: () => notes.createMany([{ text: "t" }, { text: "much too long" }]),
    copied: () => notes.create({ text }),
    passed: () => notes.create(given),
    nested: () => notes.create({ text: "t", address: given }),
    patched: () => notes.update(note.id, 1, { state: given.state }),
    items: () => notes.createMany(items),
    caught: () => notes.create({ text: 5 }).catch(({ code }) => { if (code !== "core.validation") throw new Error(code); }),
  }[act]();
  return note;
};
export const odd = (_input, context) =>
  collection(notesSpec, context).create({ text: "odd", tags: undefined, at: new Date(0) });
`,
};

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project.remove());

const base = ["id", "rev", "created_at", "last_update_at", "is_deleted", "owner_id", "tenant_id"];
const zzz = { id: "zzz", rev: 99, is_deleted: true } as const;
const valueOf = (name: string): unknown => zzz[name as keyof typeof zzz] ?? "2030-01-01T00:00:00Z";

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    const told: string[] = [];
    let service: TestService;
    beforeAll(async () => {
      const error = ({ err }: { readonly err?: Error }): void =>
        void told.push(String((err?.cause as Error | undefined)?.message));
      service = await project.start(engine, { log: { ...silentLog, error } });
    });
    afterAll(() => service.stop());

    const made = async (path: string, body: object): Promise<string> => {
      const answer = await service.post(path, body);
      expect([answer.status, Object.keys(answer.body)]).toEqual([200, ["id"]]);
      return answer.body.id;
    };
    const faultsOf = async (path: string, body: object): Promise<readonly string[]> => {
      const answer = await service.post(path, body);
      expect([answer.status, answer.body.code]).toEqual([422, "core.validation"]);
      return answer.body.context.errors.map(({ path }: { readonly path: string }) => path);
    };

    test("a number without end is none", async () => {
      expect((await service.post("/pass/endless", {})).status).toBe(500);
      expect(told.at(-1)).toContain(
        "a handler writes what facts do not take: /size must be number",
      );
    });

    test("a member called __proto__ is passed on and refused as any that is not declared", async () => {
      const body = '{"text":"t","__proto__":{"at":null}}';
      const answer = await service.call("POST", "/pass/note", { body });
      expect([answer.status, answer.body.code]).toEqual([422, "core.validation"]);
      expect(answer.body.context.errors[0].path).toBe("/__proto__");
    });

    const own = (act: string, more: object = {}): Promise<Answer> =>
      service.post("/pass/own", { act, given: {}, items: [], ...more });

    test.each([
      ["a value of its own", "type", "/text must be string"],
      ["a member that it leaves out", "missing", "/text must have required property 'text'"],
      ["a value under another name", "renamed", "/street must NOT have additional properties"],
      ["one of many", "many", "/text must NOT have more than 5 characters"],
    ])(
      "%s is the handler's fault: masked, undone, and named in the log",
      async (_what, act, at) => {
        const { count } = (await service.post("/notes/list", {})).body;
        const { status, body } = await own(act, { text: "one" });
        expect([status, body.code, body.context]).toEqual([500, "core.internal", {}]);
        expect(told.at(-1)).toContain(`a handler writes what notes do not take: ${at}`);
        expect((await service.post("/notes/list", {})).body.count).toBe(count);
      },
    );

    test.each([
      ["a value under its name", "copied", { text: "too long" }, "/text"],
      ["an object of it", "passed", { given: { state: "lost" } }, "/given/text"],
      ["an object within another", "nested", { given: { floor: 1 } }, "/given/floor"],
      ["a value that is copied out", "patched", { given: { state: "lost" } }, "/given/state"],
    ])("%s is the caller's fault, with the pointer of the input", async (_what, act, more, at) => {
      const { status, body } = await own(act, more);
      expect([status, body.code]).toEqual([422, "core.validation"]);
      expect(body.context.errors[0].path).toBe(at);
    });

    test("many of the caller's are refused as many, and a handler sees what it is", async () => {
      const items = [{ text: "t" }, { text: "too long" }];
      const { status, body } = await own("items", { items });
      expect([status, body.code, body.context.failed]).toEqual([409, "bulk_refused", 1]);
      expect((await own("caught")).status).toBe(200);
    });

    test.each(base)("%s is set by the service, whoever passes it on", async (name) => {
      const given = { [name]: valueOf(name) };
      expect(await faultsOf("/pass/note", { text: "t", ...given })).toContain(`/${name}`);
      expect(await faultsOf("/pass/fact", { name: "n", ...given })).toEqual([`/${name}`]);
      const note = await made("/pass/note", { text: "t" });
      const fact = await made("/pass/fact", { name: "n" });
      expect(await faultsOf("/pass/patch", { id: note, patch: given })).toContain(`/patch/${name}`);
      expect(await faultsOf("/pass/fact_patch", { id: fact, patch: given })).toEqual([
        `/patch/${name}`,
      ]);
      expect((await service.call("GET", `/notes/${note}`)).body).toMatchObject({
        id: note,
        rev: 1,
      });
      expect((await service.call("GET", `/facts/${fact}`)).body).toMatchObject({
        id: fact,
        rev: 1,
      });
    });

    test.each([
      ["a member that is not declared", { text: "t", isAdmin: true }, "/isAdmin"],
      ["one at depth", { text: "t", address: { street: "s", floor: 1 } }, "/address/floor"],
      ["a field that nobody may create", { text: "t", state: "done" }, "/state"],
      ["a wrong type", { text: 5 }, "/text"],
      ["what is too long", { text: "longer" }, "/text"],
      ["what is missing", {}, "/text"],
    ])("%s is refused with its pointer", async (_what, body, path) => {
      expect(await faultsOf("/pass/note", body)).toEqual([path]);
    });

    test("a patch is held to what patches may have, and the whole to what the type says", async () => {
      const id = await made("/pass/note", { text: "t" });
      expect(await faultsOf("/pass/patch", { id, patch: { isAdmin: true } })).toEqual([
        "/patch/isAdmin",
      ]);
      expect(await faultsOf("/pass/patch", { id, patch: { state: "lost" } })).toEqual([
        "/patch/state",
      ]);
      expect((await service.post("/pass/patch", { id, patch: { state: "done" } })).status).toBe(
        204,
      );
      expect(await faultsOf("/pass/stay", { until: "2030-01-01T00:00:00Z" })).toEqual(["/from"]);
      expect(await faultsOf("/stays", { until: "2030-01-01T00:00:00Z" })).toEqual(["/from"]);
    });

    test("a read-only document is held to its type, with the defaults that it has", async () => {
      expect(await faultsOf("/pass/fact", { name: "" })).toEqual(["/name"]);
      expect(await faultsOf("/pass/fact", {})).toEqual(["/name"]);
      const id = await made("/pass/fact", { name: "n" });
      expect((await service.call("GET", `/facts/${id}`)).body).toMatchObject({
        name: "n",
        due: null,
      });
      expect(await faultsOf("/pass/fact_patch", { id, patch: { name: 5 } })).toEqual([
        "/patch/name",
      ]);
    });

    test("members that a handler leaves undefined get their default, and a Date its text", async () => {
      const id = await made("/pass/odd", {});
      const { body } = await service.call("GET", `/notes/${id}`);
      expect(body).toMatchObject({ text: "odd", tags: [], at: "1970-01-01T00:00:00.000Z" });
    });
  });
}
