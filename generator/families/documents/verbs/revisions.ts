// documents.revisions, revision and revision_diff: earlier forms of a document.
import { idInPath } from "../../../kernel/built-in.js";
import { jsonOutput } from "../../../kernel/operation.js";
import { callOf, ofRuntime } from "../../../model/code.js";
import {
  objectSchema,
  refTo,
  revisionSchema,
  uuidSchema,
  type JsonSchema,
} from "../../../model/json-schema.js";
import type { DocumentModel } from "../../../model/document-model.js";
import type { ParameterModel } from "../../../model/registry.js";
import { get } from "./get.js";
import { parametersInput, verb, withRevisions } from "./verb.js";

const revisionInPath: ParameterModel = {
  name: "revision",
  in: "path",
  type: "integer",
  required: true,
  schema: revisionSchema,
};

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

export const revisions = verb({
  name: "revisions",
  summary: ({ a }) => `List the revisions of ${a}, the newest first`,
  rest: ["GET", "/{id}/revisions"],
  rpc: ["GET", "/revisions"],
  about: "one",
  twinOf: () => [get],
  when: withRevisions,
  input: ({ typeName }) =>
    parametersInput(typeName, [
      idInPath,
      inQuery("size", "integer", { type: "integer", minimum: 1, maximum: 100 }),
      inQuery("after", "string", { type: "string" }),
    ]),
  output: ({ model }) => jsonOutput(revisionsPage(model)),
  run: ({ spec }) => callOf(ofRuntime("history.revisions"), spec),
  errors: () => ["core.not_found", "invalid_cursor"],
});

export const revision = verb({
  name: "revision",
  summary: ({ a }) => `Read ${a} as it was at a revision`,
  rest: ["GET", "/{id}/revisions/{revision}"],
  rpc: ["GET", "/revision"],
  about: "one",
  twinOf: () => [get],
  when: withRevisions,
  input: ({ typeName }) => parametersInput(typeName, [idInPath, revisionInPath]),
  output: ({ model }) => {
    const members = { ...origin, data: refTo(model.typeName) };
    return jsonOutput(objectSchema(members, Object.keys(members)));
  },
  run: ({ spec }) => callOf(ofRuntime("history.revision"), spec),
  errors: () => ["core.not_found"],
});

export const revisionDiff = verb({
  name: "revision_diff",
  summary: ({ a }) => `Compare two revisions of ${a}`,
  rest: ["GET", "/{id}/revisions/{revision}/diff"],
  rpc: ["GET", "/revision_diff"],
  about: "one",
  twinOf: () => [get],
  when: withRevisions,
  input: ({ typeName }) => {
    const to = { ...revisionSchema, description: "The current one where left out." };
    return parametersInput(typeName, [idInPath, revisionInPath, inQuery("to", "integer", to)]);
  },
  output: () => jsonOutput(diffSchema),
  run: ({ spec }) => callOf(ofRuntime("history.revisionDiff"), spec),
  errors: () => ["core.not_found", "query_too_complex"],
});

function inQuery(name: string, type: ParameterModel["type"], schema: JsonSchema): ParameterModel {
  return { name, in: "query", type, required: false, schema };
}

function revisionsPage({ softDelete }: DocumentModel): JsonSchema {
  const members = {
    rev: revisionSchema,
    ...origin,
    ...(softDelete ? { is_deleted: { type: "boolean" } } : {}),
  };
  const page = {
    hits: { type: "array", items: objectSchema(members, Object.keys(members)) },
    next_cursor: { type: ["string", "null"] },
    has_more: { type: "boolean" },
  };
  return objectSchema(page, Object.keys(page));
}

const diffMembers = {
  from: revisionSchema,
  to: revisionSchema,
  changes: {
    type: "array",
    items: objectSchema({ path: { type: "string" }, from: true, to: true }, ["path"]),
    description: "JSON Pointers of what differs; a value that was absent is left out.",
  },
};
const diffSchema = objectSchema(diffMembers, Object.keys(diffMembers));
