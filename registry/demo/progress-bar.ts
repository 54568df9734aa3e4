// A progress bar on a terminal, two plain lines elsewhere.

export interface ProgressBar {
  advance(by: number): void;
  finish(): void;
}

/** A bar for `total` items, on stderr. */
export function progressBar(label: string, total: number): ProgressBar {
  const { stderr } = process;
  let done = 0;
  const draw = (): void => {
    const width = 30;
    const filled = Math.round((done / Math.max(total, 1)) * width);
    stderr.write(
      `\r${label} [${"#".repeat(filled)}${" ".repeat(width - filled)}] ${done}/${total}`,
    );
  };
  if (!stderr.isTTY) stderr.write(`loading ${total} ${label}\n`);
  return {
    advance(by) {
      done += by;
      if (stderr.isTTY) draw();
    },
    finish() {
      stderr.write(stderr.isTTY ? "\n" : `loaded ${done} ${label}\n`);
    },
  };
}
