// A progress bar on a terminal, two plain lines elsewhere.

export interface ProgressBar {
  /** Shows how much is done. */
  show(done: number, total: number): void;
  /** Ends the bar. */
  finish(): void;
}

/** A bar on stderr. */
export function progressBar(label: string): ProgressBar {
  const { stderr } = process;
  let shown = 0;
  if (!stderr.isTTY) stderr.write(`${label} …\n`);
  return {
    show(done, total) {
      shown = done;
      if (!stderr.isTTY) return;
      const width = 30;
      // There may be more by now than there were when it began.
      const filled = Math.round(Math.min(1, done / Math.max(total, 1)) * width);
      const bar = "#".repeat(filled) + " ".repeat(width - filled);
      stderr.write(`\r${label} [${bar}] ${done}/${total}`);
    },
    finish() {
      stderr.write(stderr.isTTY ? "\n" : `${label}: ${shown}\n`);
    },
  };
}
