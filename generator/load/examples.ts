// Examples of the registry's format: what a shape says itself, and what follows from its parts.
import type { RegistryNames } from "./registry-names.js";
import { membersOf, type FormatShape, type Member } from "./shape.js";

/** Names for registries that declare none yet. */
const usualNames = { policies: "staff", errors: "sold_out", namespaces: "tasks" } as const;

/**
 * A value that the shape accepts, with names that the registry has; undefined if nobody has said
 * one.
 */
export function exampleOf(shape: FormatShape, names: RegistryNames): unknown {
  switch (shape.kind) {
    case "string":
    case "any":
      return shape.example;
    case "boolean":
      return true;
    case "integer":
    case "number":
      return shape.minimum;
    case "constant":
      return shape.value;
    case "oneOf":
      return shape.values[0];
    case "name":
      return names[shape.of][0] ?? usualNames[shape.of];
    case "list": {
      const entry = exampleOf(shape.of, names);
      return entry === undefined ? undefined : [entry];
    }
    case "map": {
      const value = exampleOf(shape.of, names);
      const { keyExample } = shape;
      return value === undefined || keyExample === undefined ? undefined : { [keyExample]: value };
    }
    case "either":
      // What is not said otherwise is `false`: the others tell more.
      return exampleOf(
        shape.of.find((option) => option.kind !== "constant") ?? shape.of[0] ?? shape,
        names,
      );
    case "choice":
      return objectOf(Object.entries(shape.members).slice(0, 1), names);
    case "object":
      return objectOf(shownMembers(shape), names);
  }
}

/** The example of a member: its own, or that of its shape. */
export function exampleOfMember({ shape, example }: Member, names: RegistryNames): unknown {
  return example ?? exampleOf(shape, names);
}

/** Members that must be given, and those that say most; one where none must. */
function shownMembers(
  shape: Extract<FormatShape, { kind: "object" }>,
): readonly (readonly [string, Member])[] {
  const all = Object.entries(membersOf(shape));
  const shown = all.filter(
    ([key, { isRequired }]) => isRequired === true || shape.shown?.includes(key) === true,
  );
  return shown.length > 0 ? shown : all.slice(0, 1);
}

function objectOf(
  members: readonly (readonly [string, Member])[],
  names: RegistryNames,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    members.map(([key, member]) => [key, exampleOfMember(member, names)] as const),
  );
}
