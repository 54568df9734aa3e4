// opwright client pack: the typed client as an npm tarball, from a generated folder that matches
// the registry.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { writeWhole } from "../output/whole-file.js";
import { packByNpm } from "../project/npm-pack.js";
import { checkedPlan } from "./drift.js";
import { renderFindings } from "./findings.js";
import { exitCodes, UsageError, type ExitCode, type Terminal } from "./io.js";
import type { ConfiguredProject } from "./project.js";

export async function runClientPack(
  { project, format }: ConfiguredProject,
  out: string,
  terminal: Terminal,
): Promise<ExitCode> {
  const { checked, plan, findings } = await checkedPlan(project);
  if (plan === undefined || findings.length > 0) {
    const { textOf } = checked;
    terminal.out(
      renderFindings(findings, format, {
        textOf,
        isColoured: terminal.isColoured,
        root: project.root,
      }),
    );
    terminal.note("what is packed is what was reviewed: run `opwright generate` first");
    return exitCodes.findings;
  }
  const { compileClient } = await import("../output/client-package.js");
  const folder = mkdtempSync(join(tmpdir(), "opwright-client-"));
  try {
    for (const { path, text } of compileClient(plan.files)) {
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
