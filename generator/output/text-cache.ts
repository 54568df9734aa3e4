// Texts that take long to make, by what they are made of; kept between runs below node_modules/.cache.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { own } from "../model/records.js";

/** Gives the text of a key, making it where it is not known. */
export interface TextCache {
  get(key: string, make: () => Promise<string>): Promise<string>;
}

/** A cache in one file. */
export interface FileTextCache extends TextCache {
  /** Writes the file where something was made, keeping only what this run used. */
  save(): void;
}

/** Whether an earlier run has kept something. */
export function hasTextCache(project: string, name: string): boolean {
  return existsSync(pathOf(project, name));
}

function pathOf(project: string, name: string): string {
  return join(project, "node_modules", ".cache", "opwright", `${name}.json`);
}

/** The cache of that name of a project; texts of another version are forgotten. */
export function fileTextCache(project: string, name: string, version: string): FileTextCache {
  const path = pathOf(project, name);
  const kept = readCache(path, version);
  const used: Record<string, string> = {};
  let isNew = false;
  return {
    async get(key, make) {
      const known = own(kept, key);
      if (known === undefined) isNew = true;
      const text = known ?? (await make());
      used[key] = text;
      return text;
    },
    save() {
      if (!isNew || !existsSync(join(project, "node_modules"))) return;
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, JSON.stringify({ version, texts: used }));
    },
  };
}

function readCache(path: string, version: string): Readonly<Record<string, string>> {
  try {
    const cache = JSON.parse(readFileSync(path, "utf8")) as {
      readonly version?: unknown;
      readonly texts?: Readonly<Record<string, string>>;
    };
    return cache.version === version ? (cache.texts ?? {}) : {};
  } catch {
    return {};
  }
}
