// A progress bar on a terminal, plain lines elsewhere.
import { monotonicMillis } from "../ports/ambient.js";

export interface ProgressBar {
  /** Shows how much is done. */
  show(done: number, total: number): void;
  /** Ends the bar. */
  finish(): void;
}

/** How often a plain line says how far it is, in milliseconds. */
const toldMillis = 10_000;

/** A bar on stderr. */
export function progressBar(label: string): ProgressBar {
  const { stderr } = process;
  let shown = 0;
  let toldAt = monotonicMillis();
  if (!stderr.isTTY) stderr.write(`${label} …\n`);
  return {
    show(done, total) {
      shown = done;
      if (stderr.isTTY) {
        stderr.write(`\r${barOf(label, done, total)}`);
        return;
      }
      if (monotonicMillis() - toldAt < toldMillis) return;
      toldAt = monotonicMillis();
      stderr.write(`${label}: ${done}/${total}\n`);
    },
    finish() {
      stderr.write(stderr.isTTY ? "\n" : `${label}: ${shown}\n`);
    },
  };
}

function barOf(label: string, done: number, total: number): string {
  const width = 30;
  // There may be more by now than there were when it began.
  const filled = Math.round(Math.min(1, done / Math.max(total, 1)) * width);
  return `${label} [${"#".repeat(filled)}${" ".repeat(width - filled)}] ${done}/${total}`;
}
