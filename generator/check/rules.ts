// The third phase: rules over the whole registry. Each is a small function; all findings come at
// once.
import { families } from "../families/index.js";
import type { Origin } from "../diagnostics/diagnostics.js";
import {
  alternativesOf,
  isNullable,
  propertiesOf,
  referredType,
  requiredOf,
  type JsonSchema,
} from "../model/json-schema.js";
import { camelCase } from "../model/names.js";
import { openListsAreLimited } from "./bounds.js";
import { validationIsLinear } from "./nested-work.js";
import { clientTypesAreFree } from "./client-types.js";
import { inputsAreWrittenNow } from "./later-inputs.js";
import { inputsAreClosed } from "./open-inputs.js";
import { objectivesNameOperations } from "./objectives.js";
import { policiesNameSteps } from "./policies.js";
import type { ExpandedRegistry, RegistryRule, RuleContext } from "../kernel/rule.js";
import { sqlNamesDiffer } from "./sql-names.js";

/**
 * All rules that wait for nothing; those over defaults, patterns and functions are called beside
 * them.
 */
export const rules: readonly RegistryRule[] = [
  routesCollide,
  answeredKeysAreFree,
  codeNamesDiffer,
  namespacesDiffer,
  clientTypesAreFree,
  typesAreFinite,
  validationIsLinear,
  sqlNamesDiffer,
  openListsAreLimited,
  inputsAreClosed,
  inputsAreWrittenNow,
  policiesNameSteps,
  objectivesNameOperations,
  ...families.flatMap(({ rules: own }) => own),
];

/** Two operations never answer the same method and path, whatever their placeholders are called. */
function routesCollide({ expanded, loaded, report }: RuleContext): void {
  const seen = new Map<string, string>();
  const { livez, readyz } = expanded.model.service.probes;
  const others = [
    "/metrics",
    "/openapi.json",
    ...families.flatMap((family) => family.paths(expanded.model)),
  ];
  const systemPaths = [livez, readyz, ...others];
  for (const [probe, path] of Object.entries({ livez, readyz })) {
    const isTaken = others.includes(path) || (probe === "readyz" && path === livez);
    if (isTaken)
      report({
        code: "OPW068",
        message: `the probe ${probe} has the path ${path}, which the service answers otherwise`,
        at: loaded.tree.at("service", "probes"),
      });
  }
  const templates = new Map<string, { readonly key: string; readonly path: string }>();
  for (const operation of Object.values(expanded.model.operations)) {
    if (operation.route === null) continue;
    const { method, path } = operation.route;
    const shape = `${method} ${path.replaceAll(/\{[^}]*\}/g, "{}").replace(/(?<=.)\/$/, "")}`;
    if (systemPaths.includes(path.replace(/(?<=.)\/$/, ""))) {
      const message = `${operation.key} has the path ${path}, which the service answers itself`;
      report({ code: "OPW068", message, at: routeAt(expanded, operation.key) });
    }
    const template = shape.slice(method.length + 1);
    const usual = templates.get(template);
    if (usual !== undefined && usual.path !== path) {
      report({
        code: "OPW068",
        message: `${operation.key} has ${path} where ${usual.key} has ${usual.path}: one place, two names`,
        at: routeAt(expanded, operation.key),
        related: [{ message: `${usual.key} is declared here`, at: routeAt(expanded, usual.key) }],
      });
    }
    templates.set(template, usual ?? { key: operation.key, path });
    const earlier = seen.get(shape);
    if (earlier === undefined) {
      seen.set(shape, operation.key);
      continue;
    }
    if (usual !== undefined && usual.path !== path) continue;
    // Whoever wrote a mount is shown that, not an operation at its usual place.
    const isUsual = expanded.mounts.has(earlier) && !expanded.mounts.has(operation.key);
    const [one, other] = isUsual ? [earlier, operation.key] : [operation.key, earlier];
    report({
      code: "OPW068",
      message: `${one} and ${other} both answer ${method} ${path}`,
      at: routeAt(expanded, one),
      related: [{ message: `${other} is declared here`, at: routeAt(expanded, other) }],
    });
  }
}

/** No other operation has the key of one that the service answers itself. */
function answeredKeysAreFree({ expanded, report }: RuleContext): void {
  const { model } = expanded;
  for (const { key } of families.flatMap((family) => family.answered(model))) {
    if (!Object.hasOwn(model.operations, key)) continue;
    const message = `${key} is an operation of the service's own`;
    report({ code: "OPW041", message, at: originOf(expanded, key) });
  }
}

/** Where the registry says an operation's path: its mount, or its declaration. */
function routeAt(expanded: ExpandedRegistry, key: string): Origin {
  return expanded.mounts.get(key) ?? originOf(expanded, key);
}

function originOf(expanded: ExpandedRegistry, key: string): Origin {
  return expanded.origins.get(key) ?? { file: "", path: [] };
}

/** No type contains itself through required members only. */
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
        at: expanded.types.table.origins.get(name) ?? { file: "", path: [] },
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
  // A reference straight from an alternative makes the type its own alternative, which TypeScript
  // refuses as well.
  const alternatives = alternativesOf(schema).flatMap((option) => referredType(option) ?? []);
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

/** Namespaces have different names in code too, and none has that of the shared module of types. */
function namespacesDiffer({ expanded, report }: RuleContext): void {
  const owners = new Map([["models", "opwright"]]);
  const seen = new Set<string>();
  for (const { key, namespace } of Object.values(expanded.model.operations)) {
    if (seen.has(namespace)) continue;
    seen.add(namespace);
    const name = camelCase(namespace);
    const owner = owners.get(name);
    if (owner !== undefined) {
      const message = `${namespace} is called ${name} in code, a name that ${owner} has`;
      report({ code: "OPW048", message, at: originOf(expanded, key) });
    }
    owners.set(name, namespace);
  }
}

/**
 * Two operations have different names in code too. Imports of their module are renamed if they
 * collide.
 */
function codeNamesDiffer({ expanded, report }: RuleContext): void {
  const owners = new Map<string, string>();
  for (const { key } of Object.values(expanded.model.operations)) {
    const name = camelCase(key);
    const owner = owners.get(name);
    if (owner !== undefined) {
      report({
        code: "OPW048",
        message: `${key} is called ${name} in code, a name that ${owner} has`,
        at: originOf(expanded, key),
      });
    }
    owners.set(name, key);
  }
}
