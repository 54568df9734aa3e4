// Warnings of Node.js and of packages: lines of the log, as everything else that the process says.
import type { Log } from "../ports/log.js";

/**
 * Has the log tell warnings from now on, instead of text on stderr. With `--no-warnings` nobody
 * does.
 */
export function logWarnings(log: Log): void {
  const printing = process.listeners("warning").find(({ name }) => name === "onWarning");
  if (printing === undefined) return;
  process.off("warning", printing);
  process.on("warning", (warning) => {
    if (warning.name === "DeprecationWarning" && process.noDeprecation === true) return;
    log.warn({ err: warning }, "a warning of Node.js or of a package");
  });
}
