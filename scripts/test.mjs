// npm test: installs what is missing, builds, runs every test, ends with one line of counts. Arguments go to vitest.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, buildService, install, root } from "./prepare.mjs";

install();
build();
buildService();
const folder = mkdtempSync(join(tmpdir(), "opwright-report-"));
const report = join(folder, "report.json");
const { status } = spawnSync(
  "npx",
  [
    "vitest",
    "run",
    "--reporter=default",
    `--reporter=${join(root, "scripts/second-tries.mjs")}`,
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: "inherit", shell: process.platform === "win32" },
);
const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(
  readFileSync(report, "utf8"),
);
rmSync(folder, { recursive: true, force: true });
const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : "";
process.stdout.write(`${numPassedTests} passed, ${numFailedTests} failed${skipped}\n`);
process.exitCode = status ?? 1;
