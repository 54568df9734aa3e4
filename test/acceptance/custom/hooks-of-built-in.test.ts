// Hooks of built-in operations get what was sent, may change what is read, and are held to types of their own.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
errors: {too_much: {kind: domain, detail: Too much.}}
hooks: {small: {run: registry/hooks.ts#small, phase: before, errors: [too_much]}}
documents:
  notes:
    type: {text: string, kind: string?}
    guard: open
    tenant: false
    bulk: {max: 10}
    upsert: true
    unique: [[kind]]
    hooks:
      list: {before: [small], wrap: [registry/hooks.ts#onlyPublic], on_success: [registry/hooks.ts#seen]}
      list_cursor: {wrap: [registry/hooks.ts#mutated]}
      agg_list: {before: [registry/hooks.ts#noted]}
      update: {before: [registry/hooks.ts#revision]}
      update_where: {before: [registry/hooks.ts#where]}
      create_many: {before: [registry/hooks.ts#many]}
      create: {wrap: [registry/hooks.ts#careless]}
      delete_many: {before: [registry/hooks.ts#noted]}
search:
  note_search:
    of: notes
    text: [text]
    guard: open
    mount: {at: /search}
    hooks:
      typed: {before: [registry/hooks.ts#noFuzzy], tx_after: [registry/hooks.ts#found]}
storage:
  files:
    guard: open
    hooks: {upload: {wrap: [registry/hooks.ts#passing], on_success: [registry/hooks.ts#stored]}, download: {before: [registry/hooks.ts#noSecrets]}}
`,
  "registry/hooks.ts": `import { fail, outputValue } from "opwright/runtime";
import { fail as failOwn } from "../generated/errors.js";
import type { NotesAggListHook, NotesCreateHook, NotesCreateManyHook, NotesListCursorHook, NotesListHook, NotesUpdateHook, NotesUpdateWhereHook } from "../generated/types/notes.js";
import type { NoteSearchTypedHook } from "../generated/types/note_search.js";
import type { FilesDownloadHook, FilesUploadHook } from "../generated/types/files.js";

const heard: unknown[] = (globalThis as unknown as { heardOfHooks: unknown[] }).heardOfHooks;
export const small: NotesListHook["before"] = (input) => {
  if ((input.size ?? 20) > 50) throw failOwn("too_much");
};
export const onlyPublic: NotesListHook["wrap"] = (input, _context, next) =>
  next({ ...input, filters: { $and: [input.filters ?? {}, { $values: { kind: { $neq: "secret" } } }] } });
export const seen: NotesListHook["on_success"] = (input, _context, output) => {
  heard.push([input.size, outputValue(output).hits.length]);
};
export const mutated: NotesListCursorHook["wrap"] = (input, _context, next) => {
  Object.assign(input, { filters: { $values: { kind: "plain" } } });
  return next(input);
};
export const noted = (input: { readonly aggregates?: object; readonly items?: readonly object[] }) =>
  void heard.push(input.items ?? Object.keys(input.aggregates ?? {}));
export const revision: NotesUpdateHook["before"] = ({ id, rev, patch }) => void heard.push([typeof id, rev, patch.text]);
export const where: NotesUpdateWhereHook["before"] = ({ filters, patch }) => void heard.push([filters, patch]);
export const many: NotesCreateManyHook["before"] = ({ items, atomic }) => void heard.push([items.length, atomic]);
export const careless: NotesCreateHook["wrap"] = (input, _context, next) => {
  if (input.text === "typo") return next({ ...input, txt: "x" } as never);
  if (input.text === "round") {
    const round: Record<string, unknown> = { ...input };
    round["itself"] = round;
    return next(round as never);
  }
  return input.text === "nothing" ? next(undefined as never) : next(input);
};
export const noFuzzy: NoteSearchTypedHook["before"] = ({ query, options }) => {
  if (options?.fuzzy === true || query?.includes("*")) throw fail("core.authorization");
};
export const found: NoteSearchTypedHook["tx_after"] = (_input, _context, output) => void heard.push(outputValue(output).hits.length);
export const passing: FilesUploadHook["wrap"] = (input, _context, next) => next(input);
export const stored: FilesUploadHook["on_success"] = (_input, _context, output) => void heard.push(outputValue(output).key);
export const noSecrets: FilesDownloadHook["before"] = ({ key }) => {
  if (key.startsWith("secret/")) throw fail("core.authorization");
};
`,
};

const heard: unknown[] = [];
Object.assign(globalThis, { heardOfHooks: heard });

onEachEngine(files, ({ service }) => {
  const list = async (path: string, body: object) => service.post(path, body);
  const told = async (work: () => Promise<unknown>): Promise<unknown[]> => {
    heard.length = 0;
    await work();
    return [...heard];
  };

  test("lists get their body as it was sent, and read what a hook passes on", async () => {
    await service.post("/notes", { text: "one", kind: "plain" });
    await service.post("/notes", { text: "two", kind: "secret" });
    expect(await list("/notes/list", { size: 51 })).toMatchObject({
      status: 400,
      body: { code: "too_much" },
    });
    const answer = await list("/notes/list", { size: 5, filters: { $values: { text: "two" } } });
    expect(answer.body).toMatchObject({ count: 0, hits: [] });
    expect(await told(() => list("/notes/list", { size: 5 }))).toEqual([[5, 1]]);
    // Faults of the body come before hooks, and at their places.
    expect(await list("/notes/list", { size: "x" })).toMatchObject({
      status: 422,
      body: { context: { errors: [{ path: "/size" }] } },
    });
    // A hook that changes its input in place is heard as well.
    const changed = await list("/notes/list_cursor", { filters: { $values: { kind: "secret" } } });
    expect(changed.body.hits.map(({ kind }: { readonly kind: string }) => kind)).toEqual(["plain"]);
  });

  test("so do aggregates, updates and bulk verbs", async () => {
    const { body: note } = await service.post("/notes", { text: "three", kind: "third" });
    const aggregates = { $groups: { kind: "kind" } };
    expect(await told(() => list("/notes/agg_list", { aggregates }))).toEqual([["$groups"]]);
    const any = { body: { text: "new" }, headers: { "If-Match": "*" } };
    const update = () => service.call("PATCH", `/notes/${note.id}`, any);
    expect(await told(update)).toEqual([["string", "any", "new"]]);
    const filters = { $values: { kind: "third" } };
    const where = () => service.post("/notes/update_where", { filters, patch: { text: "x" } });
    // Each document is one of `update` as well.
    expect(await told(where)).toEqual([
      [filters, { text: "x" }],
      ["string", 2, "x"],
    ]);
    const many = () => service.post("/notes/create_many", { items: [{ text: "a", kind: "many" }] });
    expect(await told(many)).toEqual([[1, undefined]]);
  });

  test("ids have one spelling, wherever they stand", async () => {
    const { body: note } = await service.post("/notes", { text: "gone", kind: "gone" });
    const items = [{ id: note.id.toUpperCase(), rev: 1 }];
    expect(await told(() => service.post("/notes/delete_many", { items }))).toEqual([
      [{ id: note.id, rev: 1 }],
    ]);
    expect((await service.call("GET", `/notes/${note.id}`)).status).toBe(404);
  });

  test("what a hook passes on has to fit, alone and in bulk", async () => {
    for (const text of ["typo", "nothing", "round"]) {
      expect(await service.post("/notes", { text })).toMatchObject({
        status: 500,
        body: { code: "core.internal", context: {} },
      });
      const many = await service.post("/notes/create_many", { items: [{ text }] });
      expect(many.status).toBe(500);
      const filters = { $values: { text } };
      expect((await service.post("/notes/list", { filters })).body.count).toBe(0);
    }
  });

  test("searches are guarded by what was asked", async () => {
    const search = (body: object) => service.post("/search/typed", body);
    expect((await search({ query: "o*" })).status).toBe(403);
    expect((await search({ query: "one", options: { fuzzy: true } })).status).toBe(403);
    expect(await told(() => search({ query: "one" }))).toEqual([1]);
  });

  test("so are storages", async () => {
    const form = new FormData();
    form.set("file", new Blob(["x"]), "a.txt");
    const { status, body } = await service.call("POST", "/files/files", { body: form });
    expect([status, heard.at(-1)]).toEqual([201, body.key]);
    expect((await service.call("GET", `/files/files/${body.key}`)).status).toBe(200);
    expect((await service.call("GET", "/files/files/secret/a.txt")).status).toBe(403);
  });
});
