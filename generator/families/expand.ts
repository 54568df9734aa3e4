// The second phase: declarations → the registry model, every operation spelt out.
import { limits } from "../../runtime/contract/limits.js";
import type { Origin, Report } from "../diagnostics.js";
import type { LoadedRegistry } from "../load/load.js";
import { durationSeconds } from "../load/quantities.js";
import { readTypes, type TypeReader } from "../load/types.js";
import {
  functionReference,
  type DocumentModel,
  type OperationModel,
  type RegistryModel,
  type RouteModel,
  type SearchModel,
  type StorageModel,
} from "../model/registry.js";
import { expandApiKeys } from "./api-keys.js";
import { expandIdentity } from "./authn.js";
import type { BuiltInNamespace } from "./built-in.js";
import { expandOperation, placeholdersOf } from "./custom.js";
import { expandTenancy } from "./tenancy.js";
import { readDocumentType, type DocumentType } from "./document-model.js";
import { expandDocument } from "./documents.js";
import { expandSearch } from "./search.js";
import { extensionsOf, type FamilyContext, type UnmountedOperation } from "./family.js";
import { boundaryErrors, identityModel } from "./identity-model.js";
import { outboxModel } from "./outbox.js";
import { expandProvisioning } from "./principals.js";
import { attach } from "./mounts.js";
import { checkEmits } from "./emits.js";
import { realtimeModel } from "./realtime.js";
import { expandStorage } from "./storage.js";

/** The model with the places that findings about it refer to. */
export interface ExpandedRegistry {
  readonly model: RegistryModel;
  readonly types: TypeReader;
  /** Where each operation is declared. */
  readonly origins: ReadonlyMap<string, Origin>;
}

/** Expands a loaded registry. Reports what a family finds; the rules over the whole come after (check/). */
export function expandRegistry(
  loaded: LoadedRegistry,
  options: { readonly project: string; readonly folder: string; readonly report: Report },
): ExpandedRegistry {
  const { declarations, tree } = loaded;
  const { report } = options;
  const types = readTypes(declarations.types, tree, options);
  const context: FamilyContext = { declarations, tree, types, report };
  const defaultStyle = declarations.service?.style ?? "rest";

  const documents = new Map<string, DocumentModel>();
  const byNamespace = new Map<string, UnmountedOperation[]>();
  const all: { readonly unmounted: UnmountedOperation; readonly route: RouteModel | undefined }[] =
    [];
  const typeOwners = new Map<string, string>();
  const documentTypes = new Map<string, DocumentType>();
  for (const [name, declaration] of Object.entries(declarations.documents)) {
    const typeOwner =
      typeof declaration.type === "string" ? typeOwners.get(declaration.type) : undefined;
    if (typeOwner !== undefined) {
      report({
        code: "OPW033",
        message: `${String(declaration.type)} is the type of ${typeOwner} already`,
        at: tree.at("documents", name, "type"),
        related: [{ message: "first used here", at: tree.at("documents", typeOwner, "type") }],
      });
      continue;
    }
    if (typeof declaration.type === "string") typeOwners.set(declaration.type, name);
    const type = readDocumentType(context, name, declaration);
    if (type !== undefined) documentTypes.set(name, type);
  }
  for (const [name, type] of documentTypes) {
    const declaration = declarations.documents[name];
    if (declaration === undefined) continue;
    const expanded = expandDocument(context, name, declaration, type);
    documents.set(name, expanded.model);
    byNamespace.set(name, [...expanded.operations]);
  }
  const searches = new Map<string, SearchModel>();
  for (const [name, declaration] of Object.entries(declarations.search)) {
    const expanded = expandSearch(context, name, declaration, documents);
    if (expanded === undefined) continue;
    if (documents.has(name)) {
      const message = `${name} is a document already`;
      report({ code: "OPW041", message, at: tree.keyAt("search", name) });
      continue;
    }
    searches.set(name, expanded.model);
    byNamespace.set(name, [...expanded.operations]);
  }
  const storages = new Map<string, StorageModel>();
  for (const [name, declaration] of Object.entries(declarations.storage)) {
    if (byNamespace.has(name)) {
      const message = `${name} is a document or a search already`;
      report({ code: "OPW041", message, at: tree.keyAt("storage", name) });
      continue;
    }
    const expanded = expandStorage(context, name, declaration);
    storages.set(name, expanded.model);
    byNamespace.set(name, [...expanded.operations]);
  }
  const sections = Object.entries({ documents, search: searches, storage: storages });
  const builtIn = expandRuntime(context).filter(({ namespace, operations }) => {
    const [first] = operations;
    if (first === undefined) return false;
    if (!byNamespace.has(namespace)) return true;
    const section = sections.find(([, names]) => names.has(namespace))?.[0] ?? "documents";
    report({
      code: "OPW041",
      message: `the operations of ${namespace} are those of the ${first.operation.family} family`,
      at: tree.keyAt(section, namespace),
      related: [{ message: "asked for here", at: first.at }],
    });
    return false;
  });
  for (const { namespace, operations } of builtIn) byNamespace.set(namespace, [...operations]);
  const routes = attach(context, {
    documents,
    searches,
    storages,
    operations: byNamespace,
    builtIn,
    defaultStyle,
  });
  for (const unmounted of [...byNamespace.values()].flat()) {
    all.push({ unmounted, route: routes.get(unmounted.operation.key) });
  }
  for (const [key, declaration] of Object.entries(declarations.operations)) {
    const expanded = expandOperation(context, key, declaration);
    if (expanded === undefined) continue;
    all.push({ unmounted: expanded, route: expanded.route });
  }

  const { deadline } = declarations.service ?? {};
  const usual = deadline === undefined ? limits.defaultDeadlineSeconds : durationSeconds(deadline);
  const operations = new Map<string, OperationModel>();
  const origins = new Map<string, Origin>();
  for (const { unmounted, route } of all) {
    const { operation, at } = unmounted;
    const earlier = origins.get(operation.key);
    if (earlier !== undefined) {
      report({
        code: "OPW041",
        message: `${operation.key} is declared already`,
        at,
        related: [{ message: "first declared here", at: earlier }],
      });
      continue;
    }
    origins.set(operation.key, at);
    const routed = route === undefined ? operation : atRoute(operation, route);
    const errors = [...new Set([...routed.errors, ...boundaryErrors(context, routed)])];
    const deadlineSeconds = operation.deadlineSeconds ?? (isUpload(operation) ? null : usual);
    operations.set(operation.key, { ...routed, errors, deadlineSeconds });
  }
  const service = declarations.service;
  const realtime = realtimeModel(context, operations);
  checkEmits(context, documents, realtime);
  return {
    types,
    origins,
    model: {
      format: 1,
      service: {
        name: service?.name ?? "service",
        title: service?.title ?? "Service",
        version: service?.version ?? "0.0.0",
        description: service?.description ?? null,
        style: defaultStyle,
        transaction: service?.transaction ?? "default",
        deadlineSeconds: usual,
        app: service?.app === undefined ? null : functionReference(service.app),
        extensions: extensionsOf(service ?? {}),
      },
      identity: identityModel(context),
      outbox: outboxModel(context),
      realtime,
      types: sortedRecord(types.table.schemas),
      documents: sortedRecord(documents),
      searches: sortedRecord(searches),
      storages: sortedRecord(storages),
      operations: sortedRecord(operations),
    },
  };
}

function isUpload({ run }: OperationModel): boolean {
  return run.kind === "storage" && run.verb === "upload";
}

/** The namespaces of the runtime's own families. */
function expandRuntime(context: FamilyContext): readonly BuiltInNamespace[] {
  return [
    ...expandIdentity(context),
    ...expandApiKeys(context),
    ...expandProvisioning(context),
    ...expandTenancy(context),
  ];
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

/** A record with its keys in code-unit order. */
function sortedRecord<T>(entries: ReadonlyMap<string, T>): Readonly<Record<string, T>> {
  return Object.fromEntries([...entries].sort(([left], [right]) => (left < right ? -1 : 1)));
}
