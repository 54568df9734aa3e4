// Texts that took long to make, kept in a file below node_modules/.cache between runs.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TextCache } from "../compile/text-cache.js";
import { own } from "../model/records.js";

/** A cache in one file. */
export interface FileTextCache extends TextCache {
  /**
   * Writes the file if something was made, keeping only what this run used. Does nothing without
   * node_modules.
   */
  save(): void;
}

/** Whether an earlier run has saved a cache of this name. */
export function hasTextCache(project: string, name: string): boolean {
  return existsSync(pathOf(project, name));
}

function pathOf(project: string, name: string): string {
  return join(project, "node_modules", ".cache", "opwright", `${name}.json`);
}

/**
 * A project's cache of this name. Texts of another version, or of an unreadable file, are ignored.
 */
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
