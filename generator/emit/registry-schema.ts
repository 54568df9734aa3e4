// registry.schema.json: the registry format with the names that exist now, for editors
// (registry.md, rule 8). Every node says what it is, and has an example.
import type { RegistryNames } from "../load/registry-names.js";
import { registryShape } from "../expand/registry-shape.js";
import { exampleOf, exampleOfMember } from "../load/examples.js";
import { describe, membersOf, type FormatShape, type Member } from "../load/shape.js";
import { shorthandScalars } from "../load/shorthand.js";
import { freeName } from "../print/printed-names.js";
import { documentFile, type EmittedFile } from "../print/file.js";

type Schema = Readonly<Record<string, unknown>>;

/** The schema of a registry file. `names` become enumerations, which editors complete. */
export function emitRegistrySchema(names: RegistryNames): EmittedFile {
  const { properties, ...schema } = shapeSchema(registryShape, names);
  return documentFile("registry.schema.json", {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "An opwright registry file",
    ...schema,
    description: "One of the files of a registry, which are read together.",
    examples: [{ registry: 1, ...(exampleOf(registryShape, names) as object) }],
    // A file may hold any sections; only their union needs a service.
    required: ["registry"],
    properties: {
      registry: { const: 1, description: "The version of the registry format.", examples: [1] },
      ...(properties as object),
    },
    $defs: Object.fromEntries(
      [...shared].map(([shape, name]) => [name, wholeSchema(shape, names)]),
    ),
  });
}

/** Shapes that stand in several places, by their names: their schemas are said once. */
const shared: ReadonlyMap<FormatShape, string> = sharedShapes();

function sharedShapes(): ReadonlyMap<FormatShape, string> {
  const met = new Map<FormatShape, { readonly name: string; isShared: boolean }>();
  const meet = (shape: FormatShape, name: string): void => {
    const inner = innerShapes(shape, name);
    if (inner.length === 0) return;
    const known = met.get(shape);
    if (known !== undefined) known.isShared = true;
    else {
      met.set(shape, { name, isShared: false });
      for (const [of, called] of inner) meet(of, called);
    }
  };
  meet(registryShape, "registry");
  const found = new Map<FormatShape, string>();
  const taken = new Set<string>();
  for (const [shape, { name, isShared }] of met) {
    if (!isShared) continue;
    const free = freeName(name, (one) => taken.has(one));
    taken.add(free);
    found.set(shape, free);
  }
  return found;
}

/** What a shape consists of, each part with what it could be called. */
function innerShapes(
  shape: FormatShape,
  name: string,
): readonly (readonly [FormatShape, string])[] {
  switch (shape.kind) {
    case "object":
      return Object.entries(shape.members).map(([key, member]) => [member.shape, key]);
    case "choice":
      return Object.entries(membersOf(shape)).map(([key, member]) => [member.shape, key]);
    case "either":
      return shape.of.map((one) => [one, name]);
    case "map":
    case "list":
      return [[shape.of, name]];
    default:
      return [];
  }
}

/** The schema of a shape, with a description and an example. */
function shapeSchema(shape: FormatShape, names: RegistryNames): Schema {
  const name = shared.get(shape);
  return name === undefined
    ? wholeSchema(shape, names)
    : wholeSchema(shape, names, { $ref: `#/$defs/${name}` });
}

/** The schema of a shape, by its keywords or what stands for them. */
function wholeSchema(
  shape: FormatShape,
  names: RegistryNames,
  keywords = keywordsOf(shape, names),
): Schema {
  return {
    ...keywords,
    description: describe(shape),
    ...examples(proposeExamples(shape, names) ?? [exampleOf(shape, names)]),
  };
}

/** What an editor proposes, where it is more than an example. */
function proposeExamples(shape: FormatShape, names: RegistryNames): readonly unknown[] | undefined {
  // A hook may also be a reference, so its names are only proposed.
  const isHook = shape.kind === "string" && shape.names === "hook" && shape.pattern === undefined;
  if (isHook && names.hooks.length > 0) return names.hooks;
  const isType = shape.kind === "any" && typeof shape.example === "object";
  return isType ? [...shorthandScalars, ...names.types, shape.example] : undefined;
}

function memberSchema(member: Member, names: RegistryNames): Schema {
  const schema = shapeSchema(member.shape, names);
  const { example, description } = member;
  const others =
    proposeExamples(member.shape, names) === undefined ? [] : (schema["examples"] as unknown[]);
  return {
    ...schema,
    description,
    ...(example === undefined ? {} : examples([example, ...others])),
  };
}

function examples(all: readonly unknown[]): Schema {
  const said = all.filter((example) => example !== undefined);
  return said.length === 0 ? {} : { examples: said };
}

function keywordsOf(shape: FormatShape, names: RegistryNames): Schema {
  switch (shape.kind) {
    case "string":
      return {
        type: "string",
        ...(shape.pattern === undefined ? {} : { pattern: shape.pattern.source }),
      };
    case "boolean":
      return { type: "boolean" };
    case "integer":
      return {
        type: "integer",
        minimum: shape.minimum,
        ...(shape.maximum === undefined ? {} : { maximum: shape.maximum }),
      };
    case "number":
      return { type: "number", minimum: shape.minimum, maximum: shape.maximum };
    case "constant":
      return { const: shape.value };
    case "oneOf":
      return { enum: shape.values };
    case "name":
      // An enumeration of nothing would refuse the first one.
      return names[shape.of].length === 0 ? { type: "string" } : { enum: names[shape.of] };
    case "list":
      return { type: "array", items: shapeSchema(shape.of, names), minItems: shape.minItems ?? 0 };
    case "map":
      return {
        type: "object",
        propertyNames: {
          pattern: shape.key.source,
          description: shape.keyIs,
          ...examples([shape.keyExample]),
        },
        additionalProperties: shapeSchema(shape.of, names),
      };
    case "either":
      return { anyOf: shape.of.map((option) => shapeSchema(option, names)) };
    case "any":
      return {};
    case "choice":
      return choiceKeywords(shape, names);
    case "object":
      return objectKeywords(shape, names);
  }
}

function choiceKeywords(
  shape: Extract<FormatShape, { kind: "choice" }>,
  names: RegistryNames,
): Schema {
  const object = objectKeywords({ kind: "object", members: membersOf(shape) }, names);
  if (shape.beside === undefined) return { ...object, minProperties: 1, maxProperties: 1 };
  return {
    ...object,
    oneOf: Object.entries(shape.members).map(([key, member]) => ({
      required: [key],
      description: member.description,
      ...examples([{ [key]: exampleOfMember(member, names) }]),
    })),
  };
}

function objectKeywords(
  shape: Extract<FormatShape, { kind: "object" }>,
  names: RegistryNames,
): Schema {
  const members = Object.entries(shape.members);
  const required = members.filter(([, { isRequired }]) => isRequired === true);
  const extension = { description: "Data of your own, which is carried along.", examples: [true] };
  return {
    type: "object",
    properties: Object.fromEntries(
      members.map(([key, member]) => [key, memberSchema(member, names)]),
    ),
    ...(required.length === 0 ? {} : { required: required.map(([key]) => key) }),
    ...(shape.hasExtensions === true ? { patternProperties: { "^x-": extension } } : {}),
    additionalProperties: false,
  };
}
