// The operation of a search over others, and the schemas of its request and answer.
import { limits } from "../../../runtime/contract/limits.js";
import { jsonOutput } from "../../kernel/operation.js";
import type { Verb } from "../../kernel/verb.js";
import { callOf, ofRuntime, type Code } from "../../model/code.js";
import type { DocumentModel } from "../../model/document-model.js";
import {
  objectSchema,
  refTo,
  type JsonSchema,
  type SchemaObject,
} from "../../model/json-schema.js";
import { bodyInput } from "../../model/registry.js";
import { queryTypeNames } from "../documents/queries/query-type-names.js";
import { listErrors } from "../documents/verbs/lists.js";
import type { JointSearchModel, SearchModel } from "./model.js";
import { fragmentsSchema, highlightSchema, matchOptions, querySchema } from "./schemas.js";

/** What the parts of the verb are made from; searches and documents are parallel. */
export interface JointPlace {
  readonly model: JointSearchModel;
  readonly searches: readonly SearchModel[];
  readonly documents: readonly DocumentModel[];
  /** The search as generated code names it. */
  readonly spec: Code;
  readonly typeName: string;
}

/** `POST` of its mount: the best hits of all, by cursor. */
export const find: Verb<JointPlace> = {
  name: "find",
  summary: ({ many }) => `Search ${many} together`,
  rest: ["POST", ""],
  rpc: ["POST", "/find"],
  input: ({ documents, spec, typeName }) =>
    bodyInput(requestSchema(documents), typeName, callOf(ofRuntime("jointInput"), spec)),
  output: (place) => jsonOutput(answerSchema(place)),
  run: ({ spec }) => callOf(ofRuntime("jointSearch"), spec),
  errors: () => [...listErrors, "invalid_cursor"],
};

function requestSchema(documents: readonly DocumentModel[]): SchemaObject {
  const names = documents.map(({ name }) => name);
  const filters = documents.map(({ name }): [string, JsonSchema] => [
    name,
    refTo(queryTypeNames(name).filter),
  ]);
  return objectSchema(
    {
      query: querySchema,
      kinds: {
        type: "array",
        minItems: 1,
        uniqueItems: true,
        items: { type: "string", enum: names },
        description: "Only these; all where left out.",
      },
      filters: objectSchema(Object.fromEntries(filters), []),
      size: {
        type: "integer",
        minimum: 1,
        maximum: limits.maxPageSize,
        default: limits.defaultJointSize,
      },
      after: { type: "string", description: "The `next_cursor` of the page before." },
      options: objectSchema(
        {
          ...matchOptions,
          highlight: { anyOf: [{ type: "boolean" }, highlightSchema(null)] },
        },
        [],
      ),
    },
    ["query"],
  );
}

function answerSchema({ searches, documents }: JointPlace): SchemaObject {
  const hits = documents.map(({ name, typeName }, at) =>
    objectSchema(
      {
        kind: { const: name },
        score: { type: "number" },
        document: refTo(typeName),
        highlights: fragmentsSchema(Object.keys(searches[at]?.text ?? {})),
      },
      ["kind", "score", "document"],
    ),
  );
  const counts = documents.map(({ name }): [string, JsonSchema] => [
    name,
    { type: "integer", minimum: 0 },
  ]);
  return objectSchema(
    {
      hits: { type: "array", items: hits.length === 1 ? (hits[0] ?? true) : { oneOf: hits } },
      next_cursor: { type: ["string", "null"] },
      has_more: { type: "boolean" },
      counts: {
        ...objectSchema(Object.fromEntries(counts), []),
        description: "Of each kind that the caller may read; empty without a count.",
      },
    },
    ["hits", "next_cursor", "has_more", "counts"],
  );
}
