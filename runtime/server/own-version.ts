// Which opwright this is.
import { createRequire } from "node:module";

/** The version of the package. A service that was bundled into one file may be without it. */
export function ownVersion(): string {
  try {
    const { version } = createRequire(import.meta.url)("opwright/package.json") as {
      readonly version: string;
    };
    return version;
  } catch {
    return "unknown";
  }
}
