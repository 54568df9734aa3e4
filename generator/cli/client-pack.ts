// opwright client pack: the typed client as an npm tarball, from a generated folder that matches
// the registry.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { writeWhole } from "../output/whole-file.js";
import { packByNpm } from "../project/npm-pack.js";
import { exitCodes, UsageError, type ExitCode, type Terminal } from "./io.js";
import type { ConfiguredProject } from "./project.js";
import { reviewedPlan } from "./reviewed-plan.js";

export async function runClientPack(
  configured: ConfiguredProject,
  out: string,
  terminal: Terminal,
): Promise<ExitCode> {
  const reviewed = await reviewedPlan(configured, "packed", terminal);
  if (reviewed === undefined) return exitCodes.findings;
  const { compileClient } = await import("../output/client-package.js");
  const folder = mkdtempSync(join(tmpdir(), "opwright-client-"));
  try {
    for (const { path, text } of compileClient(reviewed.plan.files)) {
      const file = join(folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      // The same bytes, whatever the user's settings are.
      chmodSync(file, 0o644);
    }
    const destination = resolve(terminal.folder, out);
    const tarball = packFolder(folder);
    writeWhole(join(destination, tarball), readFileSync(join(folder, tarball)));
    terminal.out(`${join(out, tarball)}\n`);
    return exitCodes.fine;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs `npm pack`; returns the name of the tarball in the folder. */
function packFolder(folder: string): string {
  try {
    return packByNpm(folder).filename;
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
