// What is in the folder of a backup beside the copied files: what it is, and the hash of each file.
import { readFileSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "../../engines/disk-faults.js";
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

/** The facts are a few lines. */
const mostFactsBytes = 64 * 1024;

/** Throws `core.validation` if the folder is no backup. */
export function readFacts(folder: string): Facts {
  const facts = parse(readText(folder, factsName, mostFactsBytes)) as Partial<Facts> | null;
  if (facts?.format !== 1 || ![facts.service, facts.version, facts.begunAt].every(isLine))
    throw refuse("core.validation", `${folder} is no backup: its ${factsName} is not ours`);
  return facts as Facts;
}

/** Whether it is a text that can be printed in a line. */
function isLine(value: unknown): boolean {
  return typeof value === "string" && /^[^\p{Cc}]{1,200}$/u.test(value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The hash of each file by its path, as `sha256sum` writes it. */
export function readSums(folder: string): ReadonlyMap<string, string> {
  const lines = readText(folder, sumsName, Infinity).split(/\r?\n/);
  return new Map(
    lines.filter((line) => line !== "").map((line) => [line.slice(66), line.slice(0, 64)]),
  );
}

function readText(folder: string, name: string, mostBytes: number): string {
  const path = join(folder, name);
  try {
    const found = statSync(path);
    // Reading a pipe would wait for who writes to it.
    return found.isFile() && found.size <= mostBytes ? readFileSync(path, "utf8") : "";
  } catch (error) {
    if (!hasCode(error, "ENOENT") && !hasCode(error, "ENOTDIR")) throw error;
    throw refuse("core.validation", `${folder} is no backup: ${name} is not there`);
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: privateFile, flush: true });
}
