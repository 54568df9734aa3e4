// The client of the reference service as npm users get it: packed, and installed in a folder.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { cli } from "../generator/cli.js";

const root = new URL("../..", import.meta.url).pathname;

/** Packs the client and installs the tarball, from nowhere but this disk. */
export async function installPackedClient(folder: string): Promise<void> {
  const { code, stdout, stderr } = await cli(root, "client", "pack", "--out", folder);
  expect([code, stderr], stdout).toEqual([0, ""]);
  expect(stdout.trim().endsWith("opwright-tracker-client-1.0.0.tgz")).toBe(true);
  writeFileSync(join(folder, "package.json"), '{"type": "module", "private": true}');
  const npm = spawnSync("npm", ["i", "--offline", "--legacy-peer-deps", stdout.trim()], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(npm.status, npm.stderr).toBe(0);
}
