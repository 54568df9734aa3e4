// Files of the client that are the same for every service.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../project/package-root.js";
import { header, type EmittedFile } from "../../print/file.js";

/** A file of opwright's own, which is copied unchanged below a header. */
export function ownFile(name: string): EmittedFile {
  const text = readFileSync(join(packageRoot(), "client", name), "utf8");
  return { path: `client/${name}`, text: `${header("opwright")}\n${text}` };
}
