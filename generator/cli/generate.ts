// opwright generate: writes the generated folder. A registry with findings writes nothing.
import type { GenerateFlags, GenerateOutcome } from "./generate-anew.js";
import { exitCodes, type ExitCode, type Terminal } from "./io.js";
import type { ConfiguredProject } from "./project.js";
import { expectShortRun } from "./short-run.js";
import { reportUnchanged } from "./unchanged.js";

export async function runGenerate(
  configured: ConfiguredProject,
  flags: GenerateFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  expectShortRun();
  return (await generate(configured, flags, terminal)).code;
}

/** Does what the command does, for callers who continue with the result. */
export async function generate(
  configured: ConfiguredProject,
  flags: GenerateFlags,
  terminal: Terminal,
): Promise<GenerateOutcome> {
  const known = await reportUnchanged(configured, terminal);
  if (known !== undefined) {
    terminal.note(`${known.operations} operations, nothing to change`);
    return { code: exitCodes.fine, written: 0 };
  }
  const { generateAnew } = await import("./generate-anew.js");
  return generateAnew(configured, flags, terminal);
}
