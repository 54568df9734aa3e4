// The command line: exit codes, streams, formats, init, stubs, configuration.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { catalogue } from "../../generator/families/catalogue.js";
import { cli } from "./cli.js";
import { compile } from "./compile.js";
import { writeProject } from "./scenario.js";

const repository = new URL("../..", import.meta.url).pathname;
const service =
  "registry: 1\nservice: {name: demo, title: Demo, version: 1.0.0}\npolicies: {open: []}\n";
const notes = "registry: 1\ndocuments:\n  notes: {type: {text: string}, guard: open}\n";

let root = "";
let remove = (): void => undefined;
beforeEach(() => {
  ({ root, remove } = writeProject({
    "registry/service.yaml": service,
    "registry/notes.yaml": notes,
  }));
});
afterEach(() => remove());

describe("exit codes", () => {
  test("0 fine, 1 findings, 2 usage, 3 input and output", async () => {
    expect((await cli(root, "generate")).code).toBe(0);
    expect((await cli(root, "check")).code).toBe(0);
    expect((await cli(root, "--help")).code).toBe(0);
    writeFileSync(join(root, "registry/bad.yaml"), "registry: 1\nx: 1\n");
    expect((await cli(root, "check")).code).toBe(1);
    expect((await cli(root, "chekc")).code).toBe(2);
    expect((await cli(root, "check", "--nope")).code).toBe(2);
    expect((await cli(root, "check", "--config", "none.ts")).code).toBe(2);
    expect((await cli(root, "check", "--out", "/etc")).code).toBe(2);
    expect((await cli(root, "explain", "notes.list")).stdout).toMatch(
      /^page +\/docs#notes\.list$/m,
    );
    expect((await cli(root, "explain", "notes.none")).code).toBe(2);
    expect((await cli(root, "explain", "OPW999")).code).toBe(2);
    writeFileSync(join(root, "blocked"), "a file, not a folder");
    writeFileSync(join(root, "registry/bad.yaml"), "registry: 1\n");
    expect((await cli(root, "generate", "--out", "blocked")).code).toBe(3);
  });
});

describe("formats", () => {
  beforeEach(() => {
    const faulty = notes.replace("guard", "gaurd").replace("string", "strnig");
    writeFileSync(join(root, "registry/notes.yaml"), faulty);
  });

  test("json has the place of each finding", async () => {
    const { diagnostics } = JSON.parse((await cli(root, "check", "--format", "json")).stdout) as {
      readonly diagnostics: readonly object[];
    };
    expect(diagnostics[0]).toMatchObject({
      code: "OPW026",
      severity: "error",
      at: { file: "registry/notes.yaml", line: 3, col: 24, length: 6 },
    });
    expect(diagnostics[1]).toMatchObject({
      code: "OPW010",
      suggestion: "guard",
      at: { line: 3, col: 33 },
    });
  });

  test("github prints annotations, sarif a log", async () => {
    expect((await cli(root, "check", "--format", "github")).stdout).toContain(
      "::error file=registry/notes.yaml,line=3,col=33,endColumn=38,title=OPW010 Unknown key::",
    );
    const log = JSON.parse((await cli(root, "check", "--format", "sarif")).stdout) as {
      readonly version: string;
      readonly runs: readonly { readonly results: readonly unknown[] }[];
    };
    expect([log.version, log.runs[0]?.results.length]).toEqual(["2.1.0", 2]);
  });

  // What V8 doesn't know of its settings it says there, and CI runs this with each version of Node.js.
  test("nobody but the command line writes to stderr", async () => {
    const { stderr } = await cli(root, "check");
    expect(stderr).toBe("2 findings\n");
  });

  test("results go to stdout, notes to stderr, without colour off a terminal", async () => {
    const { stdout, stderr } = await cli(root, "check");
    expect(stdout).toContain("registry/notes.yaml:3:33 error OPW010");
    expect(stdout).not.toContain("\u001b[");
    expect(stderr).toContain("2 findings");
  });
});

describe("commands", () => {
  test("list shows every operation that has a route, and counts those that were left out", async () => {
    const { stdout } = await cli(root, "list");
    expect(stdout).toMatch(/^notes\.create\s+POST \/notes\s+open/m);
    const project = writeProject({
      "registry/app.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  notes: {type: {text: string}, guard: open, mount: {at: /notes, include: [create, get]}}
`,
    });
    const listed = await cli(project.root, "list");
    expect(listed.stdout.split("\n").map((line) => line.split(" ")[0])).toEqual([
      "notes.create",
      "notes.get",
      "",
    ]);
    const { operations: all } = JSON.parse(
      (await cli(project.root, "list", "--format", "json")).stdout,
    ) as { readonly operations: readonly unknown[] };
    expect(listed.stderr).toContain(`2 operations, and ${all.length - 2} without a route`);
    project.remove();
    const { operations } = JSON.parse((await cli(root, "list", "--format", "json")).stdout) as {
      readonly operations: readonly { readonly key: string }[];
    };
    expect(operations.find(({ key }) => key === "notes.create")).toEqual({
      key: "notes.create",
      route: "POST /notes",
      guard: "open",
      hooks: "",
      each: "",
      deadline: "30s",
    });
  });

  test("list and explain tell which hooks run for each document", async () => {
    writeFileSync(
      join(root, "registry/notes.yaml"),
      `registry: 1
hooks: {tidy: {run: registry/h.ts#tidy, phase: tx_before}}
documents:
  notes:
    type: {text: string, slug: string}
    guard: open
    soft_delete: true
    bulk: {max: 10}
    unique: [[slug]]
    upsert: true
    history: {revisions: true}
    hooks:
      create: {before: [registry/h.ts#check]}
      update: {tx_before: [tidy], before: [registry/h.ts#check]}
      delete: {after_commit: [registry/h.ts#told]}
`,
    );
    const hooks = "export const tidy = () => {}, check = () => {}, told = () => {};\n";
    writeFileSync(join(root, "registry/h.ts"), hooks);
    const listed = JSON.parse((await cli(root, "list", "--format", "json")).stdout) as {
      readonly operations: readonly { readonly key: string; readonly each: string }[];
    };
    const each = Object.fromEntries(listed.operations.map((one) => [one.key, one.each]));
    const update = "update:registry/h.ts#check update:tidy";
    expect(each).toMatchObject({
      "notes.create": "",
      "notes.list": "",
      "notes.create_many": "create:registry/h.ts#check",
      "notes.update_many": update,
      "notes.update_where": update,
      "notes.revert": update,
      "notes.upsert": `create:registry/h.ts#check ${update}`,
      "notes.delete_many": "delete:registry/h.ts#told",
      "notes.delete_where": "delete:registry/h.ts#told",
    });
    expect((await cli(root, "list")).stdout).toMatch(
      /notes\.update_many .* each update:registry\/h\.ts#check update:tidy$/m,
    );
    expect((await cli(root, "explain", "notes.revert")).stdout).toMatch(
      /^of each document +update: before registry\/h\.ts#check, update: tx_before tidy$/m,
    );
    expect((await cli(root, "explain", "notes.update")).stdout).not.toContain("of each document");
  });

  test("explain tells of an operation and of every code", async () => {
    expect((await cli(root, "explain", "notes.update")).stdout).toContain(
      "PATCH /notes/{id} → 200",
    );
    expect((await cli(root, "explain", "notes.updat")).stderr).toContain(
      "did you mean notes.update?",
    );
    for (const code of ["OPW064", "opw001"])
      expect((await cli(root, "explain", code)).stdout).toContain("Fix: ");
  });

  test("every code of the catalogue has a title, a cause and a fix", () => {
    for (const [code, { title, cause, fix }] of Object.entries(catalogue)) {
      expect([code, title.length > 3, cause.endsWith("."), fix.endsWith(".")]).toEqual([
        code,
        true,
        true,
        true,
      ]);
    }
  });

  test.each([
    ["{ registri: 'x' }", "unknown key registri"],
    ["{ client: { pakage: 'x' } }", "unknown key client.pakage"],
    ["{ client: { queries: 'yes' } }", "client.queries"],
    ["{ client: { package: 'Not a name' } }", "client.package"],
    ["{ client: null }", "client"],
    ["{ dev: { start: 1 } }", "dev.start"],
  ])("a configuration of %s is refused by the name of the key", async (config, words) => {
    const file = join(root, "faulty.mjs");
    writeFileSync(file, `export default ${config};\n`);
    const { code, stderr } = await cli(root, "check", "--config", file);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
    rmSync(file);
  });

  test("a TypeScript configuration names other folders; flags beat it", async () => {
    mkdirSync(join(root, "node_modules"));
    symlinkSync(repository, join(root, "node_modules/opwright"));
    writeFileSync(
      join(root, "opwright.config.ts"),
      'import { defineConfig } from "opwright/config";\nconst out: string = "made";\nexport default defineConfig({ out });\n',
    );
    expect((await cli(root, "generate")).stdout).toContain("create made/service.ts");
    expect((await cli(root, "generate", "--out", "other")).stdout).toContain(
      "create other/service.ts",
    );
  });

  test("--stubs adds missing handlers and hooks once, typed, and changes nothing that is there", async () => {
    writeFileSync(join(root, "registry/h.ts"), "export const kept = () => ({ n: 1 });\n");
    writeFileSync(
      join(root, "registry/ops.yaml"),
      "registry: 1\noperations:\n  ops.a: {get: /a, out: {n: integer}, run: registry/h.ts#kept, guard: open}\n  ops.b: {get: /b, out: {n: integer}, run: registry/h.ts#added, guard: open, hooks: {before: ['registry/hooks.ts#look'], wrap: ['registry/hooks.ts#around']}}\n",
    );
    expect((await cli(root, "generate")).code).toBe(1);
    const { code, stderr } = await cli(root, "generate", "--stubs");
    expect([
      code,
      stderr.includes("added registry/h.ts#added"),
      stderr.includes("added registry/hooks.ts#look"),
    ]).toEqual([0, true, true]);
    const text = readFileSync(join(root, "registry/h.ts"), "utf8");
    expect(text).toContain("export const kept = () => ({ n: 1 });");
    expect(text).toContain("export const added: OpsBHandler");
    await cli(root, "generate", "--stubs");
    expect(readFileSync(join(root, "registry/h.ts"), "utf8")).toBe(text);
    compile(root);
  });
});

test.each([
  ["a finding besides", {}, "ops.c: {get: /c, run: registry/h.ts#c, guard: opne}\n"],
  [
    "a value that is missing",
    {},
    "outbox: {events: {e: {data: {id: uuid}, destination: registry/h.ts#send}}}\n",
  ],
  ["a file in the way", { "generated/service.ts": "mine\n" }, ""],
])("--stubs writes nothing where there is %s", async (_what, files, more) => {
  const operations =
    "registry: 1\noperations:\n  ops.a: {get: /a, run: registry/h.ts#added, guard: open}\n";
  const lines = more.startsWith("ops") ? `  ${more}` : more;
  const { root: project, remove } = writeProject({
    "registry/service.yaml":
      "registry: 1\nservice: {name: demo, title: Demo, version: 1.0.0}\npolicies: {open: []}\n",
    "registry/ops.yaml": `${operations}${lines}`,
    ...files,
  });
  const { code, stderr } = await cli(project, "generate", "--stubs");
  expect([code, stderr.includes("nothing was written"), stderr.includes("added")]).toEqual([
    1,
    true,
    false,
  ]);
  expect(existsSync(join(project, "registry/h.ts"))).toBe(false);
  remove();
});

test("--stubs beside another mistake reports that one alone, and counts what it would write", async () => {
  const operations = Array.from(
    { length: 20 },
    (_, at) => `  ops.a${at}: {get: /a${at}, run: registry/h.ts#a${at}, guard: open}\n`,
  ).join("");
  const { root: project, remove } = writeProject({
    "registry/service.yaml":
      "registry: 1\nservice: {name: demo, title: Demo, version: 1.0.0}\npolicies: {open: []}\n",
    "registry/ops.yaml": `registry: 1\noperations:\n${operations}  ops.b: {get: /b, run: registry/h.ts#b, guard: opne}\n`,
  });
  const { code, stdout, stderr } = await cli(project, "generate", "--stubs");
  expect([code, stdout.match(/ error OPW\d+/g)]).toEqual([1, [" error OPW050"]]);
  expect(stderr).toContain("21 missing functions are not listed");
  const without = (await cli(project, "generate")).stdout;
  expect(without.match(/ error OPW\d+/g)).toHaveLength(22);
  remove();
});

/** Runs the script `test` of a project that has been compiled: its exit code, and what it said where it failed. */
function npmTest(
  folder: string,
  environment: Readonly<Record<string, string | undefined>> = {},
): readonly [number | null, string] {
  const { scripts } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const tsc = join(repository, "node_modules/typescript/bin");
  const { status, stdout } = spawnSync("sh", ["-c", scripts.test], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: `${tsc}:${process.env["PATH"]}`, ...environment },
  });
  return [status, status === 0 ? "" : stdout];
}

describe("init", () => {
  test.each(["minimal", "conduit", "helpdesk", "tracker"])(
    "%s gives a project that generates, checks, compiles with TypeScript 5.9 and 7, and whose tests pass",
    async (template) => {
      const folder = join(root, `new-${template}`);
      const { code, stderr } = await cli(root, "init", folder, "--template", template, "--yes");
      expect([code, stderr.includes("npx opwright generate")]).toEqual([0, true]);
      expect((await cli(folder, "generate")).code).toBe(0);
      expect((await cli(folder, "check")).code).toBe(0);
      compile(folder, "typescript");
      compile(folder, "typescript-5.9");
      expect(npmTest(folder)).toEqual([0, ""]);
      if (template !== "tracker") return;
      // Whom the home of the service offers to sign in as is there.
      const loaded = spawnSync(process.execPath, ["dist/registry/demo/load.js"], {
        cwd: folder,
        encoding: "utf8",
      });
      expect([loaded.status, loaded.stderr]).toEqual([
        0,
        expect.stringContaining("sign in as ada@example.test"),
      ]);
    },
    // It installs nothing, but compiles three times and starts services: a slow machine takes its time.
    180_000,
  );

  const server = process.env["OPWRIGHT_TEST_POSTGRES"];
  const suites = ["helpdesk", "conduit"].slice(0, Number(process.env["OPWRIGHT_TEST_SUITES"] ?? 1));
  test.skipIf(server === undefined).each(suites)(
    "the suite of %s passes on PostgreSQL",
    async (template) => {
      const folder = join(root, `new-${template}`);
      await cli(root, "init", folder, "--template", template, "--yes");
      await cli(folder, "generate");
      compile(folder);
      expect(npmTest(folder, { TEST_DATABASE: server })).toEqual([0, ""]);
    },
    180_000,
  );

  test.each([
    ["conduit", 350],
    ["helpdesk", 340],
  ])("%s is short: without tests, blank lines and comments, under %i lines", (template, most) => {
    const registry = join(repository, "templates/init", template, "registry");
    const lines = readdirSync(registry, { recursive: true, encoding: "utf8" })
      .filter((path) => /\.(?:ts|yaml)$/.test(path))
      .flatMap((path) => readFileSync(join(registry, path), "utf8").split("\n"));
    const isCode = (line: string): boolean => !/^\s*(?:$|\/\/|#|\/\*\*|\*)/.test(line);
    expect(lines.filter(isCode).length).toBeLessThan(most);
  });

  test.each([
    ["Book Shelf", "book_shelf", "Book shelf"],
    ["shelf", "shelf", "Shelf"],
    ["2nd-shelf", "service", "Service"],
    ["本棚", "service", "Service"],
  ])("a service in %s is called %s", async (folder, name, title) => {
    const at = join(root, "named", folder);
    expect((await cli(root, "init", at, "--yes")).code).toBe(0);
    const service = readFileSync(join(at, "registry/service.yaml"), "utf8");
    expect(service).toContain(`  name: ${name}\n  title: ${title}\n`);
    expect((await cli(at, "generate")).code).toBe(0);
  });

  test("a test that is gone is not run again", async () => {
    const folder = join(root, "tested");
    await cli(root, "init", folder, "--yes");
    await cli(folder, "generate");
    compile(folder);
    const failing = join(folder, "test/failing.test.ts");
    writeFileSync(
      failing,
      'import { test } from "node:test";\ntest("no", () => { throw new Error("no"); });\n',
    );
    expect(npmTest(folder)[0]).toBe(1);
    rmSync(failing);
    expect(npmTest(folder)).toEqual([0, ""]);
  });

  test("never overwrites, and asks nothing without a terminal", async () => {
    const folder = join(root, "mine");
    mkdirSync(folder);
    writeFileSync(join(folder, "package.json"), "{}\n");
    const { code, stderr } = await cli(root, "init", folder);
    expect([code, stderr.includes("kept package.json")]).toEqual([0, true]);
    expect(readFileSync(join(folder, "package.json"), "utf8")).toBe("{}\n");
  });

  test("a reader that closes the pipe ends it quietly", async () => {
    const folder = join(root, "piped");
    expect((await cli(root, "init", folder, "--yes")).code).toBe(0);
    const bin = new URL("../../bin/opwright.mjs", import.meta.url).pathname;
    const piped = `"${process.execPath}" "${bin}" check | head -n 1`;
    const { stdout, stderr } = spawnSync("sh", ["-c", piped], { cwd: folder, encoding: "utf8" });
    expect(stdout).toContain("OPW081");
    expect(stderr).not.toMatch(/EPIPE|Unhandled/);
  });
});
