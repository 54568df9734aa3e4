// What the author's modules export, read from their syntax (ts-morph's TypeScript; loaded only where a file is new).
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

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

type Cache = Record<string, { readonly hash: string; readonly facts: ModuleFacts }>;

/** Facts of modules by path, null where there is no such file. Files that have not changed are not read again. */
export async function readAuthorModules(
  project: string,
  files: Iterable<string>,
  version: string,
): Promise<ReadonlyMap<string, ModuleFacts | null>> {
  const cachePath = join(project, "node_modules", ".cache", "opwright", "modules.json");
  const cache = readCache(cachePath, version);
  const fresh: Cache = {};
  let isNew = false;
  const facts = new Map<string, ModuleFacts | null>();
  for (const file of [...new Set(files)].sort()) {
    const path = join(project, file);
    if (!existsSync(path)) {
      facts.set(file, null);
      continue;
    }
    const text = readFileSync(path, "utf8");
    const hash = createHash("sha256").update(text).digest("base64url");
    const known = cache[file];
    const read = known?.hash === hash ? known.facts : await readModule(file, text);
    isNew ||= known?.hash !== hash;
    fresh[file] = { hash, facts: read };
    facts.set(file, read);
  }
  if (isNew && existsSync(join(project, "node_modules"))) {
    mkdirSync(dirname(cachePath), { recursive: true });
    writeFileSync(cachePath, JSON.stringify({ version, modules: fresh }));
  }
  return facts;
}

async function readModule(file: string, text: string): Promise<ModuleFacts> {
  const { readExports } = await import("./module-exports.js");
  return readExports(file, text);
}

function readCache(path: string, version: string): Cache {
  try {
    const cache = JSON.parse(readFileSync(path, "utf8")) as {
      readonly version?: unknown;
      readonly modules?: Cache;
    };
    return cache.version === version ? (cache.modules ?? {}) : {};
  } catch {
    return {};
  }
}
