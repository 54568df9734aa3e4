// Merges of two branches that both changed the registry: `opwright generate` brings the generated folder right, and databases of
// the base branch go on (evolution.md "Merge", attack 183).
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyMigrations } from "../../runtime/engines/sql/migrations.js";
import { openDatabase } from "../../runtime/server/engines.js";
import { engines } from "../support/engines.js";
import { cli } from "./cli.js";
import { Repository } from "./repository.js";

const policies = "policies: {open: []}\n";
const service = `registry: 1\nservice: {name: demo, title: Demo, version: 1.0.0}\n${policies}`;
const document = (name: string, fields = "text: string", more = ""): string =>
  `registry: 1\ndocuments:\n  ${name}:\n    guard: open\n    type: {${fields}}\n${more}`;
const notes = "registry/notes.yaml";

let repository: Repository;
beforeEach(async () => {
  repository = new Repository({
    "registry/service.yaml": service,
    [notes]: document("notes"),
    "registry/pages.yaml": document("pages"),
  });
  await repository.cli("generate");
  repository.commit("first");
});
afterEach(() => repository.remove());

/** The generated folder of a commit, as it was deployed. */
function deployed(commit: string): { readonly folder: string; readonly remove: () => void } {
  const at = mkdtempSync(join(tmpdir(), "opwright-deployed-"));
  repository.git("--work-tree", at, "checkout", "-q", commit, "--", "generated");
  repository.git("read-tree", "HEAD");
  return { folder: join(at, "generated"), remove: () => rmSync(at, { recursive: true }) };
}

/** Applies main's migrations, then those that are here, to a database of each engine. */
async function deployAfterMain(): Promise<void> {
  const main = deployed("main");
  try {
    for (const engine of engines.filter(({ isAvailable }) => isAvailable)) {
      const { url, drop } = await engine.create();
      const database = await openDatabase(url);
      try {
        await applyMigrations(database, main.folder);
        await applyMigrations(database, repository.at("generated"));
      } finally {
        await database.close();
        await drop();
      }
    }
  } finally {
    main.remove();
  }
}

/** Generates in the middle of a merge, commits it, and sees that it is whole and follows main. */
async function generateAndCommit(): Promise<void> {
  const { code, stdout, stderr } = await repository.cli("generate");
  expect([code, stdout + stderr]).toEqual([0, expect.any(String)]);
  repository.commit("merged");
  const { code: checked, stdout: told } = await repository.cli("check", "--base", "main");
  expect([checked, told]).toEqual([0, expect.any(String)]);
  await deployAfterMain();
}

const theirs = { "registry/theirs.yaml": document("theirs") };
const mine = { "registry/mine.yaml": document("mine") };
const ofBoth = ["0001_initial.sql", "0002_theirs.sql", "0003_mine.sql"];

describe("merges", () => {
  test("both sides add a document", async () => {
    await repository.develop("work", mine);
    await repository.develop("main", theirs);
    repository.git("checkout", "-q", "work");
    expect(repository.tryGit("merge", "main").code).toBe(1);
    await generateAndCommit();
    expect(repository.migrations()).toEqual(ofBoth);
    const script = repository.read("generated/migrations/sqlite/0003_mine.sql");
    expect(script).not.toContain(`"theirs"`);
  });

  test("both sides add a field of one document, and its YAML has conflicts", async () => {
    const field = (name: string): string =>
      document("notes", `text: string, ${name}: string`, `    defaults: {${name}: none}\n`);
    await repository.develop("work", { [notes]: field("mine") });
    await repository.develop("main", { [notes]: field("theirs") });
    repository.git("checkout", "-q", "work");
    expect(repository.tryGit("merge", "main").code).toBe(1);
    const refused = await repository.cli("generate");
    expect(refused.code).toBe(1);
    expect([...refused.stdout.matchAll(/error (OPW\d+) (.*)/g)].map(([text]) => text)).toEqual([
      "error OPW001 a merge left a conflict here: keep what is right, and remove its marks",
    ]);

    const both = "    defaults: {mine: none, theirs: none}\n";
    repository.write(notes, document("notes", "text: string, mine: string, theirs: string", both));
    await generateAndCommit();
    expect(repository.shapeOf("notes")).toEqual({
      members: ["text", "mine", "theirs"],
      steps: [
        { adds: { theirs: "none" }, drops: [] },
        { adds: { mine: "none" }, drops: [] },
      ],
    });
  });

  test("one side renames a field, the other one adds a field and an index over the old name", async () => {
    const renamed = "title: {type: string, was: text}";
    await repository.develop("work", {
      [notes]: document("notes", "text: string, size: integer?", "    indexes: [[text, size]]\n"),
    });
    await repository.develop("main", { [notes]: document("notes", renamed) });
    repository.git("checkout", "-q", "work");
    expect(repository.tryGit("merge", "main").code).toBe(1);
    const merged = `${renamed}, size: integer?`;
    repository.write(notes, document("notes", merged, "    indexes: [[title, size]]\n"));
    await generateAndCommit();
    expect(repository.shapeOf("notes")).toEqual({
      members: ["text", "size"],
      stored: { title: { name: "text" } },
      steps: [{ adds: { size: null }, drops: [] }],
    });
    expect(repository.migrations()).toEqual(["0001_initial.sql", "0002_notes.sql"]);
  });

  test("both sides have folded their migrations", async () => {
    for (const [branch, name] of [
      ["work", "mine"],
      ["main", "theirs"],
    ] as const) {
      const file = `registry/${name}.yaml`;
      if (branch === "main") {
        repository.git("checkout", "-q", "-b", "topic", "main");
        await repository.develop("topic", { [file]: document(name) });
      } else await repository.develop(branch, { [file]: document(name) });
      repository.write(file, document(name, "text: string", "    indexes: [[text]]\n"));
      expect((await repository.cli("migrations", "squash", "--base", "main", "--force")).code).toBe(
        0,
      );
      repository.commit("folded");
      expect(repository.migrations()).toEqual(["0001_initial.sql", `0002_${name}.sql`]);
    }
    repository.git("checkout", "-q", "main");
    repository.git("merge", "-q", "topic");
    repository.git("checkout", "-q", "work");
    expect(repository.tryGit("merge", "main").code).toBe(1);
    await generateAndCommit();
    expect(repository.migrations()).toEqual(ofBoth);
  });

  test("the base purges a document that the other side changes", async () => {
    await repository.develop("main", { "registry/pages.yaml": null });
    expect((await repository.cli("migrations", "purge", "--force")).code).toBe(0);
    repository.commit("purged");
    await repository.develop("work", mine, "main~2");
    await repository.develop("work", {
      "registry/pages.yaml": document("pages", "text: string, n: integer?"),
    });
    expect(repository.tryGit("merge", "main").code).toBe(1);
    // The other side goes on needing it: it is made anew, after it was dropped.
    await generateAndCommit();
    expect(repository.migrations()).toEqual([
      "0001_initial.sql",
      "0002_pages.sql",
      "0003_mine_and_1_more.sql",
    ]);
    expect(repository.read("generated/migrations/sqlite/0003_mine_and_1_more.sql")).toContain(
      `CREATE TABLE "pages"`,
    );
  });

  test("the branch purges a document: the merge keeps its table, and says that", async () => {
    await repository.develop("work", { "registry/pages.yaml": null });
    expect((await repository.cli("migrations", "purge", "--force")).code).toBe(0);
    repository.commit("purged");
    await repository.develop("main", theirs);
    repository.git("checkout", "-q", "work");
    expect(repository.tryGit("merge", "main").code).toBe(1);
    const { code, stderr } = await repository.cli("generate");
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining(
        "no migration drops pages now: run `opwright migrations purge` again",
      ),
    ]);
    expect((await repository.cli("migrations", "purge", "--force")).code).toBe(0);
    await generateAndCommit();
    expect(repository.migrations()).toEqual([
      "0001_initial.sql",
      "0002_theirs.sql",
      "0003_pages.sql",
    ]);
  });

  test("only the base has new migrations: the branch makes none", async () => {
    await repository.develop("work", {
      [notes]: document("notes", "text: string, size: integer?"),
    });
    await repository.develop("main", theirs);
    repository.git("checkout", "-q", "work");
    repository.tryGit("merge", "main");
    await generateAndCommit();
    expect(repository.migrations()).toEqual(["0001_initial.sql", "0002_theirs.sql"]);
  });

  test("the base changes what is stored without a migration: the branch's are folded", async () => {
    await repository.develop("work", mine);
    await repository.develop("work", { "registry/more.yaml": document("more") });
    expect(repository.migrations()).toHaveLength(3);
    await repository.develop("main", {
      [notes]: document("notes", "text: string, size: integer?"),
    });
    repository.git("checkout", "-q", "work");
    repository.tryGit("merge", "main");
    await generateAndCommit();
    expect(repository.migrations()).toEqual(["0001_initial.sql", "0002_mine_and_1_more.sql"]);
    expect(repository.shapeOf("notes")).toEqual({
      members: ["text", "size"],
      steps: [{ adds: { size: null }, drops: [] }],
    });
  });
});

describe("the same by another way", () => {
  beforeEach(async () => {
    await repository.develop("work", mine);
    await repository.develop("main", theirs);
    repository.git("checkout", "-q", "work");
  });

  test.each([
    ["generate", ["generate"]],
    ["squash", ["migrations", "squash", "--force"]],
  ] as const)("git merge --squash, then %s", async (_name, command) => {
    repository.tryGit("merge", "--squash", "main");
    expect((await repository.cli(...command)).code).toBe(0);
    await generateAndCommit();
    expect(repository.migrations()).toEqual(ofBoth);
    // Once it is committed, git knows of no merge any more.
    expect((await repository.cli("migrations", "squash", "--force")).code).toBe(0);
    expect(repository.migrations()).toEqual(ofBoth);
  });

  test("squash in the middle of a merge", async () => {
    repository.tryGit("merge", "main");
    expect((await repository.cli("migrations", "squash", "--force")).code).toBe(0);
    await generateAndCommit();
    expect(repository.migrations()).toEqual(ofBoth);
  });

  test("squash in the middle of a merge, where the branch's side of everything was taken", async () => {
    repository.tryGit("merge", "main");
    repository.git("checkout", "--ours", "generated");
    repository.delete("generated/migrations/sqlite/0002_theirs.sql");
    repository.delete("generated/migrations/postgres/0002_theirs.sql");
    repository.git("add", "-A");
    expect((await repository.cli("migrations", "squash", "--force")).code).toBe(0);
    await generateAndCommit();
    expect(repository.migrations()).toEqual(ofBoth);
  });

  test("git rebase", async () => {
    expect(repository.tryGit("rebase", "main").code).toBe(1);
    expect((await repository.cli("generate")).code).toBe(0);
    repository.git("add", "-A");
    repository.git("rebase", "--continue");
    expect((await repository.cli("check")).code).toBe(0);
    await deployAfterMain();
    expect(repository.migrations()).toEqual(ofBoth);
  });

  test.each([
    ["generate", ["generate"]],
    ["squash", ["migrations", "squash", "--force"]],
  ] as const)("git cherry-pick of what the base has, then %s", async (_name, command) => {
    expect(repository.tryGit("cherry-pick", "main").code).toBe(1);
    expect((await repository.cli(...command)).code).toBe(0);
    await generateAndCommit();
    expect(repository.migrations()).toEqual(ofBoth);
  });

  test("conflicts that were committed as they were", async () => {
    repository.tryGit("merge", "main");
    repository.commit("oops");
    expect((await repository.cli("check")).stdout).toContain("OPW085");
    await generateAndCommit();
    expect(repository.migrations()).toEqual(ofBoth);
  });

  test("the branch's side of all conflicts, committed", async () => {
    repository.tryGit("merge", "main");
    repository.git("checkout", "--ours", "generated");
    repository.commit("ours");
    await generateAndCommit();
    expect(repository.migrations()).toEqual(ofBoth);
  });

  test("the branch is merged into the base", async () => {
    repository.git("checkout", "-q", "main");
    expect(repository.tryGit("merge", "work").code).toBe(1);
    await generateAndCommit();
    expect(repository.migrations()).toEqual(ofBoth);
  });

  test("a migration that was edited by hand is not made anew in a merge", async () => {
    repository.tryGit("merge", "main");
    repository.write("generated/migrations/sqlite/0002_mine.sql", "-- mine\n");
    const { code, stdout } = await repository.cli("generate");
    expect([code, stdout]).toEqual([1, expect.stringContaining("OPW085")]);
    expect(repository.read("generated/migrations/sqlite/0002_mine.sql")).toBe("-- mine\n");
  });
});

describe("a generated folder that was removed", () => {
  const states = [
    ["all of it", "generated"],
    ["its migrations", "generated/migrations"],
    ["one engine's migrations", "generated/migrations/sqlite"],
    ["storage.json", "generated/migrations/storage.json"],
    ["the manifest", "generated/manifest.json"],
  ] as const;
  test.each(states)("comes back from git with its migrations: %s", async (_what, path) => {
    await repository.develop("work", mine);
    await repository.develop("work", { "registry/more.yaml": document("more") });
    const scripts = repository.migrations();
    repository.delete(path);
    const { code, stderr } = await repository.cli("generate");
    expect([code, stderr]).toEqual([0, expect.stringContaining("the migrations of HEAD")]);
    expect(repository.git("status", "--porcelain")).toBe("");
    expect(repository.migrations()).toEqual(scripts);
  });

  test("comes back with a further migration for what was not committed", async () => {
    await repository.develop("main", theirs);
    repository.write("registry/mine.yaml", document("mine"));
    await repository.cli("generate");
    repository.delete("generated");
    await generateAndCommit();
    expect(repository.migrations()).toEqual(ofBoth);
  });

  test("in the middle of a merge, with the migrations of both", async () => {
    await repository.develop("work", mine);
    await repository.develop("main", theirs);
    repository.git("checkout", "-q", "work");
    repository.tryGit("merge", "main");
    repository.delete("generated");
    await generateAndCommit();
    expect(repository.migrations()).toEqual(ofBoth);
  });
});

describe("files that nobody edited", () => {
  const operation = (name: string): string =>
    `registry: 1\noperations:\n  ${name}.say: {post: /${name}/say, run: "registry/say.ts#say", guard: open}\n`;

  test.each([
    ["in the middle of it", false],
    ["after the branch's side of all conflicts was committed", true],
  ])("git merged some of them by itself: %s", async (_when, isCommitted) => {
    await repository.develop("main", {
      "registry/say.ts": "export const say = (): void => undefined;\n",
      "registry/zebras.yaml": document("zebras"),
    });
    await repository.develop("work", { "registry/aye.yaml": operation("aye") });
    await repository.develop("main", { "registry/zoo.yaml": operation("zoo") });
    repository.git("checkout", "-q", "work");
    expect(repository.tryGit("merge", "main").code).toBe(1);
    if (isCommitted) {
      repository.git("checkout", "--ours", "generated");
      repository.commit("ours");
    }
    await generateAndCommit();
    expect(repository.migrations()).toEqual(["0001_initial.sql", "0002_zebras.sql"]);
  });

  test("a file that somebody edited, and committed, is still refused in a merge", async () => {
    await repository.develop("work", mine);
    repository.write("generated/server.ts", "// mine\n");
    repository.commit("edited");
    await repository.develop("main", theirs);
    repository.git("checkout", "-q", "work");
    repository.tryGit("merge", "main");
    const { code, stdout } = await repository.cli("generate");
    expect([code, stdout]).toEqual([1, expect.stringContaining("OPW083 generated/server.ts")]);
    expect(repository.read("generated/server.ts")).toBe("// mine\n");
  });
});

test("a project in a folder of its repository, in a worktree", async () => {
  const other = new Repository({
    "services/shop/registry/service.yaml": service,
    "services/shop/registry/notes.yaml": document("notes"),
  });
  const at = mkdtempSync(join(tmpdir(), "opwright-worktree-"));
  try {
    const shop = (root: string): string => join(root, "services/shop");
    const add = async (root: string, name: string): Promise<void> => {
      writeFileSync(join(shop(root), `registry/${name}.yaml`), document(name));
      expect((await cli(shop(root), "generate")).code).toBe(0);
    };
    expect((await cli(shop(other.root), "generate")).code).toBe(0);
    other.commit();
    const tree = join(at, "work");
    other.git("worktree", "add", "-q", "-b", "work", tree);
    await add(tree, "mine");
    other.git("-C", tree, "add", "-A");
    other.git("-C", tree, "commit", "-q", "-m", "mine");
    await add(other.root, "theirs");
    other.commit();
    expect(other.tryGit("-C", tree, "merge", "main").code).toBe(1);
    expect((await cli(shop(tree), "generate")).code).toBe(0);
    expect(readdirSync(join(shop(tree), "generated/migrations/sqlite")).sort()).toEqual(ofBoth);
    expect((await cli(shop(tree), "check", "--base", "main")).code).toBe(0);
  } finally {
    other.remove();
    rmSync(at, { recursive: true });
  }
});
