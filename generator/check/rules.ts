// The third phase: rules over the whole registry. Each is a small function; all findings come at once.
import type { Origin, Report } from "../diagnostics.js";
import type { ExpandedRegistry } from "../families/expand.js";
import type { LoadedRegistry } from "../load/load.js";
import { propertiesOf, referredType, requiredOf, type JsonSchema } from "../model/json-schema.js";
import { isNullable } from "../model/json-schema.js";
import type { StorageSchema } from "../emit/storage-schema.js";
import { storageOf } from "../emit/storage-schema.js";

export interface RuleContext {
  readonly loaded: LoadedRegistry;
  readonly expanded: ExpandedRegistry;
  /** The storage after the last migration. */
  readonly storage: StorageSchema;
  readonly report: Report;
}

/** All rules that need nothing but the model. */
export const rules: readonly ((context: RuleContext) => void)[] = [
  routesCollide,
  typesAreFinite,
  storageCanFollow,
];

/** Two operations never answer the same method and path, whatever their placeholders are called. */
function routesCollide({ expanded, report }: RuleContext): void {
  const seen = new Map<string, string>();
  for (const operation of Object.values(expanded.model.operations)) {
    if (operation.route === null) continue;
    const { method, path } = operation.route;
    const shape = `${method} ${path.replaceAll(/\{[^}]*\}/g, "{}").replace(/(?<=.)\/$/, "")}`;
    const earlier = seen.get(shape);
    if (earlier === undefined) {
      seen.set(shape, operation.key);
      continue;
    }
    report({
      code: "OPW068",
      message: `${operation.key} and ${earlier} both answer ${method} ${path}`,
      at: originOf(expanded, operation.key),
      related: [{ message: `${earlier} is declared here`, at: originOf(expanded, earlier) }],
    });
  }
}

function originOf(expanded: ExpandedRegistry, key: string): Origin {
  return expanded.origins.get(key) ?? { file: "", path: [] };
}

/** No type contains itself with nothing in between. */
function typesAreFinite({ expanded, report }: RuleContext): void {
  const { types } = expanded.model;
  const reported = new Set<string>();
  for (const start of Object.keys(types)) {
    const path = cycleFrom(start, types);
    if (path === undefined || path.some((name) => reported.has(name))) continue;
    for (const name of path) reported.add(name);
    report({
      code: "OPW022",
      message: `${[...path, path[0] ?? ""].join(" → ")} never ends`,
      at: expanded.types.origins.get(start) ?? { file: "", path: [] },
    });
  }
}

function cycleFrom(
  start: string,
  types: Readonly<Record<string, JsonSchema>>,
): readonly string[] | undefined {
  const walk = (name: string, trail: readonly string[]): readonly string[] | undefined => {
    if (trail.includes(name)) return name === start ? trail : undefined;
    for (const next of mustContain(types[name] ?? true)) {
      const found = walk(next, [...trail, name]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return walk(start, []);
}

/** Types that every value of the schema contains. */
function mustContain(schema: JsonSchema): readonly string[] {
  if (typeof schema === "boolean" || isNullable(schema)) return [];
  const own = referredType(schema);
  const properties = propertiesOf(schema);
  const members =
    schema["type"] === "object" ? requiredOf(schema).map((name) => properties[name] ?? true) : [];
  const all = (schema["allOf"] ?? []) as readonly JsonSchema[];
  return [...(own === undefined ? [] : [own]), ...[...members, ...all].flatMap(mustContain)];
}

/** A table's tenant column is part of its key: it neither comes nor goes. */
function storageCanFollow({ loaded, expanded, storage, report }: RuleContext): void {
  for (const [table, schema] of Object.entries(storageOf(expanded.model).tables)) {
    const before = storage.tables[table];
    if (before === undefined || before.tenant === schema.tenant) continue;
    report({
      code: "OPW035",
      message: `${table} was ${before.tenant ? "partitioned by tenant" : "global"} when its table was made`,
      at: loaded.tree.at("documents", table, "tenant"),
    });
  }
}
