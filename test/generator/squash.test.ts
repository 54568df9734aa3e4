// opwright migrations squash: what the base branch does not have becomes one migration, and local data begins anew.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cli } from "./cli.js";
import { writeProject } from "./scenario.js";

const service =
  "registry: 1\nservice: {name: demo, title: Demo, version: 1.0.0}\npolicies: {open: []}\n";
const notes = (fields: string, more = ""): string =>
  `registry: 1\ndocuments:\n  notes: {type: {${fields}}, guard: open${more}}\n`;

let root = "";
let remove = (): void => undefined;
beforeEach(() => {
  ({ root, remove } = writeProject({
    "registry/service.yaml": service,
    "registry/notes.yaml": notes("text: string"),
  }));
});
afterEach(() => remove());

const at = (path: string): string => join(root, path);
const read = (path: string): string => readFileSync(at(path), "utf8");
const migrations = (): readonly string[] => readdirSync(at("generated/migrations/sqlite")).sort();
const declare = (text: string, file = "notes"): void =>
  writeFileSync(at(`registry/${file}.yaml`), text);
const generate = async (): Promise<void> => expect((await cli(root, "generate")).code).toBe(0);
const squash = async (...flags: readonly string[]): Promise<ReturnType<typeof cli>> =>
  await cli(root, "migrations", "squash", ...flags);

interface Storage {
  readonly tables: Readonly<
    Record<string, { readonly shape: { readonly members: unknown; readonly steps: unknown } }>
  >;
}
const shapeOf = (table: string): unknown =>
  (JSON.parse(read("generated/migrations/storage.json")) as Storage).tables[table]?.shape;

function git(...args: readonly string[]): void {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.test"];
  const { status, stderr } = spawnSync("git", [...identity, ...args], {
    cwd: root,
    encoding: "utf8",
  });
  expect([status, args[0], stderr]).toEqual([0, args[0], expect.any(String)]);
}

function commit(): void {
  git("add", "-A");
  git("commit", "-q", "-m", "next");
}

/** What is on `main` now, and work on a branch from here on. */
function branch(): void {
  writeFileSync(at(".gitignore"), ".data/\n");
  git("init", "-q", "-b", "main");
  commit();
  git("checkout", "-q", "-b", "work");
}

function storeLocally(): void {
  mkdirSync(at(".data"));
  writeFileSync(at(".data/demo.db"), "rows");
}

describe("migrations squash", () => {
  test("folds what the base branch does not have into one migration and one step", async () => {
    await generate();
    branch();
    const initial = read("generated/migrations/sqlite/0001_initial.sql");
    const defaults = (values: string): string => `, defaults: {${values}}`;
    declare(notes("text: string, size: integer", defaults("size: 0") + ", indexes: [[size]]"));
    await generate();
    commit();
    declare(
      notes(
        "text: string, size: integer, owner: string",
        defaults("size: 0, owner: nobody") + ", indexes: [[size], [owner]]",
      ),
    );
    await generate();
    expect(migrations()).toHaveLength(3);
    storeLocally();

    const { code, stdout, stderr } = await squash("--force");
    expect([code, stdout]).toEqual([0, expect.stringContaining("remove .data\n")]);
    expect(stderr).toContain("make them anew");
    expect(existsSync(at(".data"))).toBe(false);
    expect(migrations()).toEqual(["0001_initial.sql", "0002_notes.sql"]);
    expect(readdirSync(at("generated/migrations/postgres")).sort()).toEqual(migrations());
    expect(read("generated/migrations/sqlite/0001_initial.sql")).toBe(initial);
    expect(read("generated/migrations/sqlite/0002_notes.sql")).toMatch(/size[^]*owner/);
    expect(shapeOf("notes")).toEqual({
      members: ["text", "size", "owner"],
      steps: [{ adds: { size: 0, owner: "nobody" }, drops: [] }],
    });
    expect((await cli(root, "check")).code).toBe(0);
  });

  test("makes a table anew that the base branch does not have, and a required field passes", async () => {
    await generate();
    branch();
    declare(notes("text: string").replace("notes:", "pages:"), "pages");
    await generate();
    declare(notes("text: string, owner: uuid").replace("notes:", "pages:"), "pages");
    const refused = await cli(root, "generate");
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining("OPW035")]);
    expect(refused.stdout).toContain("opwright migrations squash");

    expect((await squash("--force")).code).toBe(0);
    expect(migrations()).toEqual(["0001_initial.sql", "0002_pages.sql"]);
    expect(shapeOf("pages")).toEqual({ members: ["text", "owner"], steps: [] });
    expect((await cli(root, "check")).code).toBe(0);
  });

  test("refuses what the base branch cannot be followed by, and removes nothing", async () => {
    await generate();
    branch();
    declare(notes("text: string, owner: uuid"));
    storeLocally();
    const { code, stdout } = await squash("--force");
    expect([code, stdout]).toEqual([1, expect.stringContaining("OPW035")]);
    expect([existsSync(at(".data/demo.db")), migrations()]).toEqual([true, ["0001_initial.sql"]]);
  });

  test("without a terminal it refuses unless forced, and touches nothing", async () => {
    await generate();
    branch();
    declare(notes("text: string", ", indexes: [[text]]"));
    await generate();
    declare(notes("text: string, size: integer?", ", indexes: [[text], [size]]"));
    storeLocally();
    const { code, stderr } = await squash();
    expect([code, stderr]).toEqual([2, expect.stringContaining("--force")]);
    expect([existsSync(at(".data/demo.db")), migrations()]).toEqual([
      true,
      ["0001_initial.sql", "0002_notes.sql"],
    ]);
    expect(read("generated/migrations/sqlite/0002_notes.sql")).not.toContain("size");
  });

  test("with nothing to fold it asks nothing, keeps local data and generates", async () => {
    await generate();
    branch();
    declare(notes("text: string", ", indexes: [[text]]"));
    storeLocally();
    const { code, stderr } = await squash();
    expect([code, stderr]).toEqual([0, expect.stringContaining("since main there is one at most")]);
    expect([existsSync(at(".data/demo.db")), migrations()]).toEqual([
      true,
      ["0001_initial.sql", "0002_notes.sql"],
    ]);
  });

  test("without git it folds all migrations into the first one where that is forced", async () => {
    await generate();
    declare(notes("text: string, owner: uuid"));
    const { code, stderr } = await squash();
    expect([code, stderr]).toEqual([2, expect.stringContaining("there is no base branch")]);
    expect((await squash("--force")).code).toBe(0);
    expect(migrations()).toEqual(["0001_initial.sql"]);
    expect(shapeOf("notes")).toEqual({ members: ["text", "owner"], steps: [] });
    expect((await cli(root, "check")).code).toBe(0);
  });

  test("takes the remote's main before the local one, and --base before both", async () => {
    await generate();
    branch();
    git("update-ref", "refs/remotes/origin/main", "HEAD");
    declare(notes("text: string", ", indexes: [[text]]"));
    await generate();
    commit();
    git("branch", "-f", "main", "work");
    declare(notes("text: string, size: integer?", ", indexes: [[text], [size]]"));
    await generate();
    expect((await squash("--base", "nowhere", "--force")).stderr).toContain(
      "nowhere is no git revision",
    );
    expect((await squash("--base", "main", "--force")).code).toBe(0);
    expect(migrations()).toHaveLength(3);
    expect((await squash("--force")).code).toBe(0);
    expect(migrations()).toHaveLength(2);
  });

  test("after a merge in which both sides made a migration, the branch's own comes after", async () => {
    await generate();
    branch();
    declare(notes("text: string").replace("notes:", "mine:"), "mine");
    await generate();
    commit();
    git("checkout", "-q", "main");
    declare(notes("text: string").replace("notes:", "theirs:"), "theirs");
    await generate();
    commit();
    git("checkout", "-q", "work");
    spawnSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", "merge", "-q", "main"], {
      cwd: root,
    });
    commit();
    expect((await cli(root, "check")).stdout).toContain("OPW085");
    expect((await squash("--force")).code).toBe(0);
    expect(migrations()).toEqual(["0001_initial.sql", "0002_theirs.sql", "0003_mine.sql"]);
    expect((await cli(root, "check")).code).toBe(0);
  });

  test("a file that was edited by hand is written over only where that is forced", async () => {
    await generate();
    declare(notes("text: string, owner: uuid"));
    writeFileSync(at("generated/openapi.json"), "{}\n");
    writeFileSync(at("generated/migrations/sqlite/0001_initial.sql"), "-- mine\n");
    rmSync(at("generated/migrations/storage.json"));
    expect((await squash("--force")).code).toBe(0);
    expect((await cli(root, "check")).code).toBe(0);
  });
});
