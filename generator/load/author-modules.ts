// What the author's modules export.
import { lexicalExports } from "./lexical-exports.js";
import type { ModuleFacts } from "./module-facts.js";
import { readProjectText } from "./project-file.js";

/**
 * Facts of the modules that `mentioned` names, null if there is no such file, and why where it
 * is not read. A module is read by a compiler only where its text alone does not tell of every
 * mentioned name.
 */
export async function readAuthorModules(
  project: string,
  mentioned: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<ReadonlyMap<string, ModuleFacts | string | null>> {
  const facts = new Map<string, ModuleFacts | string | null>();
  for (const [file, names] of mentioned) {
    const read = readProjectText(project, file);
    if (read.kind === "text") facts.set(file, await readModule(file, read.text, names));
    else facts.set(file, read.kind === "refused" ? read.why : null);
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
  const floating = mayFloat.test(text)
    ? (await import("./floating-calls.js")).floatingCalls(file, text)
    : [];
  if ([...names].every((name) => known.has(name)))
    return { exports: told, isOpen: false, floating };
  const { readExports } = await import("./module-exports.js");
  return { ...readExports(file, text), floating };
}

/**
 * Where a statement may begin that starts a call and doesn't await it. Loading a compiler costs
 * half a second, so it is only asked about modules that have such a place.
 */
const mayFloat =
  /(?:^|[{};]|=>|\bvoid\b)[ \t]*(?:(?:stageEvent|stageSignal|enqueue|cancelJob|createPrincipal|issueSession|signIn|collection|objects)[ \t]*\(|[\w$]+\.(?:get|find|create|createMany|update|updateMany|upsert|delete|deleteMany|restore|kill|revert|put|copy|move|updateMetadata|commit)[ \t]*\()|\.forEach\([ \t]*async\b/m;
