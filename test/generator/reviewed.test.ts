// What a team commits and reviews: how much of it there is, how much of it a change touches, in which order it stands.
import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { registryOf } from "../bench/registry-of.mjs";
import { cli } from "./cli.js";
import { writeProject } from "./scenario.js";

const repository = new URL("../..", import.meta.url).pathname;
const made: (() => void)[] = [];
afterAll(() => {
  for (const remove of made) remove();
});

/** A generated project. */
async function generated(files: Readonly<Record<string, string>>): Promise<string> {
  const { root, remove } = writeProject(files);
  made.push(remove);
  expect(await cli(root, "generate")).toMatchObject({ code: 0 });
  return root;
}

interface ChangedLines {
  readonly documents: number;
  readonly others: number;
}

/** Lines that git shows as added or removed, in JSON documents and in all other files. */
function changedLines(root: string, before: string, after: string): ChangedLines {
  const options = ["diff", "--no-index", "--no-renames", "--numstat", before, after];
  const { stdout } = spawnSync("git", options, { cwd: root, encoding: "utf8" });
  const sum = (rows: readonly RegExpMatchArray[]): number =>
    rows.reduce((total, [, added, removed]) => total + Number(added) + Number(removed), 0);
  const rows = [...stdout.matchAll(/^(\d+)\t(\d+)\t(.*)$/gm)];
  const isDocument = ([, , , path = ""]: RegExpMatchArray): boolean => /\.json\}?$/.test(path);
  return {
    documents: sum(rows.filter(isDocument)),
    others: sum(rows.filter((row) => !isDocument(row))),
  };
}

describe("one optional field more on tasks", () => {
  const tasks = readFileSync(join(repository, "registry/tasks.yaml"), "utf8");
  let root = "";
  beforeAll(async () => {
    const files = readdirSync(join(repository, "registry"), { recursive: true, encoding: "utf8" })
      .filter((path) => /\.(?:yaml|ts)$/.test(path))
      .map((path): [string, string] => [
        `registry/${path}`,
        readFileSync(join(repository, "registry", path), "utf8"),
      ]);
    const { root: copy, remove } = writeProject(Object.fromEntries(files));
    root = copy;
    made.push(remove);
    cpSync(join(repository, "opwright.config.mjs"), join(root, "opwright.config.mjs"));
    // Its migrations are there already, as those of any service are that changes.
    cpSync(join(repository, "generated"), join(root, "generated"), { recursive: true });
    expect(await cli(root, "generate")).toMatchObject({ code: 0 });
    cpSync(join(root, "generated"), join(root, "before"), { recursive: true });
  });

  /** The registry with a field before another one of the type; who creates and who changes tasks may set it. */
  const withField = (before: string, declared: string): string => {
    const listed = before === "" ? "labels]" : before;
    const changed = tasks
      .replace(
        before === "" ? "\ndocuments:" : `    ${before}: `,
        (at) => `    memo: ${declared}\n${at}`,
      )
      .replaceAll(/^ {4}(?:create|update): \[title.*$/gm, (line) =>
        before === ""
          ? line.replace(listed, "labels, memo]")
          : line.replace(listed, `memo, ${listed}`),
      );
    expect(changed.split("memo")).toHaveLength(4);
    return changed;
  };

  test.each([
    ["last", "", "string?"],
    ["last, with a bound", "", '{type: [string, "null"], maxLength: 80}'],
    ["in the middle", "due", "integer?"],
    ["first, with a bound", "title", '{type: [string, "null"], maxLength: 80}'],
  ])(
    "%s is at most 80 lines to read, and 140 in JSON documents",
    async (_place, before, declared) => {
      rmSync(join(root, "generated"), { recursive: true });
      cpSync(join(root, "before"), join(root, "generated"), { recursive: true });
      writeFileSync(join(root, "registry/tasks.yaml"), withField(before, declared));
      expect(await cli(root, "generate")).toMatchObject({ code: 0 });
      const { documents, others } = changedLines(root, "before", "generated");
      expect([documents, others].every((lines) => lines > 0)).toBe(true);
      // Tasks are the data of an event, too, which is checked by itself, and so are whole documents.
      expect(others).toBeLessThanOrEqual(80);
      expect(documents).toBeLessThanOrEqual(140);
    },
  );
});

describe("JSON documents", () => {
  test("of 1 000 operations are 6.1 MB at most", async () => {
    const root = await generated(registryOf(1_000));
    const sizes = readdirSync(join(root, "generated"))
      .filter((name) => name.endsWith(".json"))
      .map((name) => statSync(join(root, "generated", name)).size);
    expect(sizes.length).toBeGreaterThan(5);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(6_100_000);
  });
});

const service =
  "registry: 1\nservice: {name: demo, title: Demo, version: 1.0.0}\npolicies: {open: []}\n";

/** Where each of the names stands first, in the order of places. */
const inOrder = (text: string, names: readonly string[]): readonly string[] =>
  names.toSorted((left, right) => text.indexOf(left) - text.indexOf(right));

test("members stand in the order in which they are declared", async () => {
  const root = await generated({
    "registry/service.yaml": service,
    "registry/fruits.yaml": `registry: 1
types:
  Fruit: {zest: string, apple: integer, mango: boolean?}
documents:
  fruits: {type: Fruit, guard: open, mount: {at: /fruits}}
operations:
  fruits.press: {post: /press, in: {zeal: string, amount: integer, manner: string?}, out: {yield: number, acid: number}, run: h.ts#press, guard: open}
`,
    "h.ts": "export const press = () => ({ yield: 1, acid: 1 });\n",
  });
  const files = {
    "types/models.ts": [["zest", "apple", "mango"]],
    "types/fruits.ts": [
      ["zeal", "amount", "manner"],
      ["yield", "acid"],
    ],
    "client/models.ts": [["zest", "apple", "mango"]],
    "client/api/fruits.ts": [
      ["zeal", "amount", "manner"],
      ["yield", "acid"],
    ],
    "documents/fruits.ts": [["zest", "apple", "mango"]],
    "validators/fruits.ts": [
      ["zest", "apple", "mango"],
      ["zeal", "amount", "manner"],
    ],
    "openapi.json": [
      ["zest", "apple", "mango"],
      ["zeal", "amount", "manner"],
      ["yield", "acid"],
    ],
    "registry.json": [
      ["zest", "apple", "mango"],
      ["zeal", "amount", "manner"],
      ["yield", "acid"],
    ],
    "tools.json": [
      ["zest", "apple", "mango"],
      ["zeal", "amount", "manner"],
      ["yield", "acid"],
    ],
  };
  for (const [path, groups] of Object.entries(files)) {
    const whole = readFileSync(join(root, "generated", path), "utf8");
    const text = path.startsWith("documents/") ? whole.slice(whole.indexOf("fields:")) : whole;
    for (const names of groups) {
      for (const name of names) expect(text, path).toMatch(new RegExp(`\\b${name}\\b`));
      expect([path, inOrder(text, names)]).toEqual([path, names]);
    }
  }
});

test("operations on no mount are in no tool list, client or document, and neither are their types", async () => {
  const declared = (mounted: string): Readonly<Record<string, string>> => ({
    "registry/service.yaml": service,
    "registry/notes.yaml": `registry: 1
documents:
  notes: {type: {text: string}, guard: open, mount: {at: /notes}}
  drafts: {type: {draft: string}, guard: open${mounted}}
`,
  });
  const told = (root: string): readonly string[] =>
    readdirSync(join(root, "generated"), { recursive: true, encoding: "utf8" })
      .filter((path) => /^client.*\.(?:ts|md)$|^(?:openapi|tools)\.json$/.test(path))
      .filter((path) => /draft/i.test(readFileSync(join(root, "generated", path), "utf8")))
      .sort();
  expect(told(await generated(declared("")))).toEqual([
    "client/README.md",
    "client/api/drafts.ts",
    "client/index.ts",
    "client/models.ts",
    "openapi.json",
    "tools.json",
  ]);
  const root = await generated(declared(", mount: false"));
  expect(told(root)).toEqual([]);
  // The registry and the catalog say all that there is.
  const { operations } = JSON.parse(readFileSync(join(root, "generated/catalog.json"), "utf8")) as {
    readonly operations: readonly { readonly key: string; readonly path: string | null }[];
  };
  expect(operations.filter(({ key }) => key.startsWith("drafts.")).map(({ path }) => path)).toEqual(
    Array.from({ length: 9 }, () => null),
  );
});

test("pull requests fold JSON, validators and the client, and show routes, specs, types and migrations", async () => {
  const { root, remove } = writeProject({});
  made.push(remove);
  expect(await cli(root, "init", "--yes")).toMatchObject({ code: 0 });
  const attributes = readFileSync(join(root, ".gitattributes"), "utf8");
  expect(attributes).toBe(readFileSync(join(repository, ".gitattributes"), "utf8"));
  spawnSync("git", ["init", "-q"], { cwd: root });
  const folded = (path: string): boolean =>
    spawnSync("git", ["check-attr", "linguist-generated", path], { cwd: root, encoding: "utf8" })
      .stdout.trim()
      .endsWith(": true");
  const paths = [
    "openapi.json",
    "migrations/storage.json",
    "validators/tasks.ts",
    "client/api/tasks.ts",
    "client/README.md",
  ];
  const shown = ["routes/tasks.ts", "documents/tasks.ts", "types/tasks.ts", "service.ts"];
  expect(paths.map((path) => folded(`generated/${path}`))).toEqual(paths.map(() => true));
  expect(
    [...shown, "migrations/sqlite/0001.sql"].map((path) => folded(`generated/${path}`)),
  ).toEqual(Array.from({ length: 5 }, () => false));
});
