// Steps of a build that are done once: a stamp holds the digest of what a step was made from, and of what it made.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Makes folders unless they were made from the same inputs (files and folders of the repository) and are as they were then.
 * What is made in full also serves where less is wanted.
 */
export function makeOnce(root, { step, inputs, outputs, isFull = true }, make) {
  const path = join(root, "dist", ".stamps", step);
  const contents = digestOf(root, inputs, contentDigestOf);
  const stampOf = (extent) => `${extent} ${contents} ${digestOf(root, outputs, changeOf)}`;
  const stamp = textOf(path);
  if (stamp !== undefined && (stamp === stampOf("full") || (!isFull && stamp === stampOf("part"))))
    return;
  rmSync(path, { force: true });
  make();
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, stampOf(isFull ? "full" : "part"));
}

function digestOf(root, folders, factOf) {
  const hash = createHash("sha256");
  for (const path of folders.flatMap((folder) => filesOf(root, folder))) {
    const fact = factOf(join(root, path));
    if (fact !== undefined) hash.update(`${path}\0${fact.length}\0`).update(fact);
  }
  return hash.digest("base64url");
}

function filesOf(root, path) {
  if (statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() !== true) return [path];
  return readdirSync(join(root, path))
    .sort()
    .flatMap((name) => filesOf(root, `${path}/${name}`));
}

/** Steps share inputs; each file is read once while it stays as it is. */
const known = new Map();

function contentDigestOf(path) {
  const change = changeOf(path);
  if (change === undefined) return undefined;
  if (known.get(path)?.change !== change) {
    const digest = createHash("sha256").update(readFileSync(path)).digest("base64url");
    known.set(path, { change, digest });
  }
  return known.get(path).digest;
}

function changeOf(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && `${stat.mtimeMs} ${stat.size}`;
}

function textOf(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
