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
  const done = new Set<string>();
  const walk = (name: string, trail: readonly string[]): void => {
    const start = trail.indexOf(name);
    if (start >= 0) {
      const cycle = trail.slice(start);
      report({
        code: "OPW022",
        message: `${[...cycle, name].join(" → ")} never ends`,
        at: expanded.types.origins.get(name) ?? { file: "", path: [] },
      });
      return;
    }
    if (done.has(name)) return;
    for (const next of new Set(mustContain(types[name] ?? true))) walk(next, [...trail, name]);
    done.add(name);
  };
  for (const name of Object.keys(types)) walk(name, []);
}

/** Types that every value of the schema contains. */
function mustContain(schema: JsonSchema): readonly string[] {
  if (typeof schema === "boolean" || isNullable(schema)) return [];
  const own = referredType(schema);
  const options = (schema["anyOf"] ?? schema["oneOf"]) as readonly JsonSchema[] | undefined;
  // A reference straight from an alternative makes the type its own alternative, which TypeScript refuses as well.
  const alternatives = (options ?? []).flatMap((option) => referredType(option) ?? []);
  const properties = propertiesOf(schema);
  const members =
    schema["type"] === "object" ? requiredOf(schema).map((name) => properties[name] ?? true) : [];
  const all = (schema["allOf"] ?? []) as readonly JsonSchema[];
  return [
    ...(own === undefined ? [] : [own]),
    ...alternatives,
    ...[...members, ...all].flatMap(mustContain),
  ];
}

/** A table's tenant column is part of its key: it neither comes nor goes. */
function storageCanFollow({ loaded, expanded, storage, report }: RuleContext): void {
  for (const [table, schema] of Object.entries(storageOf(expanded.model).tables)) {
    const before = Object.hasOwn(storage.tables, table) ? storage.tables[table] : undefined;
    if (before === undefined || before.tenant === schema.tenant) continue;
    report({
      code: "OPW035",
      message: `${table} was ${before.tenant ? "partitioned by tenant" : "global"} when its table was made`,
      at: loaded.tree.at("documents", table, "tenant"),
    });
  }
}
