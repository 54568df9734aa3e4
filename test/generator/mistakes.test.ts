// `check --fix` over the corpus of first mistakes (test/generator/mistakes): what has one right answer is mended to exactly
// that, and nothing else is touched.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mendRegistry } from "../../generator/cli/fix.js";
import type { Project } from "../../generator/pipeline/generate.js";
import { readMistakes, type Mistake } from "./mistakes.js";
import { writeProject } from "./scenario.js";

const mistakes = readMistakes();
const mendable = mistakes.filter(({ meant }) => meant !== null);

/** Mistakes that have one right answer and are left to the author. */
const notMended: readonly string[] = [
  "type: {text: {type: string, unique: true}}",
  "[{authorize: notes.read, rate_limit: 100/1m}]",
  "a key further to the right than the others",
];

const others = mistakes.filter(({ meant, title }) => meant === null || notMended.includes(title));

let project: Project;
let remove: () => void = () => undefined;

beforeAll(() => {
  const made = writeProject({
    "registry/service.yaml": "",
    "registry/notes.yaml": "",
    "registry/handlers.ts": "export const finish = () => ({ ok: true });\n",
    "registry/hooks.ts": "export const stamp = () => undefined;\n",
  });
  remove = made.remove;
  project = {
    root: made.root,
    paths: { registry: "registry", out: "generated" },
    client: { package: null, queries: false, mocks: false },
  };
});
afterAll(() => remove());

const file = (): string => join(project.root, "registry/notes.yaml");

function write(text: string): void {
  const service = "service: {name: demo, title: Demo, version: 1.0.0}\n";
  const policies = "policies: {open: [], staff: [{rate_limit: 10/1m}]}\n";
  writeFileSync(
    join(project.root, "registry/service.yaml"),
    `registry: 1\n${/^service:/m.test(text) ? "" : service}${policies}`,
  );
  writeFileSync(file(), text);
}

/** What a mistake becomes, and the findings that are left then. */
async function mended({
  text,
}: Mistake): Promise<{ readonly text: string; readonly left: readonly string[] }> {
  write(text);
  const { left } = await mendRegistry(project);
  return {
    text: readFileSync(file(), "utf8"),
    left: left.map(({ code, message }) => `${code} ${message}`),
  };
}

describe("a first mistake with one right answer is mended to exactly that", () => {
  test.each(mendable.filter(({ title }) => !notMended.includes(title)))(
    "$title",
    async (mistake) => {
      expect(await mended(mistake)).toEqual({ text: mistake.meant, left: [] });
    },
  );
});

describe("any other mistake is a finding, and stays as it is", () => {
  test.each(others)("$title", async (mistake) => {
    const { text, left } = await mended(mistake);
    expect(text).toBe(mistake.text);
    expect(left).not.toEqual([]);
  });
});

test("the corpus has 200 mistakes, and 95 % of those with one right answer are mended", () => {
  expect(mistakes.length).toBeGreaterThanOrEqual(200);
  expect(others.length).toBeGreaterThanOrEqual(60);
  expect(notMended.filter((title) => !mendable.some((mistake) => mistake.title === title))).toEqual(
    [],
  );
  expect(1 - notMended.length / mendable.length).toBeGreaterThanOrEqual(0.95);
});
