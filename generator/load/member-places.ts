// Where members of a declared type are written: findings about a field point at it, however its
// type is said.
import type { Origin } from "../diagnostics/diagnostics.js";
import { isJsonSchema } from "./schema-keywords.js";
import { isMap } from "./shape.js";
import type { SourceTree } from "./source-tree.js";

type TreePath = readonly (string | number)[];

/**
 * Where a document's member is written, by its dotted path; `[]` steps stand for items. What it
 * stands in, if that is in a file of its own.
 */
export function documentMemberAt(tree: SourceTree, document: string, member: string): Origin {
  return memberAt(tree, ["documents", document, "type"], member);
}

/** The same of a type of `types:`. */
export function typeMemberAt(tree: SourceTree, type: string, member: string): Origin {
  return memberAt(tree, ["types", type], member);
}

function memberAt(tree: SourceTree, type: TreePath, member: string): Origin {
  const steps = member.replaceAll("[]", ".[]").split(".");
  let path = type;
  for (const step of steps) {
    const next = stepInto(tree, path, step);
    if (next === null) break;
    path = next;
  }
  // A type that is no place of its own is the document's.
  return tree.keyAt(...(path === type && type[0] === "documents" ? type.slice(0, 2) : path));
}

/**
 * The path of a member, or of an array's items, of what stands at a path; null if it is not
 * written there.
 */
function stepInto(tree: SourceTree, at: TreePath, step: string): TreePath | null {
  const [path, value] = followReference(tree, at);
  const schema = isMap(value) && isJsonSchema(value) ? value : null;
  // Items of what a shorthand says stand where it does.
  if (step === "[]") return schema !== null && "items" in schema ? [...path, "items"] : path;
  const fields = schema === null ? value : schema["properties"];
  if (!isMap(fields) || !Object.hasOwn(fields, step)) return null;
  return schema === null ? [...path, step] : [...path, "properties", step];
}

/** What stands at a path, and where it is written, if it names a type. */
function followReference(tree: SourceTree, path: TreePath): readonly [TreePath, unknown] {
  const value = valueAt(tree.root, path);
  const text = isMap(value) ? value["$ref"] : value;
  const name = typeof text === "string" ? /^(?:#\/types\/)?([A-Z]\w*)/.exec(text)?.[1] : undefined;
  return name === undefined
    ? [path, value]
    : [["types", name], valueAt(tree.root, ["types", name])];
}

function valueAt(root: unknown, path: TreePath): unknown {
  return path.reduce<unknown>(
    (value, step) => (isMap(value) ? value[String(step)] : undefined),
    root,
  );
}
