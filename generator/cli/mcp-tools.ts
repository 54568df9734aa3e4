// Operations as tools of the Model Context Protocol: which are offered, their names, and what their
// list says about them.
import { createHash } from "node:crypto";
import { isReading, repeatsOf } from "../print/client-operation.js";
import { bundleSchemas } from "../compile/checked-schemas.js";
import { withoutFormer } from "../load/former-names.js";
import {
  alternativesOf,
  mapSchema,
  propertiesOf,
  referredType,
  requiredOf,
  type JsonSchema,
  type SchemaObject,
} from "../model/json-schema.js";
import type { InputModel, OperationModel, RegistryModel } from "../model/registry.js";
import { UsageError } from "./io.js";

/** Tools by their names. */
export type Tools = ReadonlyMap<string, OperationModel>;

const maxNameLength = 64;

/**
 * The name of an operation's tool, at most 64 letters, digits, `_` and `-`: `tasks.list` →
 * `tasks-list`. Keys have no `-`, so names are unique; a name that is too long ends with a hash.
 */
export function toolName(key: string): string {
  const name = key.replace(".", "-");
  if (name.length <= maxNameLength) return name;
  const hash = createHash("sha256").update(key).digest("hex").slice(0, 8);
  return `${name.slice(0, maxNameLength - hash.length - 2)}--${hash}`;
}

/**
 * Operations that are tools: those that have a route, speak JSON, and don't take or return
 * credentials; only reading ones, unless writes are allowed; with patterns, only those that one of
 * them matches. Throws `UsageError` for a pattern that matches none.
 */
export function toolsOf(
  model: RegistryModel,
  {
    allowWrites,
    patterns,
  }: { readonly allowWrites: boolean; readonly patterns?: readonly string[] },
): Tools {
  const callable = Object.values(model.operations).filter(
    (operation) => operation.route !== null && operation.isTool,
  );
  const offered = callable.filter((operation) => allowWrites || isReading(operation));
  const chosen = patterns?.map((pattern) => {
    const names = (operation: OperationModel): boolean => matches(pattern, operation.key);
    if (offered.some(names)) return names;
    throw new UsageError(
      callable.some(names)
        ? `--tools ${pattern} only names operations that change something: add --allow-writes`
        : `--tools ${pattern} names no operation that is a tool`,
    );
  });
  return new Map(
    offered
      .filter((operation) => chosen === undefined || chosen.some((names) => names(operation)))
      .map((operation) => [toolName(operation.key), operation]),
  );
}

/** Whether a key matches a pattern, in which `*` stands for any characters. */
function matches(pattern: string, key: string): boolean {
  const parts = pattern.split("*").map((part) => part.replaceAll(/[^\w]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join(".*")}$`).test(key);
}

/** The bytes that a list of tools should have at most: models read it again and again. */
const maxListBytes = 20_000;

/**
 * What the list says about arguments: their types, formats and values; their types; the names of
 * all of them, or of those that are needed.
 */
const details = ["values", "types", "names", "needed"] as const;

export type ListDetail = (typeof details)[number];

/**
 * The list of tools, with as much detail as fits into 20 KB; `others` are in it as well. `describe`
 * has the rest.
 */
export function toolList(tools: Tools, model: RegistryModel, others: readonly object[]) {
  const listOf = (detail: ListDetail) =>
    [...tools].map(([name, operation]) => listedTool(name, operation, model, detail));
  const sizeOf = (list: readonly object[]): number =>
    Buffer.byteLength(JSON.stringify({ tools: [...others, ...list] }));
  const detail = details.find((one) => sizeOf(listOf(one)) <= maxListBytes) ?? "needed";
  return { detail, tools: listOf(detail) };
}

function listedTool(
  name: string,
  operation: OperationModel,
  model: RegistryModel,
  detail: ListDetail,
) {
  const { summary, description, input, effect } = operation;
  // Only hints that differ from the protocol's defaults.
  const annotations = isReading(operation)
    ? { readOnlyHint: true }
    : {
        // Every write may destroy something, except those that only add.
        ...(effect === "adds" ? { destructiveHint: false } : {}),
        // Not idempotent even with keys, because each call sends a new key.
        ...(repeatsOf(operation) === "safe" ? { idempotentHint: true } : {}),
      };
  return {
    name,
    description: description ?? summary,
    inputSchema: { ...outlineOf(input, model, detail), type: "object" as const },
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  };
}

/** Everything about a tool: its complete schemas, each with the types that it refers to. */
export function describedTool(name: string, operation: OperationModel, model: RegistryModel) {
  const { key, summary, description, input, output } = operation;
  const told = (schema: JsonSchema): JsonSchema =>
    mapSchema(bundleSchemas(schema, model), withoutFormer);
  return {
    name,
    operation: key,
    description: description ?? summary,
    inputSchema: told(input.schema),
    ...(output.schema === null ? {} : { outputSchema: told(output.schema) }),
  };
}

/** Of longer enumerations, only the type is shown. */
const maxValues = 20;

/**
 * The shape of an input: its members, and which of them are needed; of each its type, its values,
 * and the members of the one that is the body, as far as the detail goes. Filters, sorts,
 * aggregates and other objects are shown as objects only.
 */
function outlineOf(
  { schema, body }: InputModel,
  model: RegistryModel,
  detail: ListDetail,
): SchemaObject {
  const part = typeof body?.as === "object" ? body.as.member : undefined;
  const membersOf = (whole: JsonSchema): SchemaObject => {
    const required = requiredOf(whole);
    const members = Object.entries(propertiesOf(whole))
      .filter(([name]) => detail !== "needed" || required.includes(name))
      .map(([name, member]) => {
        const value = resolveSchema(member, model);
        const shown = name === part && ["values", "types"].includes(detail);
        return [
          name,
          { ...valueOf(value, model, detail), ...(shown ? membersOf(value) : {}) },
        ] as const;
      });
    return {
      ...(members.length === 0 ? {} : { properties: Object.fromEntries(members) }),
      ...(required.length === 0 ? {} : { required }),
    };
  };
  return membersOf(resolveSchema(schema, model));
}

/** The type of a value, its format, and its values where there are few. */
function valueOf(schema: JsonSchema, model: RegistryModel, detail: ListDetail): SchemaObject {
  if (typeof schema === "boolean" || detail === "names" || detail === "needed") return {};
  const { type, format, enum: values, items } = schema;
  const options = alternativesOf(schema);
  if (options.length > 0) {
    const types = options.map(
      (option) => valueOf(resolveSchema(option, model), model, detail)["type"],
    );
    if (types.includes(undefined)) return {};
    const [first, ...others] = new Set(types.flat());
    return { type: others.length === 0 ? first : [first, ...others] };
  }
  const all = detail === "values";
  const few = all && Array.isArray(values) && values.length <= maxValues;
  return {
    ...(type === undefined ? {} : { type }),
    ...(format === undefined || !all ? {} : { format }),
    ...(few ? { enum: values } : {}),
    ...(items === undefined || !all
      ? {}
      : { items: valueOf(resolveSchema(items as JsonSchema, model), model, detail) }),
  };
}

/** The schema behind references. */
function resolveSchema(schema: JsonSchema, model: RegistryModel): JsonSchema {
  let found = schema;
  const met = new Set<string>();
  for (let type = referredType(found); type !== undefined; type = referredType(found)) {
    if (met.has(type)) return true;
    met.add(type);
    found = model.types[type] ?? true;
  }
  return found;
}
