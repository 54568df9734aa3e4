// The command line as a person runs it: a process, its exit code and both of its streams.
import { spawnSync } from "node:child_process";

const bin = new URL("../../bin/opwright.mjs", import.meta.url).pathname;

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `opwright` in a folder, with no terminal. */
export function cli(cwd: string, ...args: readonly string[]): CliResult {
  const environment = { PATH: process.env["PATH"], HOME: process.env["HOME"] };
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
    cwd,
    env: environment,
    encoding: "utf8",
  });
  return { code: status, stdout, stderr };
}
