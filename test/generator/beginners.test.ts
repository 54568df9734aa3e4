// The mistakes of a first day: each is one finding, at the member that is wrong, which names the cause and shows the right way.
import { describe, expect, test } from "vitest";
import { inAccess } from "./beginners/access.js";
import { inCauses } from "./beginners/causes.js";
import { inDocuments } from "./beginners/documents.js";
import { inFields } from "./beginners/fields.js";
import { inFiles } from "./beginners/files.js";
import { lacking, readingsOf } from "./beginners/mistake.js";
import { inNames } from "./beginners/names.js";
import { inOperations } from "./beginners/operations.js";
import { inOthers } from "./beginners/others.js";
import { inSchemas } from "./beginners/schemas.js";
import { cli } from "./cli.js";
import { writeProject } from "./scenario.js";

const mistakes = [
  ...inFiles,
  ...inNames,
  ...inFields,
  ...inSchemas,
  ...inDocuments,
  ...inOperations,
  ...inAccess,
  ...inOthers,
  ...inCauses,
];

/** Mistakes whose findings are not good yet, and what they lack. */
const fair: Readonly<Record<string, readonly string[]>> = {
  // The default that does not fit comes of the brackets; those alone are a warning.
  "a type in brackets that has a default": [
    "2 findings",
    "code OPW031",
    "place registry/shop.yaml:2:77 []",
    "message: the default [] of tags must be string",
  ],
  // Neither reading nor writing has a policy: one finding each.
  "a guard for creating alone": ["2 findings"],
};

describe("one good finding", () => {
  test.each(mistakes)("$name", async (mistake) => {
    expect(lacking(mistake, await readingsOf(mistake))).toEqual(fair[mistake.name] ?? []);
  });
});

describe("the command line says what to call instead", () => {
  test.each([
    ["a misspelt command", "chek", "(Did you mean check?)"],
    ["a misspelt flag", "generate --stub", "(Did you mean --stubs?)"],
    ["a command of the service", "migrate", "node dist/generated/server.js migrate"],
    ["a command of other tools", "validate", "`opwright check`"],
    ["an argument that is missing", "diff", "`--help` behind a command"],
    ["a format that there is not", "check --format yaml", "pretty, json, github, sarif"],
    ["a folder without a registry", "check", "Run `opwright init`"],
  ])("%s", async (_what, line, advice) => {
    const { root, remove } = writeProject({});
    const { code, stdout, stderr } = await cli(root, ...line.split(" "));
    remove();
    expect(stdout + stderr).toContain(advice);
    expect(code).toBe(line === "check" ? 1 : 2);
    // Nothing follows from a folder that is empty.
    expect(stdout.match(/ error /g) ?? []).toHaveLength(line === "check" ? 1 : 0);
  });
});

test("at least 96 of 100 mistakes have good findings", () => {
  const names = new Set(mistakes.map(({ name }) => name));
  expect(names.size).toBe(mistakes.length);
  expect(Object.keys(fair).filter((name) => !names.has(name))).toEqual([]);
  expect(Object.keys(fair).length / mistakes.length).toBeLessThanOrEqual(0.04);
});
