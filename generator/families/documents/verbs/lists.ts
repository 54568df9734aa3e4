// documents.list, raw_list, list_cursor, raw_list_cursor and agg_list: they speak the query
// language.
import { jsonOutput } from "../../../kernel/operation.js";
import type { VerbRoute } from "../../../kernel/verb.js";
import { callOf, ofRuntime } from "../../../model/code.js";
import { refTo } from "../../../model/json-schema.js";
import { camelCase } from "../../../model/names.js";
import { queryableFields } from "../../../model/query-fields.js";
import { bodyInput, type OutputModel } from "../../../model/registry.js";
import {
  aggregatePage,
  aggregateRequestSchema,
  aggregateTypeNames,
} from "../queries/aggregate-schemas.js";
import { listRequestSchema } from "../queries/query-schemas.js";
import { pageSchema, rawPages } from "../queries/page-schemas.js";
import { queryTypeNames } from "../queries/query-type-names.js";
import { get } from "./get.js";
import { always, verb, type DocumentPlace, type DocumentVerb } from "./verb.js";

export const listErrors = [
  "query_invalid",
  "field_not_queryable",
  "query_operator_type_mismatch",
  "query_too_complex",
];

export const list = verb({
  name: "list",
  summary: ({ many }) => `List ${many} by page`,
  ...listFacts("list", "page", ({ model }) =>
    jsonOutput(pageSchema(refTo(model.readTypeName), false)),
  ),
  ofViews: true,
});

export const rawList = verb({
  name: "raw_list",
  summary: ({ many }) => `List chosen fields of ${many} by page`,
  ...listFacts("raw_list", "rawPage", () => jsonOutput(refTo(rawPages.byNumber.name))),
});

export const listCursor = verb({
  name: "list_cursor",
  summary: ({ many }) => `List ${many} by cursor`,
  ...listFacts("list_cursor", "cursor", ({ model }) =>
    jsonOutput(pageSchema(refTo(model.readTypeName), true)),
  ),
  ofViews: true,
});

export const rawListCursor = verb({
  name: "raw_list_cursor",
  summary: ({ many }) => `List chosen fields of ${many} by cursor`,
  ...listFacts("raw_list_cursor", "rawCursor", () => jsonOutput(refTo(rawPages.byCursor.name))),
});

export const aggList = verb({
  name: "agg_list",
  summary: ({ many }) => `Group ${many} and compute over the groups`,
  ...ofQuery("agg_list"),
  input: ({ model, spec, typeName }) => {
    const names = { ...queryTypeNames(model.name), ...aggregateTypeNames(model.name) };
    const schema = aggregateRequestSchema(queryableFields(model), names, model.listDeleted);
    return bodyInput(schema, typeName, callOf(ofRuntime("aggInput"), spec));
  },
  output: () => jsonOutput(refTo(aggregatePage.name)),
  run: ({ spec }) => callOf(ofRuntime("aggList"), spec),
  errors: () => listErrors,
});

/** The facts of a list; `reader` is the name of its input in the runtime. */
function listFacts(name: string, reader: string, output: (place: DocumentPlace) => OutputModel) {
  const [isRaw, byCursor] = [name.startsWith("raw_"), name.endsWith("cursor")];
  return {
    ...ofQuery(name),
    input: ({ model, spec, typeName }: DocumentPlace) => {
      const { listDeleted, expandable } = model;
      const options = { isRaw, byCursor, listDeleted, isBounded: !byCursor, expandable };
      const schema = listRequestSchema(queryTypeNames(model.name), options);
      return bodyInput(schema, typeName, callOf(ofRuntime(`listing.${reader}`), spec));
    },
    output,
    run: ({ spec }) => callOf(ofRuntime(`documents.${camelCase(name)}`), spec),
    errors: () => [...listErrors, ...(byCursor ? ["invalid_cursor"] : [])],
  } satisfies Partial<DocumentVerb>;
}

function ofQuery(name: string) {
  const route: VerbRoute = ["POST", `/${name}`];
  return {
    rest: route,
    about: "found",
    twinOf: () => [get],
    when: always,
  } satisfies Partial<DocumentVerb>;
}
