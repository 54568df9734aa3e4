// What git leaves behind of a change that is stashed, and what findings say of it.
import { afterAll, expect, test } from "vitest";
import { Repository } from "./repository.js";

const service =
  "registry: 1\nservice: {name: demo, title: Demo, version: 1.0.0}\npolicies: {open: []}\n";
const notes = (fields: string): string =>
  `registry: 1\ndocuments: {notes: {guard: open, type: {${fields}}}}\n`;

const repository = new Repository({
  "registry/service.yaml": service,
  "registry/notes.yaml": notes("text: string"),
});
afterAll(() => repository.remove());

test("a migration that git stash left behind says how to get the rest back, or to be rid of it", async () => {
  await repository.cli("generate");
  repository.commit("first");
  repository.write("registry/notes.yaml", `${notes("text: string")}  #\n`);
  repository.write(
    "registry/pages.yaml",
    "registry: 1\ndocuments: {pages: {guard: open, type: {n: integer}}}\n",
  );
  expect((await repository.cli("generate")).code).toBe(0);
  repository.git("stash");
  repository.delete("registry/pages.yaml");
  const left = (await repository.cli("check")).stdout;
  expect(left).toContain("migrations/sqlite/0002_pages.sql is not in the manifest");
  expect(left).toContain("`git stash pop` brings the rest back");
  expect(left).not.toContain("git checkout HEAD");
  // The advice works in both ways.
  repository.git("stash", "pop");
  repository.write(
    "registry/pages.yaml",
    "registry: 1\ndocuments: {pages: {guard: open, type: {n: integer}}}\n",
  );
  expect((await repository.cli("check")).code).toBe(0);
  repository.git("stash");
  repository.delete("registry/pages.yaml");
  for (const engine of ["sqlite", "postgres"])
    repository.delete(`generated/migrations/${engine}/0002_pages.sql`);
  expect((await repository.cli("check")).stdout).not.toContain("OPW085");
});

test("a migration that is gone says how to restore it, and that does", async () => {
  repository.git("checkout", "-q", "--", ".");
  repository.delete("generated/migrations/sqlite/0001_initial.sql");
  const { stdout } = await repository.cli("check");
  const [, command] = /restore the file: `(git checkout HEAD -- \S+)`/.exec(stdout) ?? [];
  expect(command).toBe("git checkout HEAD -- generated/migrations/sqlite/0001_initial.sql");
  repository.git(...String(command).split(" ").slice(1));
  expect((await repository.cli("check")).stdout).not.toContain("OPW085");
});
