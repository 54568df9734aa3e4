// The types that a schema refers to.
import type { JsonSchema } from "./json-schema.js";

const referred = new WeakMap<object, readonly string[]>();

/** Names of types that a schema refers to. Looked for once, though several modules ask. */
export function referredTypes(schema: JsonSchema): readonly string[] {
  if (typeof schema === "boolean") return [];
  const names = referred.get(schema) ?? findReferredTypes(schema);
  referred.set(schema, names);
  return names;
}

function findReferredTypes(schema: object): readonly string[] {
  const names = new Set<string>();
  const look = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const members = value as Readonly<Record<string, unknown>>;
    // This visits every part of every schema, so it does without the pairs that Object.entries
    // would allocate.
    for (const key of Object.keys(members)) {
      const member = members[key];
      if (key === "$ref" && typeof member === "string") names.add(member.slice("#/types/".length));
      else if (typeof member === "object") look(member);
    }
  };
  look(schema);
  return [...names].sort();
}
