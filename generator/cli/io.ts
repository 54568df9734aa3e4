// The terminal: results on stdout, notes on stderr, colour where it is wanted, exit codes with
// names.

/** Exit codes of every command. */
export const exitCodes = { fine: 0, findings: 1, usage: 2, io: 3, bug: 70 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A command was called wrongly. */
export class UsageError extends Error {}

export interface Terminal {
  /** A result, for pipes and files. */
  out(text: string): void;
  /** A note, for people. */
  note(text: string): void;
  readonly isColoured: boolean;
  /** Whether somebody can be asked. */
  readonly isInteractive: boolean;
  /** The folder that a command is called in. */
  readonly folder: string;
}

/** The terminal of this process. */
export function openProcessTerminal(): Terminal {
  // The reader has seen enough (`opwright check | head`): print nothing more, and don't fail.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(exitCodes.io);
    throw error;
  });
  return {
    out: (text) => void process.stdout.write(text),
    note: (text) => void process.stderr.write(text.endsWith("\n") ? text : `${text}\n`),
    isColoured: wantsColour(),
    isInteractive: process.stdin.isTTY,
    folder: process.cwd(),
  };
}

/** https://no-color.org and https://force-color.org. */
function wantsColour(): boolean {
  if (process.env["NO_COLOR"]) return false;
  if (process.env["FORCE_COLOR"]) return process.env["FORCE_COLOR"] !== "0";
  return process.stdout.isTTY;
}
