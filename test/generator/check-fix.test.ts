// `opwright check --fix` as a person runs it: what it prints, what it writes, and what it leaves alone.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mendRegistry } from "../../generator/cli/fix.js";
import type { Project } from "../../generator/pipeline/generate.js";
import { cli } from "./cli.js";
import { writeProject } from "./scenario.js";

const service =
  "registry: 1\nservice: {name: demo, title: Demo, version: 1.0.0}\npolicies: {open: [{rate_limit: 600/1m}]}\n";

let root = "";
let remove: () => void = () => undefined;
beforeAll(() => {
  ({ root, remove } = writeProject({ "registry/service.yaml": service }));
});
afterAll(() => remove());

const path = (file: string): string => join(root, file);
const read = (file: string): string => readFileSync(path(file), "utf8");
const write = (file: string, text: string | Buffer): void => writeFileSync(path(file), text);

const project = (): Project => ({
  root,
  paths: { registry: "registry", out: "generated" },
  client: { package: null, queries: false, mocks: false },
});

const faulty = `registry: 1
documents:
  # what people write down
  notes: {type: {text: strng}, guard: open, softDelete: yes}   # kept
`;
const mended = faulty.replace("strng", "string").replace("softDelete: yes", "soft_delete: true");

test("it prints what it changed, writes nothing else, and ends as the check afterwards does", async () => {
  write("registry/notes.yaml", faulty);
  const first = await cli(root, "check", "--fix");
  expect(read("registry/notes.yaml")).toBe(mended);
  expect(read("registry/service.yaml")).toBe(service);
  expect(first.stdout).toContain("-  notes: {type: {text: strng}");
  expect(first.stdout).toContain("+  notes: {type: {text: string}");
  // The registry is sound, and the generated folder is not there yet.
  expect([
    first.code,
    first.stdout.includes("OPW081"),
    first.stderr.includes("mended 1 file"),
  ]).toEqual([1, true, true]);
  expect((await cli(root, "generate")).code).toBe(0);
  const generated = read("generated/registry.json");
  write("registry/notes.yaml", faulty);
  const second = await cli(root, "check", "--fix");
  expect([second.code, read("generated/registry.json")]).toEqual([0, generated]);
  const third = await cli(root, "check", "--fix");
  expect([third.code, third.stdout]).toEqual([0, ""]);
});

test("without --fix nothing is written, and every format carries the edits", async () => {
  write("registry/notes.yaml", faulty);
  const { diagnostics } = JSON.parse((await cli(root, "check", "--format", "json")).stdout) as {
    readonly diagnostics: readonly { readonly code: string; readonly fix?: unknown }[];
  };
  expect(diagnostics.map(({ code, fix }) => [code, fix])).toContainEqual([
    "OPW010",
    [
      {
        file: "registry/notes.yaml",
        range: { start: { line: 4, col: 45, offset: 94 }, end: { line: 4, col: 55, offset: 104 } },
        text: "soft_delete",
      },
    ],
  ]);
  const log = JSON.parse((await cli(root, "check", "--format", "sarif")).stdout) as {
    readonly runs: readonly {
      readonly results: readonly { readonly ruleId: string; readonly fixes?: unknown }[];
    }[];
  };
  const result = log.runs[0]?.results.find(({ ruleId }) => ruleId === "OPW010");
  expect(result?.fixes).toEqual([
    {
      artifactChanges: [
        {
          artifactLocation: { uri: "registry/notes.yaml" },
          replacements: [
            {
              deletedRegion: { startLine: 4, startColumn: 45, endLine: 4, endColumn: 55 },
              insertedContent: { text: "soft_delete" },
            },
          ],
        },
      ],
    },
  ]);
  expect((await cli(root, "check", "--format", "github")).stdout).toContain(
    "`check --fix` writes soft_delete instead of softDelete.",
  );
  expect((await cli(root, "check")).stdout).toContain(
    "check --fix writes soft_delete instead of softDelete",
  );
  expect(read("registry/notes.yaml")).toBe(faulty);
});

test("in a format for machines the diff is a note, and stdout one document", async () => {
  write("registry/notes.yaml", faulty);
  const { stdout, stderr } = await cli(root, "check", "--fix", "--format", "json");
  expect(JSON.parse(stdout)).toEqual({ diagnostics: [] });
  expect(stderr).toContain("+  notes: {type: {text: string}");
});

test.each([
  ["line ends of Windows", faulty.replaceAll("\n", "\r\n"), mended.replaceAll("\n", "\r\n")],
  ["a byte order mark", `\ufeff${faulty}`, `\ufeff${mended}`],
  ["no line end at the end", faulty.trimEnd(), mended.trimEnd()],
  [
    "characters beyond the BMP",
    faulty.replace("what", "😀 wh\u0301at"),
    mended.replace("what", "😀 wh\u0301at"),
  ],
  [
    "a missing version and line ends of Windows",
    faulty.replace("registry: 1\n", "").replaceAll("\n", "\r\n"),
    mended.replaceAll("\n", "\r\n"),
  ],
])("a file with %s keeps all that isn't mended, to the byte", async (_, before, after) => {
  write("registry/notes.yaml", before);
  const { left } = await mendRegistry(project());
  expect(left).toEqual([]);
  expect(read("registry/notes.yaml")).toBe(after);
});

test("a file keeps its mode, and a link to a file of the project stays a link", async () => {
  mkdirSync(path("shared"));
  write("shared/books.yaml", faulty.replace("notes", "books"));
  chmodSync(path("shared/books.yaml"), 0o640);
  symlinkSync("../shared/books.yaml", path("registry/books.yaml"));
  write("registry/notes.yaml", mended);
  await mendRegistry(project());
  expect(lstatSync(path("registry/books.yaml")).isSymbolicLink()).toBe(true);
  expect(read("shared/books.yaml")).toBe(mended.replace("notes", "books"));
  expect(statSync(path("shared/books.yaml")).mode & 0o777).toBe(0o640);
  write("registry/books.yaml", "registry: 1\n");
});

test("a file that isn't UTF-8 is left as it is", async () => {
  const bytes = Buffer.concat([Buffer.from(faulty), Buffer.from([0x23, 0x20, 0xe4, 0x0a])]);
  write("registry/notes.yaml", bytes);
  const { files } = await mendRegistry(project());
  expect([files, readFileSync(path("registry/notes.yaml")).equals(bytes)]).toEqual([[], true]);
});

test("a declaration that is misspelt since the last generate is left to the author", async () => {
  const sound = mended.replace("guard: open", "guard: open, unique: [[text]]");
  write("registry/notes.yaml", sound);
  expect((await cli(root, "generate")).code).toBe(0);
  const misspelt = sound.replace("text: string", "txet: string");
  write("registry/notes.yaml", misspelt);
  const { left } = await mendRegistry(project());
  expect(left.map(({ code }) => code)).toContain("OPW030");
  expect(read("registry/notes.yaml")).toBe(misspelt);
  // The other way round, it is the reference.
  write("registry/notes.yaml", sound.replace("[[text]]", "[[txet]]"));
  await mendRegistry(project());
  expect(read("registry/notes.yaml")).toBe(sound);
});

test("the former name of a stored field is left to the author", async () => {
  write("registry/notes.yaml", mended);
  expect((await cli(root, "generate")).code).toBe(0);
  const renamed = mended.replace("text: string", "body: {type: string, was: txt}");
  write("registry/notes.yaml", renamed);
  const { code, stdout } = await cli(root, "check", "--fix");
  expect([code, stdout.includes("OPW039"), read("registry/notes.yaml")]).toEqual([
    1,
    true,
    renamed,
  ]);
});
