// What GitHub reads of the repository: workflows, forms, owners; each is whole and names what is there.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";

const root = new URL("../..", import.meta.url).pathname;
const textOf = (path: string): string => readFileSync(join(root, path), "utf8");

interface Job {
  readonly strategy?: { readonly matrix: { readonly node: readonly string[] } };
  readonly steps: readonly { readonly run?: string; readonly uses?: string }[];
}

test("CI runs .ci/run on the oldest Node that package.json allows, and on a newer one", () => {
  const { jobs } = parse(textOf(".github/workflows/ci.yml")) as {
    readonly jobs: Readonly<Record<string, Job>>;
  };
  const { engines } = JSON.parse(textOf("package.json")) as {
    readonly engines: { readonly node: string };
  };
  const [oldest = ""] = /\d+/.exec(engines.node) ?? [];
  const job = Object.values(jobs).find(({ steps }) => steps.some(({ run }) => run === ".ci/run"));
  const versions = job?.strategy?.matrix.node ?? [];
  expect(versions[0]).toBe(oldest);
  expect(versions.length).toBeGreaterThan(1);
});

test.each(["bug.yml", "feature.yml"])("the form %s asks for something and can be left", (name) => {
  const form = parse(textOf(`.github/ISSUE_TEMPLATE/${name}`)) as {
    readonly name: string;
    readonly description: string;
    readonly body: readonly {
      readonly type: string;
      readonly id?: string;
      readonly attributes: { readonly label?: string; readonly options?: readonly string[] };
      readonly validations?: { readonly required: boolean };
    }[];
  };
  expect([form.name, form.description].every((text) => text.length > 0)).toBe(true);
  const fields = form.body.filter(({ type }) => type !== "markdown");
  expect(fields.every(({ type }) => /^(?:textarea|input|dropdown|checkboxes)$/.test(type))).toBe(
    true,
  );
  expect(fields.every(({ attributes }) => attributes.label !== undefined)).toBe(true);
  expect(fields.some(({ validations }) => validations?.required === true)).toBe(true);
  const ids = fields.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test("every file that GitHub reads as YAML is YAML, and every path with an owner is there", () => {
  const names = readdirSync(join(root, ".github"), { recursive: true, encoding: "utf8" });
  for (const name of names.filter((one) => one.endsWith(".yml")))
    expect(parse(textOf(`.github/${name}`)), name).toBeTypeOf("object");
  const owned = textOf(".github/CODEOWNERS")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split(/\s+/));
  expect(owned.filter(([path = ""]) => path !== "*" && !existsSync(join(root, path)))).toEqual([]);
  expect(owned.filter(([, ...owners]) => owners.length === 0)).toEqual([]);
});
