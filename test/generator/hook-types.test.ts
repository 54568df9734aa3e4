// Hooks of operations have types of their own, which hold them: those that --stubs writes, and wrong ones.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cli } from "./cli.js";
import { compile } from "./compile.js";
import { writeProject } from "./scenario.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  notes:
    type: {text: string}
    guard: open
    tenant: false
    soft_delete: true
    bulk: {max: 10}
    history: {revisions: true}
    views: {short: {fields: [text]}}
    hooks:
      get: {before: [registry/hooks.ts#get]}
      create: {tx_before: [registry/hooks.ts#create]}
      update: {wrap: [registry/hooks.ts#update]}
      delete: {on_failure: [registry/hooks.ts#failed]}
      kill: {wrap: [registry/hooks.ts#killed]}
      list: {tx_after: [registry/hooks.ts#listed]}
      raw_list: {before: [registry/hooks.ts#shared]}
      raw_list_cursor: {before: [registry/hooks.ts#shared]}
      delete_many: {after_commit: [registry/hooks.ts#deleted]}
      revisions: {on_success: [registry/hooks.ts#revisions]}
      list_short: {before: [registry/hooks.ts#short]}
search:
  note_search: {of: notes, text: [text], guard: open, hooks: {raw_cursor: {wrap: [registry/hooks.ts#searched]}}}
storage:
  files: {guard: open, presign: true, hooks: {delete: {wrap: [registry/hooks.ts#gone]}, download: {wrap: [registry/hooks.ts#got]}, download_range: {wrap: [registry/hooks.ts#ranged]}, head: {tx_after: [registry/hooks.ts#headed]}, upload: {wrap: [registry/hooks.ts#uploaded]}, list: {before: [registry/hooks.ts#keys]}}}
operations:
  notes.count: {get: /count, in: {kind: {type: string, default: all}}, out: {count: integer}, run: registry/handlers.ts#count, guard: open, hooks: {tx_after: [registry/hooks.ts#counted]}}
`,
};

test("--stubs writes hooks with the types of their operations, and these compile", async () => {
  const { root, remove } = writeProject(files);
  const { code, stderr } = await cli(root, "generate", "--stubs");
  expect([code, stderr]).toEqual([0, expect.stringContaining("registry/hooks.ts#listed")]);
  const hooks = readFileSync(join(root, "registry/hooks.ts"), "utf8");
  for (const line of [
    'get: NotesGetHook["before"] = async (_input, context) =>',
    'update: NotesUpdateHook["wrap"] = async (_input, context, _next) =>',
    'failed: NotesDeleteHook["on_failure"] = async (_input, context, _error) =>',
    'listed: NotesListHook["tx_after"] = async (_input, context, _output) =>',
    'short: NotesListShortHook["before"] = async (_input, context) =>',
    'searched: NoteSearchRawCursorHook["wrap"] = async (_input, context, _next) =>',
    'counted: NotesCountHook["tx_after"] = async (_input, context, _output) =>',
    "async function shared(_input: unknown, context: ExecutionContext): Promise<void>",
  ])
    expect(hooks).toContain(line);
  compile(root, "typescript");
  compile(root, "typescript-5.9");
  remove();
});

test.each([
  ["get", "input: { readonly id: string }", null],
  ["searched", "input: { readonly query: number }", "note_search"],
  ["listed", "input: { readonly size: string }", "notes"],
  ["update", "input: { readonly patch: { readonly text: number } }", "notes"],
  ["get", "input: { readonly id: string; readonly owner: string }", "notes"],
  ["create", "input: { readonly text: string; readonly more: string }", "notes"],
  ["ranged", "input: { readonly key: number }", "files"],
])("the hook %s with %s is held to what it gets", async (name, given, place) => {
  const { root, remove } = writeProject(files);
  await cli(root, "generate", "--stubs");
  const path = join(root, "registry/hooks.ts");
  const written = readFileSync(path, "utf8").replace(
    new RegExp(`export const ${name}: [^=]*= async \\([^)]*\\) => \\{[^}]*\\}[^}]*\\}`),
    `export const ${name} = async (${given}): Promise<never> => {\n  throw new Error(JSON.stringify(input));\n}`,
  );
  expect(written).toContain(`export const ${name} = async (input`);
  writeFileSync(path, written);
  if (place === null) compile(root);
  else expect(() => compile(root)).toThrow(`generated/routes/${place}.ts`);
  remove();
});
