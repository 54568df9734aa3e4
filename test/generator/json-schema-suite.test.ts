// The JSON Schema Test Suite, draft 2020-12 (as Debian's libtest-json-schema-acceptance-perl ships it): emitted
// validators agree with every case of the keywords that opwright compiles, emitted types accept every valid instance,
// and the other keywords are refused by name.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { emitTypes } from "../../generator/emit/types.js";
import { compileStandalone } from "../../generator/compile/ajv-standalone.js";
import { checkedSchemas, checkName } from "../../generator/compile/checked-schemas.js";
import { functionName } from "../../generator/model/validator-plan.js";
import type { Finding } from "../../generator/diagnostics/diagnostics.js";
import { unsupportedKeywords } from "../../generator/load/schema-keywords.js";
import { TypeReader } from "../../generator/load/types.js";
import type { JsonSchema } from "../../generator/model/json-schema.js";
import {
  codePointLength,
  formats,
  isMultipleOf,
  joinErrors,
  jsonEqual,
} from "../../runtime/contract/validation.js";
import { repeatedItems } from "../../runtime/contract/repeated-items.js";
import { writeProject } from "./scenario.js";

const helpers = { codePointLength, formats, isMultipleOf, joinErrors, jsonEqual, repeatedItems };

const suite = "/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance/tests/draft2020-12";
const repository = new URL("../..", import.meta.url).pathname;

interface Group {
  readonly description: string;
  readonly schema: JsonSchema;
  readonly tests: readonly {
    readonly description: string;
    readonly data: unknown;
    readonly valid: boolean;
  }[];
}

const isInstalled = existsSync(suite);
if (!isInstalled) {
  const message =
    "the JSON Schema Test Suite is not installed (apt-get install libtest-json-schema-acceptance-perl)";
  if (process.env["OPWRIGHT_REQUIRE_ENGINES"] === "1") throw new Error(message);
  process.stderr.write(`\n${"!".repeat(80)}\nSKIPPED: ${message}\n${"!".repeat(80)}\n`);
}

const groups: readonly (Group & { readonly file: string })[] = isInstalled
  ? readdirSync(suite)
      .filter((name) => name.endsWith(".json"))
      .flatMap((file) =>
        (JSON.parse(readFileSync(join(suite, file), "utf8")) as readonly Group[]).map((group) => ({
          ...group,
          file,
        })),
      )
  : [];

/** The group's schema as the registry reads it, or the findings that refuse it. */
function readGroup(
  schema: JsonSchema,
): { readonly types: Record<string, JsonSchema> } | { readonly findings: readonly Finding[] } {
  const findings: Finding[] = [];
  const reader = new TypeReader(["Case"], [], {
    project: "/nowhere",
    folder: "registry",
    report: (finding) => findings.push(finding),
  });
  const at = { file: "case.yaml", path: [] };
  reader.table.schemas.set("Case", true);
  reader.table.origins.set("Case", at);
  const read = reader.readField(schema, at, { typeName: "Case", value: schema, at });
  reader.table.schemas.set("Case", read);
  return findings.length > 0 ? { findings } : { types: Object.fromEntries(reader.table.schemas) };
}

// Formats are asserted here and annotations there; format.json says nothing about them.
const skippedFiles = new Set(["format.json", "vocabulary.json"]);

test.skipIf(!isInstalled)(
  "validators agree with the suite, and what is not compiled is refused by name",
  async () => {
    const disagreements: string[] = [];
    const refusals = new Map<string, number>();
    const sources: string[] = [];
    const cases: { readonly name: string; readonly group: Group & { readonly file: string } }[] =
      [];
    for (const [index, group] of groups.entries()) {
      if (skippedFiles.has(group.file)) continue;
      const read = readGroup(group.schema);
      if ("findings" in read) {
        for (const { code, message } of read.findings)
          refusals.set(
            `${code} ${message.replace(/"[^"]*"/g, '"…"')}`,
            (refusals.get(`${code} ${message}`) ?? 0) + 1,
          );
        continue;
      }
      const plan = { name: `case${index}`, schema: read.types["Case"] ?? true };
      const { name } = plan;
      sources.push(
        `export const ${name} = (() => {\n${compileStandalone(checkedSchemas([plan], read))}\nreturn ${functionName(checkName(plan, read))};\n})();`,
      );
      cases.push({ name, group });
    }
    const { root, remove } = writeProject({
      "cases.mjs": `const { ${Object.keys(helpers).join(", ")} } = globalThis.opwrightHelpers;\n${sources.join("\n")}\n`,
    });
    Object.assign(globalThis, {
      opwrightHelpers: helpers,
    });
    const compiled = (await import(pathToFileURL(join(root, "cases.mjs")).href)) as Readonly<
      Record<string, (data: unknown) => boolean>
    >;
    let checked = 0;
    for (const { name, group } of cases) {
      for (const { description, data, valid } of group.tests) {
        checked += 1;
        if (compiled[name]?.(data) !== valid)
          disagreements.push(`${group.file} / ${group.description} / ${description}`);
      }
    }
    remove();
    expect(disagreements).toEqual([]);
    expect(checked).toBeGreaterThan(550);
    const refusedKeywords = [...refusals.keys()].flatMap(
      (text) => /OPW023 the keyword (\S+)/.exec(text)?.[1] ?? [],
    );
    expect(unsupportedKeywords).toEqual(expect.arrayContaining([...new Set(refusedKeywords)]));
    expect([...refusals.keys()].every((text) => /^OPW(?:02[1345]|102)/.test(text))).toBe(true);
  },
);

test.skipIf(!isInstalled)(
  "every valid instance of the suite is a value of the emitted type",
  () => {
    const lines: string[] = [];
    for (const [index, group] of groups.entries()) {
      if (skippedFiles.has(group.file)) continue;
      const read = readGroup(group.schema);
      if ("findings" in read) continue;
      const model = {
        format: 3,
        service: {},
        documents: {},
        operations: {},
        homes: {},
        types: read.types,
      } as unknown as Parameters<typeof emitTypes>[0];
      const text = emitTypes(model)[0]?.text ?? "";
      lines.push(`namespace Group${index} {\n${text.replaceAll(/^\/\/ @generated.*$/gm, "")}`);
      for (const { data, valid } of group.tests) {
        if (valid) lines.push(`check<Case>(${JSON.stringify(data)});`);
      }
      lines.push("}");
    }
    const { root, remove } = writeProject({
      "cases.ts": `declare function check<T>(value: T): void;\n${lines.join("\n")}\n`,
      "package.json": '{"type":"module"}',
      "tsconfig.json": JSON.stringify({
        compilerOptions: {
          ...JSON.parse(readFileSync(join(repository, "tsconfig.base.json"), "utf8"))
            .compilerOptions,
          erasableSyntaxOnly: false,
          types: [],
        },
        include: ["cases.ts"],
      }),
    });
    mkdirSync(join(root, "node_modules"));
    symlinkSync(repository, join(root, "node_modules/opwright"));
    let output = "";
    try {
      execFileSync(
        process.execPath,
        [join(repository, "node_modules/typescript/bin/tsc"), "-p", root, "--noEmit"],
        { stdio: "pipe" },
      );
    } catch (error) {
      output = String((error as { readonly stdout: Buffer }).stdout);
      writeFileSync(join("/tmp", "opwright-suite-cases.ts"), readFileSync(join(root, "cases.ts")));
    }
    remove();
    expect(output).toBe("");
  },
);
