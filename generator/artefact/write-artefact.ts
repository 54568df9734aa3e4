// Writing an artefact: as a whole or not at all, and never over what somebody else wrote.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ArtefactFault } from "./fault.js";
import { artefactMark } from "./manifests.js";
import type { ArtefactFiles } from "./parts.js";

/** How large an artefact is, in bytes. */
export interface ArtefactSize {
  readonly total: number;
  /** What of it is native code, for one platform. */
  readonly native: number;
}

/** Throws `ArtefactFault` if a folder has something that isn't an earlier artefact. */
export function refuseOthers(folder: string): void {
  if (!existsSync(folder)) return;
  if (statSync(folder).isDirectory() && (readdirSync(folder).length === 0 || isArtefact(folder)))
    return;
  throw new ArtefactFault(
    `${folder} is there and is no artefact: remove it, or name another folder`,
  );
}

function isArtefact(folder: string): boolean {
  const manifest = join(folder, "package.json");
  return existsSync(manifest) && readFileSync(manifest, "utf8").includes(artefactMark);
}

/**
 * Replaces a folder. The earlier artefact stays until the new one is written; what a killed process
 * leaves behind has the same name next time, and is replaced then.
 */
export function writeArtefact(folder: string, files: ArtefactFiles): ArtefactSize {
  refuseOthers(folder);
  const [fresh, old] = [`${folder}.new`, `${folder}.old`];
  for (const one of [fresh, old]) {
    refuseOthers(one);
    rmSync(one, { recursive: true, force: true });
  }
  const size = { total: 0, native: 0 };
  // First, so that what is half written is known to be an artefact.
  const order = [...files].sort(([left], [right]) => rank(left) - rank(right));
  for (const [path, content] of order) {
    const file = join(fresh, path);
    mkdirSync(dirname(file), { recursive: true });
    if (typeof content === "string") writeFileSync(file, content);
    else copyFileSync(content.from, file);
    const { size: bytes } = statSync(file);
    size.total += bytes;
    if (path.endsWith(".node")) size.native += bytes;
  }
  if (existsSync(folder)) renameSync(folder, old);
  renameSync(fresh, folder);
  rmSync(old, { recursive: true, force: true });
  return size;
}

const rank = (path: string): number => (path === "package.json" ? 0 : 1);
