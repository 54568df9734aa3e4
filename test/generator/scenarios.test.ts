// Faulty registries and their reports. `npm run accept` rewrites the reports; the diff is for a reviewer.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runGenerate } from "../../generator/cli/generate.js";
import { recordedTerminal } from "./cli.js";
import { catalogue } from "../../generator/families/catalogue.js";
import { acceptReport, readScenarios, writeProject, type Scenario } from "./scenario.js";

const all = readScenarios(new URL("scenarios", import.meta.url).pathname);
const isWarning = ({ file }: Scenario): boolean => file.endsWith("-warnings.md");
const warned = all.filter(isWarning);
const scenarios = all.filter((scenario) => !isWarning(scenario));
const isAccepting = process.env["OPWRIGHT_ACCEPT"] === "1";

async function reportOf({
  files,
  links,
}: Scenario): Promise<{ readonly text: string; readonly wrote: boolean }> {
  const { root, remove } = writeProject(files, links);
  const { terminal, written } = recordedTerminal(root);
  const project = {
    root,
    paths: { registry: "registry", out: "generated" },
    client: { package: null, queries: false, mocks: false },
  };
  await runGenerate({ project, config: {}, format: "pretty" }, {}, terminal);
  const wrote = existsSync(join(root, "generated"));
  remove();
  return { text: written.stdout, wrote };
}

describe("a faulty registry is reported whole, with places, and writes nothing", () => {
  test.each(scenarios)("$title", async (scenario) => {
    const { text, wrote } = await reportOf(scenario);
    if (isAccepting) acceptReport(scenario, text);
    else expect(text).toBe(scenario.report);
    expect([text.includes(" error OPW"), wrote]).toEqual([true, false]);
  });
});

describe("a warning is told with its place, and the registry is generated", () => {
  test.each(warned)("$title", async (scenario) => {
    const { text, wrote } = await reportOf(scenario);
    // The files that were written follow it.
    const report = text.replaceAll(/^create .*\n/gm, "");
    if (isAccepting) acceptReport(scenario, report);
    else expect(report).toBe(scenario.report);
    expect([report.includes(" warning OPW"), wrote]).toEqual([true, true]);
  });
});

test("every diagnostic of a registry has a scenario", () => {
  const shown = new Set(
    all.flatMap(({ report }) =>
      [...report.matchAll(/ (?:error|warning) (OPW\d+) /g)].map(([, code]) => code),
    ),
  );
  // They are about the generated folder: output.test.ts, interrupted-states.test.ts, merges.test.ts.
  const ofOutput = /^OPW(?:08[0-7]|09[14])/;
  expect(Object.keys(catalogue).filter((code) => !ofOutput.test(code) && !shown.has(code))).toEqual(
    ["OPW035", "OPW093"],
  );
});
