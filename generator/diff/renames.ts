// Documents and operations of two registries that are the same under another name, and what gone
// ones went with.
import { isDeepStrictEqual } from "node:util";
import { pairsOf } from "../compare/renames.js";
import { own } from "../model/records.js";
import type { DocumentModel } from "../model/document-model.js";
import type { OperationModel, RegistryModel } from "../model/registry.js";

export interface RenamedOperation {
  /** Its present name. */
  readonly key: string;
  /** The cause of its new name and route; absent if it was renamed alone. */
  readonly cause?: string;
}

/** Documents by their former names; one that has changed as well is another. */
export function renamedDocuments(
  before: RegistryModel,
  after: RegistryModel,
): ReadonlyMap<string, string> {
  const essence = ({
    bodySchema,
    defaults,
    tenant,
    softDelete,
    history,
  }: DocumentModel): unknown => [bodySchema, defaults, tenant, softDelete, history];
  return pairsOf(
    before.documents,
    after.documents,
    (old, next) => old.table === next.table || isDeepStrictEqual(essence(old), essence(next)),
  );
}

/**
 * Operations by their former keys: those of documents that are called otherwise, and those that
 * have kept their route.
 */
export function renamedOperations(
  before: RegistryModel,
  after: RegistryModel,
): ReadonlyMap<string, RenamedOperation> {
  const found = new Map<string, RenamedOperation>();
  for (const [document, called] of renamedDocuments(before, after))
    for (const { namespace, name, key } of Object.values(before.operations)) {
      const next = `${called}.${name}`;
      if (namespace !== document || own(before.operations, next) !== undefined) continue;
      if (own(after.operations, key) === undefined && own(after.operations, next) !== undefined)
        found.set(key, { key: next, cause: documentCalled(document, called) });
    }
  const taken = new Set([...found.values()].map(({ key }) => key));
  const left = ([key]: readonly [string, unknown]): boolean => !found.has(key) && !taken.has(key);
  const rest = ({ operations }: RegistryModel): RegistryModel["operations"] =>
    Object.fromEntries(Object.entries(operations).filter(left));
  const kept = ({ route: old }: OperationModel, { route: next }: OperationModel): boolean =>
    old !== null && old.method === next?.method && old.path === next.path;
  for (const [key, next] of pairsOf(rest(before), rest(after), kept)) found.set(key, { key: next });
  return found;
}

export function documentCalled(document: string, called: string): string {
  return `document ${document} is called ${called}`;
}

/** The cause that an operation came or went with; undefined if it did so alone. */
export function causeOf(
  operation: OperationModel,
  has: RegistryModel,
  lacks: RegistryModel,
  what: "is gone" | "is new",
): string | undefined {
  const document = documentBehind(operation, has)?.name;
  const isWhole = document !== undefined && own(lacks.documents, document) === undefined;
  return isWhole ? `document ${document} ${what}` : undefined;
}

/**
 * The document that an operation comes from: a namespace has one owner, but what the author handles
 * may share it.
 */
export function documentBehind(
  { declares, namespace }: OperationModel,
  { documents }: RegistryModel,
): DocumentModel | undefined {
  return declares === "handler" ? undefined : own(documents, namespace);
}
