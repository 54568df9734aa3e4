// The verbs of documents: which a document registers, their routes in both styles, what they may be refused with.
import type { DocumentDeclaration } from "./format.js";
import type { DocumentModel } from "../../model/document-model.js";
import type { DocumentVerb } from "../../model/registry.js";
import { reading } from "./guard.js";
import { historySummaries, historyVerbs, historyVerbsOf } from "./history-verbs.js";
import type { VerbShape } from "./verb-shape.js";

/** The verbs that a document registers. */
export function verbsOf(
  model: DocumentModel,
  declaration: DocumentDeclaration,
): readonly DocumentVerb[] {
  const lists = reading.filter((verb) => !Object.hasOwn(historyVerbs, verb));
  const ofHistory = historyVerbsOf(model, declaration);
  if (declaration.read_only === true) return [...lists, ...ofHistory];
  return [
    "create",
    "get",
    "update",
    "kill",
    ...(model.softDelete ? (["delete", "restore"] as const) : []),
    ...(declaration.upsert === true ? (["upsert"] as const) : []),
    ...(model.bulk === null ? [] : bulkVerbs),
    ...lists.slice(1),
    ...ofHistory,
  ];
}

/** Verbs of a view. */
export const viewVerbs = ["get", "list", "list_cursor"] as const satisfies readonly DocumentVerb[];

/** Verbs about many documents. */
const bulkVerbs = [
  "create_many",
  "update_many",
  "delete_many",
  "update_where",
  "delete_where",
] as const satisfies readonly DocumentVerb[];

/** Verbs about one version, of which the headers of a request may say something. */
export const ofOneVersion: readonly DocumentVerb[] = [
  "get",
  "update",
  "kill",
  "delete",
  "restore",
  "revert",
  "get_deleted",
];

const listErrors = [
  "query_invalid",
  "field_not_queryable",
  "query_operator_type_mismatch",
  "query_too_complex",
];
const revisionErrors = [
  "core.not_found",
  "revision_mismatch",
  "revision_ambiguous",
  "core.concurrency",
];

/** What each does, `*` being what the documents are called. */
export const summaries: Readonly<Record<DocumentVerb, string>> = {
  create: "Create one of the *",
  get: "Read one of the *",
  update: "Change one of the * by a merge patch",
  kill: "Remove one of the * for good",
  delete: "Delete one of the *, so that it can be restored",
  restore: "Restore one of the * that was deleted",
  upsert: "Update the one of the * that has the same unique values, or create it",
  create_many: "Create many of the *",
  update_many: "Change many of the * by merge patches",
  delete_many: "Delete many of the *",
  update_where: "Change all of the * that a filter finds",
  delete_where: "Delete all of the * that a filter finds",
  list: "List * by page",
  raw_list: "List chosen fields of * by page",
  list_cursor: "List * by cursor",
  raw_list_cursor: "List chosen fields of * by cursor",
  agg_list: "Group * and compute over the groups",
  ...historySummaries,
};

export const verbs: Readonly<Record<DocumentVerb, VerbShape>> = {
  create: { rest: ["POST", "/"], rpc: ["POST", "/create"], status: 201, errors: [] },
  get: { rest: ["GET", "/{id}"], rpc: ["GET", "/get"], errors: ["core.not_found"] },
  update: {
    rest: ["PATCH", "/{id}"],
    rpc: ["PATCH", "/update"],
    errors: [...revisionErrors, "revision_required"],
  },
  kill: {
    rest: ["DELETE", "/{id}"],
    rpc: ["DELETE", "/kill"],
    status: 204,
    errors: revisionErrors,
  },
  delete: {
    rest: ["POST", "/{id}/delete"],
    rpc: ["PATCH", "/delete"],
    errors: [...revisionErrors, "revision_required", "document_deleted"],
  },
  restore: {
    rest: ["POST", "/{id}/restore"],
    rpc: ["PATCH", "/restore"],
    errors: [...revisionErrors, "revision_required"],
  },
  upsert: { rest: ["POST", "/upsert"], rpc: ["POST", "/upsert"], errors: revisionErrors },
  create_many: {
    rest: ["POST", "/create_many"],
    rpc: ["POST", "/create_many"],
    errors: ["bulk_refused", "query_too_complex"],
  },
  update_many: {
    rest: ["POST", "/update_many"],
    rpc: ["POST", "/update_many"],
    errors: ["bulk_refused", "query_too_complex"],
  },
  delete_many: {
    rest: ["POST", "/delete_many"],
    rpc: ["POST", "/delete_many"],
    errors: ["bulk_refused", "query_too_complex"],
  },
  update_where: {
    rest: ["POST", "/update_where"],
    rpc: ["POST", "/update_where"],
    errors: ["bulk_refused", ...listErrors],
    asks: "filter",
  },
  delete_where: {
    rest: ["POST", "/delete_where"],
    rpc: ["POST", "/delete_where"],
    errors: ["bulk_refused", ...listErrors],
    asks: "filter",
  },
  list: { rest: ["POST", "/list"], rpc: ["POST", "/list"], errors: listErrors, asks: "query" },
  raw_list: {
    rest: ["POST", "/raw_list"],
    rpc: ["POST", "/raw_list"],
    errors: listErrors,
    asks: "query",
  },
  list_cursor: {
    rest: ["POST", "/list_cursor"],
    rpc: ["POST", "/list_cursor"],
    errors: [...listErrors, "invalid_cursor"],
    asks: "query",
  },
  raw_list_cursor: {
    rest: ["POST", "/raw_list_cursor"],
    rpc: ["POST", "/raw_list_cursor"],
    errors: [...listErrors, "invalid_cursor"],
    asks: "query",
  },
  agg_list: {
    rest: ["POST", "/agg_list"],
    rpc: ["POST", "/agg_list"],
    errors: listErrors,
    asks: "query",
  },
  ...historyVerbs,
};

/** What reads the input of a list, by its name in the runtime. */
export const listings: Partial<Record<DocumentVerb, string>> = {
  list: "page",
  raw_list: "rawPage",
  list_cursor: "cursor",
  raw_list_cursor: "rawCursor",
};
