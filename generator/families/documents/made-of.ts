// Which declared types documents are made of: their own, those that these extend, and the branches
// of unions.
import { isMap } from "../../load/shape.js";
import type { SourceTree } from "../../load/source-tree.js";

/** The names of declared types whose fields are stored. */
export function storedTypes(tree: SourceTree): ReadonlySet<string> {
  const types = tree.section("types");
  const stored = new Set<string>();
  const add = (said: unknown): void => {
    for (const name of namedBy(said)) {
      if (stored.has(name) || !Object.hasOwn(types, name)) continue;
      stored.add(name);
      add(types[name]);
    }
  };
  for (const document of Object.values(tree.section("documents")))
    if (isMap(document)) add(document["type"]);
  return stored;
}

/** The types that a type consists of. */
function namedBy(said: unknown): readonly string[] {
  if (typeof said === "string") return [said];
  if (!isMap(said)) return [];
  const { extends: base, $ref: other, oneOf, anyOf } = said;
  const branches = [oneOf, anyOf].flatMap((one) => (Array.isArray(one) ? one : []));
  return [
    ...(typeof base === "string" ? [base] : []),
    ...(typeof other === "string" ? [other.replace("#/types/", "")] : []),
    ...branches.flatMap(namedBy),
  ];
}
