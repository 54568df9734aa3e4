// The generated folder: what is written, what is left alone, and how drift of each kind is told apart.
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hashOf } from "../../generator/output/manifest.js";
import { registryOf } from "../bench/registry-of.mjs";
import { cli } from "./cli.js";
import { writeProject } from "./scenario.js";

const files = {
  "registry/service.yaml":
    "registry: 1\nservice: {name: demo, title: Demo, version: 1.0.0}\npolicies: {open: [{rate_limit: 600/1m}]}\n",
  "registry/notes.yaml":
    "registry: 1\ndocuments:\n  notes: {type: {text: string, size: integer}, guard: open, indexes: [[text]]}\n",
};

let root = "";
let remove = (): void => undefined;
beforeEach(() => {
  ({ root, remove } = writeProject(files));
});
afterEach(() => remove());

const at = (path: string): string => join(root, path);
const read = (path: string): string => readFileSync(at(path), "utf8");

/** Every file below the generated folder with its text. */
function snapshot(folder = at("generated")): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    names
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [path.slice(folder.length + 1), readFileSync(path, "utf8")]),
  );
}

describe("generate", () => {
  test("a second run rewrites no file, with and without a cache", async () => {
    for (const withCache of [false, true]) {
      if (withCache) mkdirSync(at("node_modules"));
      expect((await cli(root, "generate")).code).toBe(0);
      const times = Object.keys(snapshot()).map(
        (path) => statSync(at(`generated/${path}`)).mtimeMs,
      );
      const again = await cli(root, "generate");
      expect([again.code, again.stdout]).toEqual([0, ""]);
      expect(
        Object.keys(snapshot()).map((path) => statSync(at(`generated/${path}`)).mtimeMs),
      ).toEqual(times);
    }
  });

  test("the same registry gives the same bytes elsewhere, whatever the order of its files", async () => {
    await cli(root, "generate");
    const other = writeProject({
      "registry/notes.yaml": files["registry/notes.yaml"],
      "registry/a/service.yml": files["registry/service.yaml"],
    });
    await cli(other.root, "generate");
    expect(snapshot(join(other.root, "generated"))).toEqual(snapshot());
    other.remove();
  });

  test("a composite gives the bytes of its document and its search, written out", async () => {
    const type = `{title: string, body: string, tags: "string[]"}`;
    const texts = "text: {title: 2, body: 1}, facets: [tags]";
    const write = (name: string, text: string): void => writeFileSync(at(`registry/${name}`), text);
    write(
      "articles.yaml",
      `registry: 1
composites:
  articles: {type: ${type}, search: {${texts}}, storage: {max_upload: 1MiB}, guard: {read: open, write: open}, deadline: 5s, style: rpc, mount: {at: /a}}
`,
    );
    expect((await cli(root, "generate")).code).toBe(0);
    const composed = snapshot();
    write(
      "articles.yaml",
      `registry: 1
documents:
  articles: {type: ${type}, soft_delete: true, guard: {read: open, write: open}, deadline: 5s, mount: {at: /a, style: rpc}}
search:
  articles_search: {of: articles, ${texts}, guard: {read: open}, deadline: 5s, mount: {at: /a, style: rpc}}
storage:
  articles_blobs: {max_upload: 1MiB, guard: {read: open, write: open}, deadline: 5s, mount: {at: /a/blobs, style: rpc}}
`,
    );
    const again = await cli(root, "generate");
    expect([again.code, again.stdout]).toEqual([0, ""]);
    expect(snapshot()).toEqual(composed);
    expect(Object.keys(composed)).toContain("routes/articles_search.ts");
  });

  test.each([
    ["by default", "", "storage.download(filesSpec)"],
    ["with stream: false", "stream: false, ", "storage.downloadBuffered(filesSpec)"],
    [
      "where an operation of streaming is left out",
      "mount: {at: /f, include: [upload, download, head]}, ",
      "storage.downloadBuffered(filesSpec)",
    ],
    [
      "where they are attached",
      "mount: {at: /f, include: [download, head, download_stream, download_range]}, ",
      "storage.download(filesSpec)",
    ],
  ])("a download is streamed or buffered: %s", async (_when, members, run) => {
    const text = `registry: 1\nstorage:\n  files: {${members}guard: open}\n`;
    writeFileSync(at("registry/files.yaml"), text);
    expect((await cli(root, "generate")).code).toBe(0);
    expect(read("generated/routes/files.ts")).toContain(`run: ${run},`);
  });

  test("no file but the manifest names a version of opwright, a date or a hash", async () => {
    await cli(root, "generate");
    const { "manifest.json": _manifest, ...others } = snapshot();
    const { version } = JSON.parse(
      readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
    ) as { version: string };
    for (const [path, text] of Object.entries(others)) {
      expect([
        path,
        text.includes(`opwright ${version}`),
        /20\d\d-\d\d-\d\dT/.test(text),
        text.includes("\r"),
      ]).toEqual([path, false, false, false]);
    }
  });

  test("a file that is no longer part of the output goes, with its empty folder", async () => {
    await cli(root, "generate");
    writeFileSync(at("registry/notes.yaml"), "registry: 1\n");
    const result = await cli(root, "generate");
    expect(result.stdout).toContain("remove generated/routes/notes.ts");
    expect(existsSync(at("generated/routes"))).toBe(false);
    expect(existsSync(at("generated/migrations/sqlite/0001_initial.sql"))).toBe(true);
  });

  test("a file edited by hand is kept and reported; --force overwrites it", async () => {
    await cli(root, "generate");
    const before = snapshot();
    writeFileSync(at("generated/routes/notes.ts"), "// mine\n");
    writeFileSync(
      at("registry/notes.yaml"),
      files["registry/notes.yaml"].replace("size: integer", "size: number"),
    );
    const refused = await cli(root, "generate");
    expect([refused.code, refused.stdout.includes("OPW083")]).toEqual([1, true]);
    expect(snapshot()).toEqual({ ...before, "routes/notes.ts": "// mine\n" });
    expect((await cli(root, "generate", "--force")).code).toBe(0);
    expect(read("generated/routes/notes.ts")).toBe(before["routes/notes.ts"]);
  });

  test("a file that we did not write is never overwritten, not even with --force", async () => {
    mkdirSync(at("generated/routes"), { recursive: true });
    writeFileSync(at("generated/routes/notes.ts"), "// somebody's\n");
    for (const flags of [[], ["--force"]]) {
      const refused = await cli(root, "generate", ...flags);
      expect([refused.code, refused.stdout.includes("OPW084")]).toEqual([1, true]);
      expect(snapshot()).toEqual({ "routes/notes.ts": "// somebody's\n" });
    }
  });

  test("files with conflict markers are made anew", async () => {
    await cli(root, "generate");
    const before = snapshot();
    const conflict = (text: string): string =>
      `<<<<<<< ours\n${text}=======\n${text}>>>>>>> theirs\n`;
    for (const path of ["routes/notes.ts", "registry.json", "manifest.json"])
      writeFileSync(at(`generated/${path}`), conflict(before[path] ?? ""));
    expect((await cli(root, "generate")).code).toBe(0);
    expect(snapshot()).toEqual(before);
  });

  test("--dry-run says what would be written and writes nothing", async () => {
    const result = await cli(root, "generate", "--dry-run");
    expect([
      result.code,
      result.stdout.includes("create generated/routes/notes.ts"),
      existsSync(at("generated")),
    ]).toEqual([0, true, false]);
  });

  test("a broken registry writes nothing over what is there", async () => {
    await cli(root, "generate");
    const before = snapshot();
    writeFileSync(
      at("registry/notes.yaml"),
      "registry: 1\ndocuments:\n  notes: {type: Nope, guard: open}\n",
    );
    expect((await cli(root, "generate")).code).toBe(1);
    expect(snapshot()).toEqual(before);
  });
});

describe("check", () => {
  const codesOf = async (): Promise<readonly string[]> => {
    const { stdout } = await cli(root, "check", "--format", "json");
    const { diagnostics } = JSON.parse(stdout) as {
      readonly diagnostics: readonly {
        readonly code: string;
        readonly at: { readonly file: string };
      }[];
    };
    return diagnostics.map(({ code, at: { file } }) => `${code} ${file}`);
  };

  test("tells apart what is out of date, missing, stale, edited and foreign, and writes nothing", async () => {
    writeFileSync(
      at("registry/old.yaml"),
      "registry: 1\ndocuments:\n  old: {type: {text: string}, guard: open}\n",
    );
    await cli(root, "generate");
    expect([(await cli(root, "check")).code, await codesOf()]).toEqual([0, []]);
    rmSync(at("registry/old.yaml"));
    rmSync(at("generated/types/notes.ts"));
    writeFileSync(at("generated/server.ts"), "// mine\n");
    writeFileSync(
      at("registry/more.yaml"),
      "registry: 1\ndocuments:\n  more: {type: {text: string}, guard: open, mount: {at: /notes2}}\n",
    );
    mkdirSync(at("generated/documents"), { recursive: true });
    writeFileSync(at("generated/documents/more.ts"), "// somebody's\n");
    const before = snapshot();
    const codes = await codesOf();
    expect(codes).toContain("OPW080 generated/service.ts");
    expect(codes).toContain("OPW081 generated/types/notes.ts");
    expect(codes).toContain("OPW082 generated/routes/old.ts");
    expect(codes).toContain("OPW083 generated/server.ts");
    expect(codes).toContain("OPW084 generated/documents/more.ts");
    expect(snapshot()).toEqual(before);
  });

  test("names every file that is not ours, and lets it be", async () => {
    await cli(root, "generate");
    mkdirSync(at("node_modules"));
    mkdirSync(at("generated/notes"));
    const foreign = ["generated/mine.ts", "generated/notes/README.md", "generated/types/old.d.ts"];
    for (const path of foreign) writeFileSync(at(path), "mine\n");
    // The second time it is remembered.
    for (const command of ["check", "check", "generate", "generate", "check"] as const) {
      const { code, stdout } = await cli(root, command);
      const named = [...stdout.matchAll(/warning OPW087 (\S+)/g)].map(([, path]) => path);
      expect([code, named.toSorted()], command).toEqual([0, foreign]);
    }
    expect(await codesOf()).toEqual(foreign.map((path) => `OPW087 ${path}`));
    rmSync(at("generated/notes"), { recursive: true });
    expect(await codesOf()).toHaveLength(2);
  });

  test("exits 1 with a unified diff", async () => {
    await cli(root, "generate");
    writeFileSync(
      at("registry/notes.yaml"),
      files["registry/notes.yaml"].replace("guard: open", "guard: open, deadline: 2s"),
    );
    const { code, stdout } = await cli(root, "check");
    expect(code).toBe(1);
    expect(stdout).toContain("+++ b/generated/routes/notes.ts");
    expect(stdout).toContain("+  deadlineSeconds: 2,");
  });
});

describe("the memory of a clean state", () => {
  beforeEach(async () => {
    mkdirSync(at("node_modules"));
    await cli(root, "generate");
    expect((await cli(root, "check")).code).toBe(0);
  });

  test("does not hide a change of a registry file, a schema file, a handler or a generated file", async () => {
    mkdirSync(at("schemas"));
    writeFileSync(at("schemas/text.json"), '{"type":"string"}');
    writeFileSync(at("h.ts"), "export const go = () => undefined;\n");
    writeFileSync(
      at("registry/more.yaml"),
      "registry: 1\ntypes:\n  Text: {$ref: schemas/text.json}\noperations:\n  more.go: {post: /go, in: {text: Text}, run: h.ts#go, guard: open}\n",
    );
    await cli(root, "generate");
    expect((await cli(root, "check")).code).toBe(0);
    writeFileSync(at("schemas/text.json"), '{"type":"integer"}');
    expect((await cli(root, "check")).stdout).toContain("OPW080");
    await cli(root, "generate");
    writeFileSync(at("h.ts"), "export const gone = () => undefined;\n");
    expect((await cli(root, "check")).stdout).toContain("OPW042");
    writeFileSync(at("h.ts"), "export const go = () => undefined;\n");
    expect((await cli(root, "check")).code).toBe(0);
    writeFileSync(at("generated/server.ts"), "// mine\n");
    expect((await cli(root, "check")).stdout).toContain("OPW083");
  });

  test("works for folders whose names look like patterns", async () => {
    cpSync(at("registry"), at("reg(1)[a]"), { recursive: true });
    const flags = ["--registry", "reg(1)[a]", "--out", "gen{a}"];
    expect((await cli(root, "generate", ...flags)).code).toBe(0);
    writeFileSync(
      at("reg(1)[a]/notes.yaml"),
      files["registry/notes.yaml"].replace("integer", "number"),
    );
    expect((await cli(root, "check", ...flags)).code).toBe(1);
  });
});

describe("migrations", () => {
  const sql = (name: string, engine = "sqlite"): string =>
    read(`generated/migrations/${engine}/${name}.sql`);

  test("follow the registry, append only, and leave rows as they are", async () => {
    await cli(root, "generate");
    const first = sql("0001_initial");
    writeFileSync(
      at("registry/notes.yaml"),
      "registry: 1\ndocuments:\n  notes: {type: {text: string, size: integer, owner: uuid?}, guard: open, history: true, indexes: [[size]]}\n",
    );
    expect((await cli(root, "generate")).code).toBe(0);
    expect(sql("0001_initial")).toBe(first);
    const second = sql("0002_notes");
    expect(second).toContain('CREATE TABLE "notes_history"');
    expect(second).toContain('-- online\nDROP INDEX IF EXISTS "notes_by_text"');
    expect(second).toContain('-- online\nCREATE INDEX IF NOT EXISTS "notes_by_size"');
    const onServer = sql("0002_notes", "postgres");
    expect(onServer).toContain(
      '-- online\nDROP INDEX CONCURRENTLY IF EXISTS "notes_by_size";\nCREATE INDEX CONCURRENTLY "notes_by_size"',
    );
    expect(onServer.indexOf("-- online")).toBeGreaterThan(onServer.indexOf("CREATE TABLE"));
    // No row is touched: what documents gain and lose is a step of their shape.
    expect(second).not.toContain("UPDATE");
    expect(readFileSync(at("generated/documents/notes.ts"), "utf8")).toContain(
      "{ adds: { owner: null }, drops: [] }",
    );
    expect((await cli(root, "check")).code).toBe(0);
  });

  test("a search has another index where its texts are others, and the first one stays", async () => {
    const declare = (text: string): void =>
      writeFileSync(
        at("registry/search.yaml"),
        `registry: 1\ndocuments:\n  pages: {type: {title: string, body: string}, guard: open}\nsearch:\n  find: {of: pages, text: [${text}], guard: open}\n`,
      );
    declare("title");
    expect((await cli(root, "generate")).code).toBe(0);
    declare("body");
    expect((await cli(root, "generate")).code).toBe(0);
    const names = readdirSync(at("generated/migrations/sqlite"));
    const last = sql(names.at(-1)?.replace(".sql", "") ?? "");
    expect(last).not.toContain("DROP");
    expect(last).toContain('CREATE VIRTUAL TABLE "find_index_2" USING fts5("t0"');
    expect(sql(names.at(-1)?.replace(".sql", "") ?? "", "postgres")).toContain(
      'CREATE INDEX "find_index_2_by_texts" ON "find_index_2" USING gin ("texts")',
    );
    expect((await cli(root, "check")).code).toBe(0);
  });

  test("a search whose index has an earlier layout gets another one, once", async () => {
    writeFileSync(
      at("registry/search.yaml"),
      "registry: 1\ndocuments:\n  pages: {type: {title: string}, guard: open, tenant: false}\nsearch:\n  find: {of: pages, text: [title], guard: open}\n",
    );
    expect((await cli(root, "generate")).code).toBe(0);
    // As the version before wrote it, which knew of no layouts.
    const [storage, manifest] = ["generated/migrations/storage.json", "generated/manifest.json"];
    const earlier = read(storage).replace(/,\s*"searchLayout": 2/, "");
    expect(earlier).not.toBe(read(storage));
    writeFileSync(
      at(manifest),
      read(manifest).replaceAll(hashOf(read(storage)), () => hashOf(earlier)),
    );
    writeFileSync(at(storage), earlier);
    expect((await cli(root, "generate")).code).toBe(0);
    for (const [engine, made] of [
      ["sqlite", 'CREATE VIRTUAL TABLE "find_index_2"'],
      ["postgres", 'CREATE TABLE "find_index_2"'],
    ] as const) {
      const migration = sql("0002_pages", engine);
      expect(migration).not.toContain("DROP");
      expect(migration).toContain(made);
      expect(migration).not.toContain('CREATE TABLE "pages"');
    }
    expect((await cli(root, "generate")).code).toBe(0);
    expect(readdirSync(at("generated/migrations/sqlite"))).toHaveLength(2);
    expect((await cli(root, "check")).code).toBe(0);
  });

  test("a search that moves to another document leaves the index of the first behind", async () => {
    const declare = (of: string): void =>
      writeFileSync(
        at("registry/search.yaml"),
        `registry: 1\ndocuments:\n  aaa: {type: {title: string}, guard: open}\n  zzz: {type: {title: string}, guard: open}\nsearch:\n  find: {of: ${of}, text: [title], guard: open}\n`,
      );
    declare("zzz");
    expect((await cli(root, "generate")).code).toBe(0);
    declare("aaa");
    expect((await cli(root, "generate")).code).toBe(0);
    const last = sql(
      readdirSync(at("generated/migrations/sqlite")).at(-1)?.replace(".sql", "") ?? "",
    );
    expect(last).not.toContain("DROP");
    expect(last).toContain('CREATE VIRTUAL TABLE "find_index_2"');
    expect((await cli(root, "check")).code).toBe(0);
  });

  test("a document that goes keeps its table; one that comes back makes none", async () => {
    await cli(root, "generate");
    writeFileSync(at("registry/notes.yaml"), "registry: 1\n");
    await cli(root, "generate");
    writeFileSync(at("registry/notes.yaml"), files["registry/notes.yaml"]);
    await cli(root, "generate");
    expect(readdirSync(at("generated/migrations/sqlite"))).toEqual(["0001_initial.sql"]);
  });

  test("an edited or missing migration is a finding that says to restore it", async () => {
    await cli(root, "generate");
    writeFileSync(at("generated/migrations/sqlite/0001_initial.sql"), "-- mine\n");
    rmSync(at("generated/migrations/postgres/0001_initial.sql"));
    const { code, stdout } = await cli(root, "generate");
    expect([code, [...stdout.matchAll(/OPW085/g)].length]).toEqual([1, 2]);
  });

  test("records of migrations cannot be lost unseen", async () => {
    await cli(root, "generate");
    const storage = read("generated/migrations/storage.json");
    for (const text of [undefined, "{}", `<<<<<<< a\n${storage}=======\n${storage}>>>>>>> b\n`]) {
      if (text === undefined) rmSync(at("generated/migrations/storage.json"));
      else writeFileSync(at("generated/migrations/storage.json"), text);
      const { code, stdout } = await cli(root, "generate");
      expect([code, stdout.includes("OPW085")]).toEqual([1, true]);
    }
    writeFileSync(at("generated/migrations/storage.json"), storage);
    const manifest = read("generated/manifest.json");
    rmSync(at("generated/manifest.json"));
    expect((await cli(root, "generate")).stdout).toContain("is not in the manifest");
    writeFileSync(at("generated/manifest.json"), manifest);
    expect((await cli(root, "check")).code).toBe(0);
  });

  test.each([
    ["an indexed field that compares in another way", "text: integer, size: integer", "text:"],
    [
      "a new member that stored documents lack",
      "text: string, size: integer, owner: uuid",
      "owner:",
    ],
  ])("%s is a finding at the field", async (_what, fields, field) => {
    await cli(root, "generate");
    writeFileSync(
      at("registry/notes.yaml"),
      files["registry/notes.yaml"].replace("text: string, size: integer", fields),
    );
    const { code, stdout } = await cli(root, "generate");
    expect([code, stdout.includes("OPW035")]).toEqual([1, true]);
    const [, line = "", col = ""] = /notes\.yaml:(\d+):(\d+) error OPW035/.exec(stdout) ?? [];
    const written = readFileSync(at("registry/notes.yaml"), "utf8").split("\n")[Number(line) - 1];
    expect(written?.slice(Number(col) - 1)).toMatch(new RegExp(`^${field}`));
  });

  test("a tenant column neither comes nor goes", async () => {
    await cli(root, "generate");
    writeFileSync(
      at("registry/notes.yaml"),
      files["registry/notes.yaml"].replace("guard: open", "guard: open, tenant: false"),
    );
    const { code, stdout } = await cli(root, "generate");
    expect([code, stdout.includes("OPW035")]).toEqual([1, true]);
  });
});

describe("a registry of 1 000 operations", () => {
  test("one more operation changes its namespace, the documents and the indexes alone, in under 60 lines", async () => {
    const large = writeProject(registryOf(1_000));
    expect((await cli(large.root, "generate")).code).toBe(0);
    cpSync(join(large.root, "generated"), join(large.root, "before"), { recursive: true });
    const yaml = join(large.root, "registry/job000.yaml");
    writeFileSync(
      yaml,
      `${readFileSync(yaml, "utf8")}  job000.extra: {post: /job000/extra, in: {id: uuid}, run: registry/handlers/job000.ts#run0, guard: open}\n`,
    );
    const { stdout, code } = await cli(large.root, "generate");
    expect(code).toBe(0);
    const changed = [...stdout.matchAll(/^\w+ generated\/(\S+)$/gm)].map(([, path]) => path).sort();
    expect(changed).toEqual([
      "catalog.json",
      "client/README.md",
      "client/api/job000.ts",
      "manifest.json",
      "openapi.json",
      "registry.json",
      "routes/job000.ts",
      "service.ts",
      "tools.json",
      "types/job000.ts",
      "validators/job000.ts",
    ]);
    const diff = (paths: readonly string[]): number =>
      paths.reduce(
        (sum, path) =>
          sum + changedLines(join(large.root, "before", path), join(large.root, "generated", path)),
        0,
      );
    const code_ = changed.filter(
      (path) => path?.endsWith(".ts") === true && !path.startsWith("validators/"),
    ) as string[];
    expect(diff(code_)).toBeLessThan(60);
    const lines = readdirSync(join(large.root, "generated/routes"))
      .map(
        (name) =>
          readFileSync(join(large.root, "generated/routes", name), "utf8").split("\n").length,
      )
      .reduce((sum, count) => sum + count, 0);
    expect(lines / 1_001).toBeLessThan(25);
    large.remove();
  });
});

/** Lines that a unified diff of two files adds or removes. */
function changedLines(before: string, after: string): number {
  try {
    execFileSync("git", ["diff", "--no-index", "--numstat", before, after]);
    return 0;
  } catch (error) {
    const [added = "0", removed = "0"] = String(
      (error as { readonly stdout: Buffer }).stdout,
    ).split("\t");
    return Number(added) + Number(removed);
  }
}
