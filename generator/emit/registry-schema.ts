// registry.schema.json: the registry format with the names that exist now, for editors (registry.md, rule 8).
import type { RegistryNames } from "../load/registry-names.js";
import { registryShape } from "../expand/registry-shape.js";
import { membersOf, type FormatShape } from "../load/shape.js";
import { shorthandScalars } from "../load/shorthand.js";
import { documentFile, type EmittedFile } from "../print/file.js";

/** The schema of a registry file. `names` become enumerations, which editors complete. */
export function emitRegistrySchema(names: RegistryNames): EmittedFile {
  const schema = shapeSchema(registryShape, names) as Record<string, unknown>;
  const { service: _required, ...properties } = schema["properties"] as Record<string, unknown>;
  return documentFile("registry.schema.json", {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "An opwright registry file",
    ...schema,
    // A file may hold any sections; only their union needs a service.
    required: ["registry"],
    properties: {
      registry: { const: 1, description: "The version of the registry format." },
      service: _required,
      ...properties,
    },
  });
}

function shapeSchema(shape: FormatShape, names: RegistryNames): unknown {
  switch (shape.kind) {
    case "string":
      return {
        type: "string",
        description: shape.what,
        ...(shape.pattern === undefined ? {} : { pattern: shape.pattern.source }),
        // A hook may also be a reference, so its names are only proposed.
        ...(shape.names === "hook" && names.hooks.length > 0 ? { examples: names.hooks } : {}),
      };
    case "boolean":
      return { type: "boolean" };
    case "integer":
      return {
        type: "integer",
        minimum: shape.minimum,
        ...(shape.maximum === undefined ? {} : { maximum: shape.maximum }),
      };
    case "constant":
      return { const: shape.value };
    case "oneOf":
      return { enum: shape.values };
    case "name":
      return { enum: names[shape.of] };
    case "list":
      return { type: "array", items: shapeSchema(shape.of, names), minItems: shape.minItems ?? 0 };
    case "map":
      return {
        type: "object",
        propertyNames: { pattern: shape.key.source },
        additionalProperties: shapeSchema(shape.of, names),
      };
    case "either":
      return { anyOf: shape.of.map((option) => shapeSchema(option, names)) };
    case "any":
      return { description: shape.what, examples: [...shorthandScalars, ...names.types] };
    case "choice": {
      const { members, beside } = shape;
      const object = shapeSchema({ kind: "object", members: membersOf(shape) }, names) as object;
      return beside === undefined
        ? { ...object, minProperties: 1, maxProperties: 1 }
        : { ...object, oneOf: Object.keys(members).map((key) => ({ required: [key] })) };
    }
    case "object": {
      const required = Object.entries(shape.members).filter(
        ([, member]) => member.isRequired === true,
      );
      return {
        type: "object",
        properties: Object.fromEntries(
          Object.entries(shape.members).map(([key, member]) => [
            key,
            { ...(shapeSchema(member.shape, names) as object), description: member.description },
          ]),
        ),
        ...(required.length === 0 ? {} : { required: required.map(([key]) => key) }),
        ...(shape.hasExtensions === true ? { patternProperties: { "^x-": {} } } : {}),
        additionalProperties: false,
      };
    }
  }
}
