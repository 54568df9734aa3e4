// The second phase: declarations → the registry model, every operation spelt out.
import type { DatabaseSchema } from "../model/stored-tables.js";
import type { Origin, Report } from "../diagnostics/diagnostics.js";
import { durationSeconds } from "../load/quantities.js";
import { claimHookTypes } from "../kernel/named-hooks.js";
import { families, modelParts } from "../families/index.js";
import { emptyParts } from "../model/model-parts.js";
import type { LoadedRegistry } from "../load/load.js";
import { readTypes } from "../load/read-types.js";
import { functionReference } from "../model/code.js";
import { referredType } from "../model/json-schema.js";
import { mergeRecords, sortedRecord } from "../model/records.js";
import {
  type FamilyModels,
  type OperationModel,
  type RouteModel,
  type ServiceModel,
} from "../model/registry.js";
import {
  deadlineOf,
  extensionsOf,
  type FamilyExpansion,
  type Family,
  type ExpansionContext,
  type NamespaceExpansion,
  type RoutedOperation,
} from "../kernel/family.js";
import type { AskedPermissions } from "../kernel/permissions.js";
import type { ExpandedRegistry } from "../kernel/rule.js";
import { readFaultyEntries } from "./faulty-entries.js";
import { attach } from "./mounts.js";
import { placeholdersOf } from "../kernel/placeholders.js";

/**
 * Expands a loaded registry. Reports what a family finds; rules over the whole registry come later
 * (check/).
 */
export function expandRegistry(
  loaded: LoadedRegistry,
  options: {
    readonly project: string;
    readonly folder: string;
    readonly report: Report;
    readonly stored: DatabaseSchema;
  },
): ExpandedRegistry {
  const { declarations, tree } = loaded;
  const { report, stored } = options;
  const types = readTypes(declarations.types, tree, options);
  const made = new Map<Family, FamilyExpansion<unknown>>();
  const asked: AskedPermissions = new Map();
  const context: ExpansionContext = { declarations, tree, types, report, asked, stored };
  for (const family of families) {
    const of = <Model>(other: Family<Model>): Model => {
      const expansion = made.get(other);
      if (expansion === undefined || !family.after.includes(other))
        throw new Error(`the family ${family.name} does not come after ${other.name}`);
      return expansion.model as Model;
    };
    made.set(family, family.expand({ ...context, of }));
  }
  readFaultyEntries(loaded, types, report);
  const expansions = [...made.values()];
  const namespaces = namedOnce(
    expansions.flatMap((one) => one.namespaces),
    report,
  );
  const style = declarations.service?.style ?? "rest";
  const { routes, mounts } = attach(context, namespaces, style);
  const { operations, origins } = operationsOf(
    [
      ...namespaces.flatMap((namespace) => namespace.operations),
      ...expansions.flatMap((one) => one.routed),
    ],
    routes,
    report,
  );
  for (const [key, operation] of operations) {
    claimHookTypes(context, operation, origins.get(key));
    const errors = expansions.flatMap((one) => one.furtherErrors(operation));
    operations.set(key, {
      ...operation,
      errors: [...new Set([...operation.errors, ...errors])],
    });
  }
  const models = mergeRecords<unknown>(expansions.map((one) => ({ ...one.frozen(operations) })));
  return {
    types,
    origins,
    mounts,
    model: {
      format: 3,
      service: serviceModel(context),
      types: sortedRecord(types.table.schemas),
      homes: sortedRecord(types.table.homes),
      namespaces: sortedRecord(
        new Map(namespaces.map(({ name, description }) => [name, description])),
      ),
      ...emptyParts(modelParts),
      ...(models as Partial<FamilyModels>),
      operations: sortedRecord(operations),
    },
  };
}

/** Namespaces without those whose name is taken, which are reported. */
function namedOnce(
  all: readonly NamespaceExpansion[],
  report: Report,
): readonly NamespaceExpansion[] {
  const named = new Map<string, NamespaceExpansion>();
  // Opwright's own come first, because the author can rename theirs.
  const ours = all.filter(({ isBuiltIn }) => isBuiltIn);
  for (const namespace of [...ours, ...all.filter(({ isBuiltIn }) => !isBuiltIn)]) {
    const { name, at } = namespace;
    const first = named.get(name);
    if (first === undefined) named.set(name, namespace);
    else
      report({
        code: "OPW041",
        message: `${name} is ${first.what} already`,
        at,
        related: [{ message: "first declared here", at: first.at }],
      });
  }
  return [...named.values()];
}

/** Operations by key with their routes. Reports a key that stands twice. */
function operationsOf(
  all: readonly (Pick<RoutedOperation, "operation" | "at"> & { readonly route?: RouteModel })[],
  routes: ReadonlyMap<string, RouteModel>,
  report: Report,
): {
  readonly operations: Map<string, OperationModel>;
  readonly origins: ReadonlyMap<string, Origin>;
} {
  const operations = new Map<string, OperationModel>();
  const origins = new Map<string, Origin>();
  for (const { operation, at, route = routes.get(operation.key) } of all) {
    const earlier = origins.get(operation.key);
    if (earlier === undefined) {
      origins.set(operation.key, at);
      operations.set(operation.key, route === undefined ? operation : atRoute(operation, route));
    } else
      report({
        code: "OPW041",
        message: `${operation.key} is declared already`,
        at,
        related: [{ message: "first declared here", at: earlier }],
      });
  }
  return { operations, origins };
}

/** The operation with its route; what has no placeholder in the path travels in the query. */
function atRoute(operation: OperationModel, route: RouteModel): OperationModel {
  const placeholders = placeholdersOf(route.path);
  const parameters = operation.input.parameters.map((parameter) =>
    parameter.in === "path" && !placeholders.includes(parameter.name)
      ? { ...parameter, in: "query" as const }
      : parameter,
  );
  return { ...operation, input: { ...operation.input, parameters }, route };
}

function serviceModel(context: ExpansionContext): ServiceModel {
  const { service } = context.declarations;
  const { identifier, url } = service?.license ?? {};
  if (identifier !== undefined && url !== undefined)
    context.report({
      code: "OPW013",
      message: "a license has an identifier or a url, not both",
      at: context.tree.at("service", "license", "url"),
    });
  return {
    name: service?.name ?? "service",
    was: service?.was ?? null,
    title: service?.title ?? "Service",
    version: service?.version ?? "0.0.0",
    description: service?.description ?? null,
    contact: service?.contact ?? null,
    license: service?.license ?? null,
    style: service?.style ?? "rest",
    transaction: service?.transaction ?? "default",
    deadlineSeconds: deadlineOf(context),
    probes: { livez: "/livez", readyz: "/readyz", ...service?.probes },
    errors: errorsModel(context),
    app: service?.app === undefined ? null : functionReference(service.app),
    slo: objectivesModel(context),
    extensions: extensionsOf(service ?? {}),
  };
}

/** What the service promises of its requests, if it does. */
function objectivesModel(context: ExpansionContext): ServiceModel["slo"] {
  const { declarations, tree, report } = context;
  const declared = declarations.service?.slo;
  if (declared === undefined) return null;
  const { availability, latency, within = 99, slow = [] } = declared;
  const refuse = (key: string, message: string): void =>
    report({ code: "OPW013", message, at: tree.at("service", "slo", key) });
  if (latency === undefined) {
    for (const key of ["within", "slow"] as const)
      if (declared[key] !== undefined) refuse(key, `${key} says nothing without a latency`);
    return { availability, latency: null };
  }
  const seconds = durationSeconds(latency);
  if (seconds >= deadlineOf(context))
    refuse("latency", "nothing takes so long: the deadline of operations ends it before");
  return { availability, latency: { seconds, share: within, except: [...slow].sort() } };
}

/** How errors are answered. Puts the type of their bodies into the table. */
function errorsModel({ declarations, tree, types }: ExpansionContext): ServiceModel["errors"] {
  const declared = declarations.service?.errors;
  if (declared === undefined) return null;
  const at = tree.at("service", "errors", "out");
  const schema = types.readType(declared.out, at, "ErrorBody");
  const referred = referredType(schema);
  if (referred === undefined) types.table.add("ErrorBody", schema, at);
  return {
    envelope: functionReference(declared.envelope),
    typeName: referred ?? "ErrorBody",
  };
}
