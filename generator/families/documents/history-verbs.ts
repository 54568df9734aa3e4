// The operations over what documents were: their revisions, and reading those that are deleted.
import type { DocumentDeclaration } from "./format.js";
import { isMap } from "../../load/shape.js";
import {
  objectSchema,
  refTo,
  revisionSchema,
  uuidSchema,
  type JsonSchema,
} from "../../model/json-schema.js";
import type { DocumentModel } from "../../model/document-model.js";
import { callOf, ofRuntime, type Code } from "../../model/code.js";
import {
  bodyInput,
  type HistoryVerb,
  type InputModel,
  type OutputModel,
  type ParameterModel,
} from "../../model/registry.js";
import { listRequestSchema } from "./query-schemas.js";
import { queryTypeNames } from "./query-types.js";
import { idInPath } from "../../kernel/built-in.js";
import type { VerbShape } from "./verb-shape.js";

export const historyVerbs: Readonly<Record<HistoryVerb, VerbShape>> = {
  revisions: {
    rest: ["GET", "/{id}/revisions"],
    rpc: ["GET", "/revisions"],
    errors: ["core.not_found", "invalid_cursor"],
  },
  revision: {
    rest: ["GET", "/{id}/revisions/{revision}"],
    rpc: ["GET", "/revision"],
    errors: ["core.not_found"],
  },
  revision_diff: {
    rest: ["GET", "/{id}/revisions/{revision}/diff"],
    rpc: ["GET", "/revision_diff"],
    errors: ["core.not_found", "query_too_complex"],
  },
  revert: {
    rest: ["POST", "/{id}/revert"],
    rpc: ["PATCH", "/revert"],
    errors: [
      "core.not_found",
      "revision_mismatch",
      "revision_ambiguous",
      "core.concurrency",
      "revision_required",
    ],
  },
  get_deleted: {
    rest: ["GET", "/{id}/deleted"],
    rpc: ["GET", "/get_deleted"],
    errors: ["core.not_found"],
  },
  list_deleted: {
    rest: ["POST", "/list_deleted"],
    rpc: ["POST", "/list_deleted"],
    errors: [
      "query_invalid",
      "field_not_queryable",
      "query_operator_type_mismatch",
      "query_too_complex",
      "invalid_cursor",
    ],
    asks: "query",
  },
};

/** What each does, `*` being what the documents are called. */
export const historySummaries: Readonly<Record<HistoryVerb, string>> = {
  revisions: "List the revisions of one of the *, the newest first",
  revision: "Read one of the * as it was at a revision",
  revision_diff: "Compare two revisions of one of the *",
  revert: "Bring one of the * back to what it was at a revision",
  get_deleted: "Read one of the * that is deleted",
  list_deleted: "List * that are deleted by cursor",
};

/** Those that a document registers. */
export function historyVerbsOf(
  { revisions, readsDeleted }: DocumentModel,
  { read_only: isReadOnly }: DocumentDeclaration,
): readonly HistoryVerb[] {
  return [
    ...(revisions ? (["revisions", "revision", "revision_diff"] as const) : []),
    ...(revisions && isReadOnly !== true ? (["revert"] as const) : []),
    ...(readsDeleted === null ? [] : (["get_deleted", "list_deleted"] as const)),
  ];
}

/** The policy of those who read what is deleted, and whether operations over revisions are declared. */
export function historyOf({
  history,
  soft_delete: softDelete,
  retention,
}: DocumentDeclaration): Pick<DocumentModel, "history" | "revisions" | "readsDeleted"> {
  const keep = isMap(history) ? history.keep : undefined;
  return {
    history: history === undefined || history === false ? 0 : (keep ?? retention?.history ?? null),
    revisions: isMap(history) && history.revisions === true,
    readsDeleted: isMap(softDelete) ? (softDelete.read ?? null) : null,
  };
}

const inQuery = (
  name: string,
  type: ParameterModel["type"],
  schema: JsonSchema,
  required: boolean,
): ParameterModel => ({ name, in: "query", type, required, schema });

/** The parameters of those that have no body. */
export function historyParameters(
  verb: Exclude<HistoryVerb, "list_deleted">,
): readonly ParameterModel[] {
  const at: ParameterModel = {
    name: "revision",
    in: "path",
    type: "integer",
    required: true,
    schema: revisionSchema,
  };
  switch (verb) {
    case "revisions":
      return [
        idInPath,
        inQuery("size", "integer", { type: "integer", minimum: 1, maximum: 100 }, false),
        inQuery("after", "string", { type: "string" }, false),
      ];
    case "revision":
      return [idInPath, at];
    case "revision_diff":
      return [
        idInPath,
        at,
        inQuery(
          "to",
          "integer",
          { ...revisionSchema, description: "The current one where left out." },
          false,
        ),
      ];
    case "revert":
      return [
        idInPath,
        { name: "rev", in: "revision", type: "integer", required: true, schema: revisionSchema },
        inQuery("to", "integer", revisionSchema, true),
      ];
    case "get_deleted":
      return [idInPath];
  }
}

/** The body of a list of what is deleted. */
export function deletedListInput(model: DocumentModel, typeName: string, spec: Code): InputModel {
  const shape = { isRaw: false, byCursor: true, listDeleted: false, expandable: [] };
  const schema = listRequestSchema(queryTypeNames(model.name), shape);
  return bodyInput(schema, typeName, callOf(ofRuntime("history.listing"), spec));
}

/** When a revision was made, and by whom. */
const origin: Readonly<Record<string, JsonSchema>> = {
  changed_at: {
    type: ["string", "null"],
    format: "date-time",
    description: "Null where a version of the service kept it that did not note the time.",
  },
  changed_by: {
    ...uuidSchema,
    type: ["string", "null"],
    description: "The principal; null for the service itself.",
  },
};

/** What each answers. */
export function historyOutput(
  model: DocumentModel,
  verb: Exclude<HistoryVerb, "list_deleted">,
): OutputModel {
  const isOneVersion = verb === "revert" || verb === "get_deleted";
  return { schema: answerOf(model, verb), hasEntityTag: isOneVersion, isBytes: false };
}

function answerOf(model: DocumentModel, verb: Exclude<HistoryVerb, "list_deleted">): JsonSchema {
  switch (verb) {
    case "revisions": {
      const members = {
        rev: revisionSchema,
        ...origin,
        ...(model.softDelete ? { is_deleted: { type: "boolean" } } : {}),
      };
      const page = {
        hits: { type: "array", items: objectSchema(members, Object.keys(members)) },
        next_cursor: { type: ["string", "null"] },
        has_more: { type: "boolean" },
      };
      return objectSchema(page, Object.keys(page));
    }
    case "revision": {
      const members = { ...origin, data: refTo(model.typeName) };
      return objectSchema(members, Object.keys(members));
    }
    case "revision_diff": {
      const change = objectSchema({ path: { type: "string" }, from: true, to: true }, ["path"]);
      const diff = {
        from: revisionSchema,
        to: revisionSchema,
        changes: {
          type: "array",
          items: change,
          description: "JSON Pointers of what differs; a value that was absent is left out.",
        },
      };
      return objectSchema(diff, Object.keys(diff));
    }
    case "revert":
    case "get_deleted":
      return refTo(model.typeName);
  }
}
