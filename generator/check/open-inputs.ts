// Inputs that accept undeclared members, which a handler may then pass on unchecked.
import type { OperationModel, RegistryModel } from "../model/registry.js";
import {
  propertiesOf,
  referredType,
  type JsonSchema,
  type SchemaObject,
} from "../model/json-schema.js";
import { pointer } from "../../runtime/contract/json-pointer.js";
import type { RuleContext } from "../kernel/rule.js";

/** Warns of operations of the author's own whose input leaves open what its objects may hold. */
export function inputsAreClosed({ expanded, loaded, report }: RuleContext): void {
  for (const operation of Object.values(expanded.model.operations)) {
    // An object can't travel in the URL, which is another finding.
    if (operation.input.body === null) continue;
    const open = openPlace(operation, expanded.model);
    if (open === undefined) continue;
    const what = open === "" ? "its input" : `${open} of its input`;
    report({
      code: "OPW049",
      message: `${operation.key} takes members that it does not declare: ${what} is an open object`,
      at: loaded.tree.at("operations", operation.key, "in"),
    });
  }
}

function openPlace(
  { declares, input }: OperationModel,
  { types }: RegistryModel,
): string | undefined {
  if (declares !== "handler") return undefined;
  const met = new Set<string>();
  const within = (schema: JsonSchema, path: string): string | undefined => {
    if (typeof schema === "boolean") return undefined;
    if (isOpen(schema)) return path;
    const name = referredType(schema);
    if (name !== undefined && !met.has(name)) {
      met.add(name);
      const found = within(types[name] ?? true, path);
      if (found !== undefined) return found;
    }
    return first(partsOf(schema, path), ([part, at]) => within(part, at));
  };
  return within(input.schema, "");
}

/**
 * An object without `additionalProperties`. Parts of an `allOf` don't count, since another part may
 * need to be open.
 */
function isOpen(schema: SchemaObject): boolean {
  const types: readonly unknown[] = [schema["type"]].flat();
  const says = ["additionalProperties", "patternProperties", "allOf", "enum", "const"];
  return types.includes("object") && !says.some((keyword) => keyword in schema);
}

/** The schemas of the parts of a value, with their places. */
function partsOf(schema: SchemaObject, path: string): readonly (readonly [JsonSchema, string])[] {
  const list = (keyword: string): readonly JsonSchema[] =>
    (schema[keyword] ?? []) as readonly JsonSchema[];
  const one = (keyword: string): readonly JsonSchema[] =>
    keyword in schema ? [schema[keyword] as JsonSchema] : [];
  return [
    ...Object.entries(propertiesOf(schema)).map(
      ([name, part]) => [part, pointer(path, name)] as const,
    ),
    ...[...list("prefixItems"), ...one("items"), ...one("additionalProperties")].map(
      (part) => [part, `${path}/*`] as const,
    ),
    ...[...list("anyOf"), ...list("oneOf")].map((part) => [part, path] as const),
  ];
}

function first<From, To>(
  items: readonly From[],
  find: (item: From) => To | undefined,
): To | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
