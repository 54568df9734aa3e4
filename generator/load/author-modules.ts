// What the author's modules export.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { lexicalExports } from "./lexical-exports.js";
import type { ModuleFacts } from "./module-facts.js";

/**
 * Facts of the modules that `mentioned` names, null where there is no such file. A module is read by a compiler only
 * where its text alone does not tell of every mentioned name.
 */
export async function readAuthorModules(
  project: string,
  mentioned: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<ReadonlyMap<string, ModuleFacts | null>> {
  const facts = new Map<string, ModuleFacts | null>();
  for (const [file, names] of mentioned) {
    const path = join(project, file);
    facts.set(
      file,
      existsSync(path) ? await readModule(file, readFileSync(path, "utf8"), names) : null,
    );
  }
  return facts;
}

async function readModule(
  file: string,
  text: string,
  names: ReadonlySet<string>,
): Promise<ModuleFacts> {
  const told = lexicalExports(text);
  const known = new Set(told.map(({ name }) => name));
  if ([...names].every((name) => known.has(name))) return { exports: told, isOpen: false };
  const { readExports } = await import("./module-exports.js");
  return readExports(file, text);
}
