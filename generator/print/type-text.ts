// JSON Schema → TypeScript types. Every value that the schema accepts is a value of the type.
import { deprecationOfSchema } from "../load/deprecations.js";
import { deprecationTag } from "../model/deprecation.js";
import { propertiesOf, referredType, requiredOf, type JsonSchema } from "../model/json-schema.js";
import { docComment, propertyKey, width } from "./layout.js";

const declarations = new WeakMap<object, Map<string, string>>();

/**
 * The declaration of a named type: an interface for a plain object, else an alias. Printed once,
 * though several modules have it.
 */
export function typeDeclaration(name: string, schema: JsonSchema): string {
  if (typeof schema === "boolean") return printDeclaration(name, schema);
  const known = declarations.get(schema) ?? new Map<string, string>();
  declarations.set(schema, known);
  const text = known.get(name) ?? printDeclaration(name, schema);
  known.set(name, text);
  return text;
}

/** Stands for bytes that have been read into memory; only types are printed of it. */
export const bytesInMemory = { type: "string", format: "bytes" } as const satisfies JsonSchema;

function printDeclaration(name: string, schema: JsonSchema): string {
  const comment = commentOf("", schema);
  const members = isPlainObject(schema) ? memberLines(schema, "  ") : undefined;
  if (members !== undefined) {
    const body = members.length === 0 ? "{}" : `{\n${members.join("\n")}\n}`;
    return `${comment}export interface ${name} ${body}`;
  }
  const options = alternatives(schema, "");
  const text = joinTypes(options, " | ");
  const line = `export type ${name} = ${text};`;
  return `${comment}${breaks(options, line) ? `export type ${name} =${brokenUnion(schema, "", text)};` : line}`;
}

/**
 * The declaration of an interface that has the members of another, and says more of some of them.
 */
export function extendingDeclaration(
  name: string,
  base: string,
  schema: Exclude<JsonSchema, boolean>,
): string {
  return `export interface ${name} extends ${base} {\n${memberLines(schema, "  ").join("\n")}\n}`;
}

/**
 * Whether a union stands with one alternative a line: where it is too wide, or has an object beside
 * more than null.
 */
function breaks(parts: readonly string[], line: string): boolean {
  if (!line.includes("\n")) return line.length > width;
  const options = parts.filter((option) => option !== "null");
  return options.length > 1 && options.some((option) => option.startsWith("{\n"));
}

/** Keywords that say what a value is beside its `type`. */
const joining = ["$ref", "allOf", "anyOf", "oneOf", "enum", "const"];

/** The types of which a value has one, as they stand after `indent`. */
function alternatives(schema: JsonSchema, indent: string): readonly string[] {
  if (schema === true) return ["unknown"];
  if (schema === false) return ["never"];
  // The common case: one type, and nothing that joins others with it.
  if (typeof schema["type"] === "string" && !joining.some((keyword) => keyword in schema))
    return [namedType(schema["type"], schema, indent)];
  const name = referredType(schema);
  const parts: (readonly string[])[] = [];
  if (name !== undefined) parts.push([name]);
  if (schema["const"] !== undefined || "const" in schema)
    parts.push([literalType(schema["const"])]);
  if (Array.isArray(schema["enum"]))
    parts.push(schema["enum"].length === 0 ? ["never"] : schema["enum"].map(literalType));
  for (const keyword of ["anyOf", "oneOf"]) {
    const options = schema[keyword];
    if (Array.isArray(options))
      parts.push(
        unique(
          withoutOthers(options as JsonSchema[]).flatMap((option) => alternatives(option, indent)),
        ),
      );
  }
  if (Array.isArray(schema["allOf"])) {
    parts.push(...(schema["allOf"] as JsonSchema[]).map((part) => alternatives(part, indent)));
  }
  const own = "const" in schema || "enum" in schema ? [] : ownType(schema, indent);
  if (own.length > 0) parts.push(own);
  const telling = parts.filter((part) => !part.includes("unknown"));
  const [first, ...others] = telling;
  if (first === undefined) return ["unknown"];
  if (others.length === 0) return unique(first);
  return [
    telling
      .map((part) => (part.length === 1 ? (part[0] ?? "") : `(${part.join(" | ")})`))
      .join(" & "),
  ];
}

/**
 * Closed objects of one union, each without the members that only others have: TypeScript would
 * take them together, as far as any alternative has them.
 */
function withoutOthers(options: readonly JsonSchema[]): readonly JsonSchema[] {
  const closed = options.filter(isClosedObject);
  const names = new Set(closed.flatMap((option) => Object.keys(propertiesOf(option))));
  return options.map((option) => {
    if (!isClosedObject(option)) return option;
    const own = propertiesOf(option);
    const others = [...names].filter((name) => !Object.hasOwn(own, name));
    const never = Object.fromEntries(others.map((name) => [name, false]));
    return { ...option, properties: { ...own, ...never } };
  });
}

function isClosedObject(schema: JsonSchema): schema is Exclude<JsonSchema, boolean> {
  return (
    isPlainObject(schema) &&
    schema["additionalProperties"] === false &&
    !("patternProperties" in schema) &&
    requiredOf(schema).every((name) => Object.hasOwn(propertiesOf(schema), name))
  );
}

function ownType(schema: Exclude<JsonSchema, boolean>, indent: string): readonly string[] {
  const { type } = schema;
  if (type === undefined) return [];
  const names = Array.isArray(type) ? (type as string[]) : [type as string];
  return unique(names.map((name) => namedType(name, schema, indent)));
}

function namedType(name: string, schema: Exclude<JsonSchema, boolean>, indent: string): string {
  switch (name) {
    case "integer":
    case "number":
      return "number";
    case "array":
      return arrayType(schema, indent);
    case "object":
      return objectType(schema, indent);
    case "string":
      // What travels as a file of a form, or as a body of bytes.
      if (schema === bytesInMemory) return "Buffer";
      return schema["format"] === "binary" ? "Blob" : name;
    default:
      return name;
  }
}

function arrayType(schema: Exclude<JsonSchema, boolean>, indent: string): string {
  const prefix = (schema["prefixItems"] ?? []) as JsonSchema[];
  const rest = (schema["items"] ?? true) as JsonSchema;
  const options = unique([...prefix, rest].flatMap((item) => alternatives(item, indent)));
  if (options.includes("unknown")) return "readonly unknown[]";
  const text = options.join(" | ");
  const others = options.filter((option) => option !== "null");
  if (others.length > 1 && others.some((option) => option.startsWith("{\n"))) {
    const broken = unique([...prefix, rest].flatMap((item) => alternatives(item, `${indent}    `)));
    return `readonly (${broken.map((option) => `\n${indent}  | ${option}`).join("")}\n${indent})[]`;
  }
  const isPlain = options.length === 1 && !text.startsWith("readonly ") && !text.includes(" & ");
  return isPlain ? `readonly ${text}[]` : `readonly (${text})[]`;
}

function objectType(schema: Exclude<JsonSchema, boolean>, indent: string): string {
  const lines = memberLines(schema, `${indent}  `);
  return lines.length === 0
    ? "{ readonly [name: string]: never }"
    : `{\n${lines.join("\n")}\n${indent}}`;
}

function memberLines(schema: Exclude<JsonSchema, boolean>, indent: string): readonly string[] {
  const properties = propertiesOf(schema);
  const required = requiredOf(schema);
  const names = [
    ...Object.keys(properties),
    ...required.filter((name) => !Object.hasOwn(properties, name)),
  ];
  const lines = names.map((name) =>
    memberLine(name, properties[name] ?? true, required.includes(name), indent),
  );
  const others = (schema["additionalProperties"] ?? true) as JsonSchema;
  if (others !== false || "patternProperties" in schema) {
    // Beside declared members an index would have to hold them as well.
    const isMap = names.length === 0 && !("patternProperties" in schema);
    lines.push(keyedLine("readonly [key: string]:", isMap ? others : true, indent));
  }
  return lines;
}

function memberLine(name: string, schema: JsonSchema, isRequired: boolean, indent: string): string {
  const key = `readonly ${propertyKey(name)}${isRequired ? "" : "?"}:`;
  return `${commentOf(indent, schema)}${keyedLine(key, schema, indent)}`;
}

function keyedLine(key: string, schema: JsonSchema, indent: string): string {
  const options = alternatives(schema, indent);
  const text = joinTypes(options, " | ");
  const line = `${indent}${key} ${text};`;
  return breaks(options, line) ? `${indent}${key}${brokenUnion(schema, indent, text)};` : line;
}

/** A union with one alternative a line. */
function brokenUnion(schema: JsonSchema, indent: string, text: string): string {
  const options = alternatives(schema, `${indent}    `);
  if (options.length < 2) return ` ${text}`;
  return options.map((option) => `\n${indent}  | ${option}`).join("");
}

function commentOf(indent: string, schema: JsonSchema): string {
  if (typeof schema === "boolean") return "";
  const { description, deprecated } = schema;
  const found = deprecationOfSchema(schema);
  const lines = [
    ...(typeof description === "string" ? [description] : []),
    ...(deprecated === true ? [found === null ? "@deprecated" : deprecationTag(found)] : []),
  ];
  return lines.length === 0 ? "" : `${docComment(indent, lines.join("\n"))}\n`;
}

function isPlainObject(schema: JsonSchema): schema is Exclude<JsonSchema, boolean> {
  return (
    typeof schema === "object" &&
    schema["type"] === "object" &&
    !joining.some((keyword) => keyword in schema)
  );
}

function literalType(value: unknown): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `readonly [${value.map(literalType).join(", ")}]`;
  const members = Object.entries(value).map(
    ([key, member]) => `readonly ${propertyKey(key)}: ${literalType(member)}`,
  );
  return members.length === 0 ? "{ readonly [name: string]: never }" : `{ ${members.join("; ")} }`;
}

function unique(texts: readonly string[]): readonly string[] {
  const kept = [...new Set(texts)];
  // null reads best at the end.
  return kept.includes("null") ? [...kept.filter((text) => text !== "null"), "null"] : kept;
}

function joinTypes(texts: readonly string[], separator: string): string {
  return texts.includes("unknown") ? "unknown" : texts.join(separator);
}
