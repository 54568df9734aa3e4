// The clock of a process, which a test sets (libfaketime); its monotonic clock goes on, as it does when an operator sets the time.
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Clock {
  /** Settings of a process that goes by this clock. */
  readonly environment: Readonly<Record<string, string>>;
  /** Sets it to so many seconds from now; negative ones are in the past. */
  set(seconds: number): void;
  remove(): void;
}

const library = findLibrary();

/** Whether Debian's `faketime` is installed. */
export const hasClock = library !== undefined;

export function newClock(seconds: number): Clock {
  const folder = mkdtempSync(join(tmpdir(), "opwright-clock-"));
  const file = join(folder, "offset");
  const set = (offset: number): void => {
    // Read at every call: it must never be seen half-written.
    writeFileSync(`${file}.new`, `${offset < 0 ? "-" : "+"}${Math.abs(offset)}\n`);
    renameSync(`${file}.new`, file);
  };
  set(seconds);
  return {
    environment: {
      LD_PRELOAD: library ?? "",
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      // Timers of Node, and waits with a timeout, go by the monotonic clock: faked, they would hang or fire at once.
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      // Files keep the times that the file system gives them.
      NO_FAKE_STAT: "1",
    },
    set,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function findLibrary(): string | undefined {
  const folders = existsSync("/usr/lib") ? readdirSync("/usr/lib") : [];
  return folders
    .map((name) => join("/usr/lib", name, "faketime/libfaketimeMT.so.1"))
    .find((path) => existsSync(path));
}
