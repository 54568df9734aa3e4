// What the author's modules export.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { lexicalExports } from "./lexical-exports.js";

/** One export of a module. */
export interface ExportFacts {
  readonly name: string;
  /** A function with its number of required parameters, another value, or something only a compiler could tell. */
  readonly kind: "function" | "value" | "unknown";
  readonly requiredParameters: number;
  /** The name of the type that the export is declared with, where it is a plain name. */
  readonly annotation: string | null;
  /** Characters from the start of the file. */
  readonly offset: number;
}

export interface ModuleFacts {
  readonly exports: readonly ExportFacts[];
  /** Whether the module re-exports everything of another, so that a missing name proves nothing. */
  readonly isOpen: boolean;
}

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
