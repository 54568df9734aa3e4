// The command line without a process of its own: the same arguments, exit codes and streams, in a tenth of the time.
import { main } from "../../generator/cli/main.js";
import type { Terminal } from "../../generator/cli/io.js";

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A terminal in a folder, with nobody in front of it, and what was written to it. */
export function recordedTerminal(folder: string) {
  const written = { stdout: "", stderr: "" };
  const terminal: Terminal = {
    out: (text) => void (written.stdout += text),
    note: (text) => void (written.stderr += text.endsWith("\n") ? text : `${text}\n`),
    isColoured: false,
    isInteractive: false,
    folder,
  };
  return { terminal, written };
}

/** Runs `opwright` in a folder. Tests of the process itself start `bin/opwright.mjs`. */
export async function cli(folder: string, ...args: readonly string[]): Promise<CliResult> {
  const { terminal, written } = recordedTerminal(folder);
  const code = await main(args, terminal);
  return { code, ...written };
}
