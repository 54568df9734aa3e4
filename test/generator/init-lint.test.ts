// The lint rule that `opwright init` brings: it finds an await that is missing, and nothing in a fresh project.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const repository = new URL("../..", import.meta.url).pathname;
let root: string;

const run = (command: string, ...args: readonly string[]) =>
  spawnSync(command, args, { cwd: root, encoding: "utf8" });

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "opwright-lint-"));
  const opwright = join(repository, "bin/opwright.mjs");
  expect(run(process.execPath, opwright, "init", ".", "--yes").status).toBe(0);
  symlinkSync(join(repository, "node_modules"), join(root, "node_modules"));
  expect(run(process.execPath, opwright, "generate").status).toBe(0);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("a fresh project is clean, and a promise that nobody awaits is found", () => {
  // In CI it would print annotations.
  const lint = () =>
    run(join(repository, "node_modules/.bin/oxlint"), "--type-aware", "--format=unix");
  rmSync(join(root, "registry/planted.ts"), { force: true });
  const fresh = lint();
  expect([fresh.stdout, fresh.status]).toEqual([fresh.stdout, 0]);
  writeFileSync(
    join(root, "registry/planted.ts"),
    `const told = async (): Promise<void> => {};
export const planted = async (names: readonly string[]): Promise<void> => {
  told();
  void told();
  names.forEach(async () => {
    await told();
  });
};
`,
  );
  const { stdout, status } = lint();
  expect(status).toBe(1);
  expect([...stdout.matchAll(/planted\.ts:(\d+)/g)].map(([, line]) => line)).toEqual([
    "3",
    "4",
    "5",
  ]);
});
