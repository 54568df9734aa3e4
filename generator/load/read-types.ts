// The types of a registry: the entries of `types:`, in one table.
import type { Report } from "../diagnostics/diagnostics.js";
import { typeNames } from "./registry-names.js";
import type { SourceTree } from "./source-tree.js";
import { TypeReader } from "./types.js";

/** Reads all entries of `types:`. */
export function readTypes(
  declared: Readonly<Record<string, unknown>>,
  tree: SourceTree,
  options: { readonly project: string; readonly folder: string; readonly report: Report },
): TypeReader {
  const reader = new TypeReader(typeNames(tree), Object.keys(tree.section("documents")), options);
  const entries = Object.entries(declared).map(([name, value]) => [
    name,
    { value, at: tree.at("types", name) },
  ]);
  reader.declare(Object.fromEntries(entries));
  return reader;
}
