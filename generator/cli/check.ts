// opwright check: whether the registry is valid and the generated folder matches it. Only `--fix`
// writes.
import { exitCodes, type ExitCode, type Terminal } from "./io.js";
import type { ConfiguredProject } from "./project.js";
import { expectShortRun } from "./short-run.js";
import { checkedNote, reportUnchanged } from "./unchanged.js";

export interface CheckFlags {
  /** The branch whose migrations have to be here. */
  readonly base?: string;
  /** Whether findings with one right answer are mended first. */
  readonly fix?: boolean;
}

export async function runCheck(
  configured: ConfiguredProject,
  { base, fix = false }: CheckFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  expectShortRun();
  const { format } = configured;
  const isMachine = format === "json" || format === "sarif";
  if (fix) {
    const { fixRegistry } = await import("./fix.js");
    await fixRegistry(configured.project, isMachine ? terminal.note : terminal.out, terminal);
  }
  // What the base has isn't remembered.
  const known =
    isMachine || base !== undefined ? undefined : await reportUnchanged(configured, terminal);
  if (known !== undefined) {
    terminal.note(checkedNote(known));
    return exitCodes.fine;
  }
  const { checkAnew } = await import("./check-anew.js");
  return checkAnew(configured, terminal, { isMachine, base });
}
