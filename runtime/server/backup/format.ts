// What is in the folder of a backup beside the copied files: what it is, and the hash of each file.
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { privateFile } from "../../engines/private-files.js";
import type { Hashes } from "./copied-tree.js";
import { refuse } from "./place.js";

export const databaseName = "service.db";
export const sumsName = "SHA256SUMS";
export const factsName = "backup.json";

/** What a backup says of itself. */
export interface Facts {
  readonly format: 1;
  readonly service: string;
  readonly version: string;
  /** When it was begun, RFC 3339. */
  readonly begunAt: string;
}

/** Writes both, the facts last. */
export async function writeFormat(folder: string, facts: Facts, hashes: Hashes): Promise<void> {
  const sums = [...hashes].map(([path, hash]) => `${hash}  ${path}\n`).join("");
  await writeDurably(join(folder, sumsName), sums);
  await writeDurably(join(folder, factsName), `${JSON.stringify(facts, null, 2)}\n`);
}

/** Throws `core.validation` if the folder is no backup. */
export function readFacts(folder: string): Facts {
  const path = join(folder, factsName);
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  try {
    const facts = JSON.parse(text) as Facts;
    if (facts.format === 1) return facts;
  } catch {
    // It is told below.
  }
  throw refuse("core.validation", `${folder} is no backup: ${factsName} is not there, or not ours`);
}

/** The hash of each file by its path, as `sha256sum` writes it. */
export function readSums(folder: string): ReadonlyMap<string, string> {
  const lines = readFileSync(join(folder, sumsName), "utf8").split("\n");
  return new Map(
    lines.filter((line) => line !== "").map((line) => [line.slice(66), line.slice(0, 64)]),
  );
}

async function writeDurably(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: privateFile, flush: true });
}
