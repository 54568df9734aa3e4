// catalog.json and tools.json: every operation by its key, for people and tool callers (service.md
// "What the service does" 2).
import { withoutFormer } from "../load/former-names.js";
import { mapSchema, referredType, type JsonSchema } from "../model/json-schema.js";
import type { DocumentModel } from "../model/document-model.js";
import { mapRecord } from "../model/records.js";
import type { OperationModel, RegistryModel } from "../model/registry.js";
import { errorGroups, groupedCodesOf } from "../model/error-codes.js";
import { recordsFile, type EmittedFile } from "../print/file.js";
import { functionNames, namespaceName } from "./client/functions.js";
import { reachTypes, typesOf } from "./published-types.js";

/**
 * Both files. The catalog leaves out sensitive operations; tools are the operations that have a
 * route.
 */
export function emitCatalog(model: RegistryModel): readonly EmittedFile[] {
  const operations = Object.values(model.operations).filter(({ isSensitive }) => !isSensitive);
  const catalog = {
    error_groups: errorGroups,
    documents: mapRecord(publicDocuments(model), documentEntry),
    operations: operations.map(entryOf),
  };
  return [
    recordsFile("catalog.json", catalog, 2),
    recordsFile("tools.json", toolsDocument(model), 2),
  ];
}

/** The documents of which callers may know. */
function publicDocuments({ documents }: RegistryModel): Readonly<Record<string, DocumentModel>> {
  return Object.fromEntries(Object.entries(documents).filter(([, { sensitive }]) => !sensitive));
}

/** What a form needs to know of a document besides its schemas: where its references lead. */
function documentEntry({ references }: DocumentModel): object {
  return {
    references: Object.fromEntries(references.map(({ field, document }) => [field, document])),
  };
}

function entryOf(operation: OperationModel): object {
  const { groups, own } = groupedCodesOf(operation);
  const { emits } = operation;
  return {
    key: operation.key,
    family: operation.family,
    summary: operation.summary,
    method: operation.route?.method ?? null,
    path: operation.route?.path ?? null,
    ...calledBy(operation),
    guard: operation.guard,
    hooks: operation.hooks.map(({ id, phase }) => ({ phase, id })),
    transaction: operation.transaction,
    deadline_seconds: operation.deadlineSeconds,
    idempotency_key: operation.idempotencyKey,
    error_groups: groups,
    errors: own,
    ...(emits.length === 0 ? {} : { emits }),
    source: operation.source,
    ...(operation.deprecated === null ? {} : { deprecated: operation.deprecated }),
  };
}

/**
 * What the client calls an operation that has a route, and the member of its input that is the
 * body, where that isn't all but the parameters.
 */
function calledBy(operation: OperationModel): object {
  if (operation.route === null) return {};
  const [namespace = ""] = operation.key.split(".");
  const call = `${namespaceName(namespace)}.${functionNames(operation).exported}`;
  const as = operation.input.body?.as;
  return typeof as === "object" ? { call, body_member: as.member } : { call };
}

/** Operations with a route, and their schemas. Each type appears once, under `$defs`. */
function toolsDocument(model: RegistryModel): object {
  const mounted = Object.values(model.operations).filter(({ route }) => route !== null);
  const types = reachTypes(model, mounted.flatMap(typesOf));
  return {
    tools: mounted.map(({ key, summary, description, input, output }) => ({
      name: key,
      description: description ?? summary,
      inputSchema: local(input.schema),
      ...(output.schema === null ? {} : { outputSchema: local(output.schema) }),
    })),
    $defs: Object.fromEntries(
      Object.entries(model.types).flatMap(([name, type]) =>
        types.has(name) ? [[name, local(type)]] : [],
      ),
    ),
  };
}

/** The schema with references to `$defs` of the document. */
function local(schema: JsonSchema): JsonSchema {
  return mapSchema(schema, (inner) => {
    const type = referredType(inner);
    const told = withoutFormer(inner);
    return type === undefined ? told : { ...told, $ref: `#/$defs/${type}` };
  });
}
