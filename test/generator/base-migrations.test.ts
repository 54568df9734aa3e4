// What `check --base` and `diff` say about the migrations of a base branch: none of them may have changed or vanished, also where
// the folder is whole in itself (attack 183).
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Repository } from "./repository.js";

const service =
  "registry: 1\nservice: {name: demo, title: Demo, version: 1.0.0}\npolicies: {open: []}\n";
const document = (name: string, fields = "text: string", more = ""): string =>
  `registry: 1\ndocuments:\n  ${name}:\n    guard: open\n    type: {${fields}}\n${more}`;
const notes = "registry/notes.yaml";
const field = (...names: readonly string[]): string => {
  const defaults = names.map((name) => `${name}: none`).join(", ");
  const fields = ["text", ...names].map((name) => `${name}: string`).join(", ");
  return document("notes", fields, `    defaults: {${defaults}}\n`);
};

let repository: Repository;
beforeEach(async () => {
  repository = new Repository({ "registry/service.yaml": service, [notes]: document("notes") });
  await repository.cli("generate");
  repository.commit("first");
});
afterEach(() => repository.remove());

/** What is found, in both commands. */
async function lost(base = "main"): Promise<readonly string[]> {
  const check = await repository.cli("check", "--base", base, "--format", "json");
  const { diagnostics } = JSON.parse(check.stdout) as {
    readonly diagnostics: readonly {
      readonly code: string;
      readonly severity: string;
      readonly message: string;
    }[];
  };
  const found = diagnostics.filter(({ severity }) => severity === "error");
  expect(found.every(({ code }) => code === "OPW091")).toBe(true);
  expect(check.code).toBe(found.length > 0 ? 1 : 0);
  const texts = found.map(({ message }) => message);

  const diff = await repository.cli("diff", base, "--format", "json");
  const report = JSON.parse(diff.stdout) as {
    readonly lost: readonly { readonly file: string; readonly text: string }[];
    readonly isRefused: boolean;
  };
  expect(report.lost.map(({ text }) => text).toSorted()).toEqual(texts.toSorted());
  // Clients may be told of a breaking change as well.
  expect(diff.code).toBe(report.isRefused ? 1 : 0);
  if (texts.length > 0) expect(report.isRefused).toBe(true);
  return texts;
}

const without = (...names: readonly string[]): readonly string[] =>
  ["postgres", "sqlite"].flatMap((engine) => names.map((name) => `migrations/${engine}/${name}`));

describe("migrations of the base branch", () => {
  test("nothing is found on the base, on a branch that adds to it, and on one that lags behind", async () => {
    expect(await lost()).toEqual([]);
    await repository.develop("work", {
      [notes]: field("mine"),
      "registry/mine.yaml": document("mine"),
    });
    expect(await lost()).toEqual([]);
    repository.git("checkout", "-q", "-b", "behind", "main");
    await repository.develop("main", {
      [notes]: field("theirs"),
      "registry/theirs.yaml": document("theirs"),
    });
    repository.git("checkout", "-q", "behind");
    expect(await lost()).toEqual([]);
  });

  test("a branch that adds a migration has to have those that the base got meanwhile", async () => {
    await repository.develop("work", { "registry/mine.yaml": document("mine") });
    await repository.develop("main", { "registry/theirs.yaml": document("theirs") });
    repository.git("checkout", "-q", "work");
    expect(await lost()).toEqual(
      without("0002_theirs.sql").map(
        (path) =>
          `${path} is in main and not here, where migrations/postgres/0002_mine.sql is added`,
      ),
    );
  });

  test("fields that both add need no migration, and are found all the same", async () => {
    await repository.develop("work", { [notes]: field("mine") });
    await repository.develop("main", { [notes]: field("theirs") });
    repository.git("checkout", "-q", "work");
    expect(await lost()).toEqual(["what is stored does not follow main: the table notes"]);
    repository.tryGit("merge", "main");
    repository.git("checkout", "--ours", ".");
    repository.write(notes, field("mine", "theirs"));
    repository.commit("merged by hand");
    expect((await repository.cli("generate", "--force")).code).toBe(0);
    expect(await lost()).toEqual(["what is stored does not follow main: the table notes"]);
    expect((await repository.cli("migrations", "squash", "--force")).code).toBe(0);
    expect(await lost()).toEqual([]);
  });

  test("a folder that was made anew without git, or folded beyond the base", async () => {
    await repository.develop("main", {
      [notes]: document("notes", "text: string", "    indexes: [[text]]\n"),
    });
    repository.git("checkout", "-q", "-b", "work");
    repository.git("rm", "-q", "-r", "generated");
    repository.commit("nothing is generated");
    await repository.cli("generate");
    repository.commit("all is generated");
    expect(await lost()).toEqual(
      ["postgres", "sqlite"].flatMap((engine) => [
        `migrations/${engine}/0001_initial.sql is not as it is in main`,
        `migrations/${engine}/0002_notes.sql is in main, and no longer here`,
      ]),
    );
    expect((await repository.cli("migrations", "squash", "--force")).code).toBe(0);
    expect(await lost()).toEqual([]);
  });

  test("a rename that got lost would leave values behind", async () => {
    const renamed = document("notes", "title: {type: string, was: text}");
    await repository.develop("main", { [notes]: renamed });
    await repository.develop("work", { [notes]: document("notes", "title: string?") }, "main~1");
    expect(await lost()).toEqual(["what is stored does not follow main: the table notes"]);
  });

  test("a table that a migration drops isn't lost", async () => {
    await repository.develop("main", { "registry/pages.yaml": document("pages") });
    await repository.develop("work", { "registry/pages.yaml": null });
    expect((await repository.cli("migrations", "purge", "--force")).code).toBe(0);
    expect(await lost()).toEqual([]);
  });

  test("is told to people, and on a pull request", async () => {
    await repository.develop("work", { "registry/mine.yaml": document("mine") });
    await repository.develop("main", { "registry/theirs.yaml": document("theirs") });
    repository.git("checkout", "-q", "work");
    const check = await repository.cli("check", "--base", "main");
    expect(check.stdout).toContain("opwright migrations squash");
    const { stdout, stderr } = await repository.cli("diff", "main");
    expect(stdout).toContain(
      "Databases of the base cannot go on\n  migrations/postgres/0002_theirs",
    );
    expect(stderr).toContain("Merge the base branch, then run `opwright migrations squash`");
    expect((await repository.cli("diff", "main", "--format", "github")).stdout).toMatch(
      /^::error file=generated\/migrations\/sqlite\/0002_theirs\.sql,/m,
    );
    expect((await repository.cli("diff", "main", "--format", "markdown")).stdout).toContain(
      "**Databases of the base cannot go on**:",
    );
    expect((await repository.cli("check", "--base", "nowhere")).stderr).toContain(
      "nowhere is no git revision",
    );
  });
});
