// opwright check: whether the registry is valid and the generated folder matches it. Writes nothing.
import { exitCodes, type ExitCode, type Terminal } from "./io.js";
import type { ConfiguredProject } from "./project.js";
import { expectShortRun } from "./short-run.js";
import { checkedNote, unchanged } from "./unchanged.js";

export interface CheckFlags {
  /** The branch whose migrations have to be here. */
  readonly base?: string;
}

export async function runCheck(
  configured: ConfiguredProject,
  { base }: CheckFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  expectShortRun();
  const { format } = configured;
  const isMachine = format === "json" || format === "sarif";
  // What the base has isn't remembered.
  const known = isMachine || base !== undefined ? undefined : await unchanged(configured, terminal);
  if (known !== undefined) {
    terminal.note(checkedNote(known));
    return exitCodes.fine;
  }
  const { checkAnew } = await import("./check-anew.js");
  return checkAnew(configured, terminal, { isMachine, base });
}
