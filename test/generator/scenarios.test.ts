// Faulty registries and their reports. `npm run accept` rewrites the reports; the diff is for a reviewer.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runGenerate } from "../../generator/cli/generate.js";
import type { Terminal } from "../../generator/cli/io.js";
import { catalogue } from "../../generator/diagnostics.js";
import { acceptReport, readScenarios, writeProject, type Scenario } from "./scenario.js";

const scenarios = readScenarios(new URL("scenarios", import.meta.url).pathname);
const isAccepting = process.env["OPWRIGHT_ACCEPT"] === "1";

async function reportOf({
  files,
}: Scenario): Promise<{ readonly text: string; readonly wrote: boolean }> {
  const { root, remove } = writeProject(files);
  let text = "";
  const terminal: Terminal = {
    out: (part) => (text += part),
    note: () => undefined,
    isColoured: false,
  };
  const project = {
    root,
    paths: { registry: "registry", out: "generated" },
    client: { package: null, queries: false, mocks: false },
  };
  await runGenerate({ project, config: {}, format: "pretty" }, {}, terminal);
  const wrote = existsSync(join(root, "generated"));
  remove();
  return { text, wrote };
}

describe("a faulty registry is reported whole, with places, and writes nothing", () => {
  test.each(scenarios)("$title", async (scenario) => {
    const { text, wrote } = await reportOf(scenario);
    if (isAccepting) acceptReport(scenario, text);
    else expect(text).toBe(scenario.report);
    expect([text.includes(" error OPW"), wrote]).toEqual([true, false]);
  });
});

test("every diagnostic of a registry has a scenario", () => {
  const shown = new Set(
    scenarios.flatMap(({ report }) =>
      [...report.matchAll(/ error (OPW\d+) /g)].map(([, code]) => code),
    ),
  );
  const ofOutput = /^OPW08/;
  expect(Object.keys(catalogue).filter((code) => !ofOutput.test(code) && !shown.has(code))).toEqual(
    ["OPW035"],
  );
});
