// The drawings of docs/ are what the script draws.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test("the drawings of the documentation are up to date", () => {
  const cwd = fileURLToPath(new URL("../..", import.meta.url));
  const { status, stderr } = spawnSync("node", ["scripts/drawings.mjs", "--check"], { cwd });
  expect([status, String(stderr)]).toEqual([0, ""]);
});
