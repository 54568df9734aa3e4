// AGENTS.md of a new project: short, and true of what the project and the package have.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalogue } from "../../generator/families/catalogue.js";
import { cli } from "./cli.js";
import { writeProject } from "./scenario.js";

const repository = new URL("../..", import.meta.url).pathname;

describe("AGENTS.md", () => {
  const project = writeProject({});
  let text = "";
  beforeAll(async () => {
    const { code } = await cli(project.root, "init", "shop", "--template", "minimal");
    expect(code).toBe(0);
    text = readFileSync(join(project.root, "shop/AGENTS.md"), "utf8");
  });
  afterAll(() => project.remove());

  test("has at most 6 KB, and ten rules", () => {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(6_000);
    expect(text.match(/^\d+\. \*\*/gm)).toHaveLength(10);
  });

  test("every page that it names is in the package", () => {
    const named = [...text.matchAll(/node_modules\/opwright\/(\S+?\.md)/g)].map(
      ([, path]) => path ?? "",
    );
    expect(new Set(named).size).toBeGreaterThan(12);
    for (const path of named)
      expect([path, existsSync(join(repository, path))]).toEqual([path, true]);
  });

  test("every command and script that it names exists", async () => {
    const { scripts } = JSON.parse(readFileSync(join(project.root, "shop/package.json"), "utf8"));
    for (const [, name = ""] of text.matchAll(/npm (?:run )?([a-z]+)/g))
      expect(Object.keys(scripts)).toContain(name);
    const { stdout } = await cli(project.root, "--help");
    for (const [, name = ""] of text.matchAll(/npx opwright ([a-z]+)/g))
      expect(stdout).toMatch(new RegExp(`^  ${name}\\b`, "m"));
    for (const [code] of text.matchAll(/OPW\d+/g)) expect(Object.keys(catalogue)).toContain(code);
  });
});
