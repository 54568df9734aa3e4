// Change files fold into the changelog, or are refused by name with nothing written.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

const root = new URL("../..", import.meta.url).pathname;
const before = `# Changes

What a user can observe.

## Unreleased

### Files

- Uploads resume.

### Service

- Answers carry headers.

## 0.1.0

- The first one.
`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "opwright-changes-"));
  mkdirSync(join(folder, "changes"));
  writeFileSync(join(folder, "changes/README.md"), "# Not a change\n");
  writeFileSync(join(folder, "CHANGELOG.md"), before);
});
afterEach(() => rmSync(folder, { recursive: true }));

const change = (name: string, kind: string, area: string, text: string): void =>
  writeFileSync(join(folder, "changes", name), `---\nkind: ${kind}\narea: ${area}\n---\n${text}\n`);

function run(...args: readonly string[]) {
  const script = join(root, "scripts/changelog.mjs");
  const ran = spawnSync(process.execPath, [script, ...args], { encoding: "utf8" });
  return { code: ran.status, said: ran.stdout + ran.stderr };
}
const changelog = (): string => readFileSync(join(folder, "CHANGELOG.md"), "utf8");

test("changes are folded into their areas, by kind, and their files removed", () => {
  change("a.md", "fixed", "Files", "A cut upload\nis told so.");
  change("b.md", "breaking", "Files", "Sessions are signed anew: begin uploads again.");
  change("c.md", "added", "Realtime", "Presence.");
  expect(run(folder)).toEqual({ code: 0, said: "3 changes folded into CHANGELOG.md\n" });
  expect(changelog()).toBe(
    before
      .replace(
        "- Uploads resume.\n",
        "- Uploads resume.\n- **Breaking:** Sessions are signed anew: begin uploads again.\n- Fixed: A cut upload is told so.\n",
      )
      .replace("headers.\n", "headers.\n\n### Realtime\n\n- Presence.\n"),
  );
  expect(readdirSync(join(folder, "changes"))).toEqual(["README.md"]);
});

test("without changes, and with --check, nothing is written", () => {
  expect(run(folder).code).toBe(0);
  expect(changelog()).toBe(before);
  change("a.md", "added", "Files", "Something.");
  expect(run("--check", folder)).toEqual({ code: 0, said: "1 change can be folded\n" });
  expect(changelog()).toBe(before);
  expect(existsSync(join(folder, "changes/a.md"))).toBe(true);
});

test.each([
  ["kind", "improved", "Files", "Text."],
  ["kind", "toString", "Files", "Text."],
  ["area", "fixed", "Elsewhere", "Text."],
  ["text", "fixed", "Files", ""],
  ["key", "fixed\nwhen: today", "Files", "Text."],
])("a file with a faulty %s is refused by name, and nothing is folded", (what, ...given) => {
  change("a.md", "added", "Files", "Good.");
  change("faulty.md", ...given);
  const { code, said } = run(folder);
  expect(code).toBe(1);
  expect(said).toMatch(new RegExp(`^faulty.md has .*${what}`));
  expect(changelog()).toBe(before);
  expect(existsSync(join(folder, "changes/a.md"))).toBe(true);
});

test("a release is what has changed, with its version and date, and a new part begins", () => {
  change("a.md", "added", "Files", "Something.");
  expect(run("--release", "0.2.0", folder).code).toBe(0);
  const today = new Date().toISOString().slice(0, 10);
  expect(changelog()).toContain(`## Unreleased\n\n## 0.2.0 (${today})\n\n### Files\n`);
  expect(changelog()).toContain("- Uploads resume.\n- Something.\n");
  expect(run("--release", "0.2.0", folder)).toMatchObject({ code: 1 });
  expect(run("--release", "next", folder)).toMatchObject({ code: 1 });
});

test("a changelog without an unreleased part is refused", () => {
  writeFileSync(join(folder, "CHANGELOG.md"), "# Changes\n\n## 0.1.0\n");
  expect(run(folder)).toMatchObject({ code: 1 });
});

test("the changes of this repository can be folded, and its page names every kind and area", () => {
  expect(run("--check").said).toMatch(/^\d+ changes? can be folded\n$/);
  const page = readFileSync(join(root, "changes/README.md"), "utf8");
  const script = readFileSync(join(root, "scripts/changelog.mjs"), "utf8");
  const [, areas = ""] = /const areas = \[([^\]]+)\]/.exec(script) ?? [];
  const [, kinds = ""] = /const kinds = \{([^}]+)\}/.exec(script) ?? [];
  const names = [
    ...[...areas.matchAll(/"([^"]+)"/g)].map(([, name]) => name),
    ...[...kinds.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name),
  ];
  expect(names.length).toBe(14);
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test.each([
  ["v0.3.0", { version: "0.3.0", changelog: "\n## 0.3.0 (2026-12-01)\n", changes: [] }, 0],
  ["v0.3.1", { version: "0.3.0", changelog: "\n## 0.3.0 (2026-12-01)\n", changes: [] }, 1],
  ["v0.3.0", { version: "0.3.0", changelog: "\n## Unreleased\n", changes: ["a.md"] }, 2],
])("a tag is released as the changelog has it: %s", async (tag, state, faults) => {
  const { faultsOf } = (await import(join(root, "scripts/released.mjs"))) as {
    faultsOf(tag: string, state: object): readonly string[];
  };
  expect(faultsOf(tag, state)).toHaveLength(faults);
});
