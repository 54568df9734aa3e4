// JSON Schemas of search requests and answers (decisions.md "Search").
import { limits } from "../../../runtime/contract/limits.js";
import { elementType } from "../../../runtime/contract/query-operators.js";
import {
  objectSchema,
  propertiesOf,
  type JsonSchema,
  type SchemaObject,
} from "../../model/json-schema.js";
import type { DocumentModel } from "../../model/document-model.js";
import type { SearchModel } from "./model.js";
import { listRequestSchema, scalarSchema } from "../documents/queries/query-schemas.js";
import { pageSchema } from "../documents/queries/page-schemas.js";

/** The body of a search: what a list takes, a query and options. */
export function searchRequestSchema(
  search: SearchModel,
  names: { readonly filter: string; readonly sorts: string; readonly field: string },
  options: {
    readonly isRaw: boolean;
    readonly byCursor: boolean;
    readonly expandable: readonly string[];
  },
): SchemaObject {
  const list = listRequestSchema(names, { ...options, listDeleted: false, isBounded: false });
  const properties = {
    query: querySchema,
    ...propertiesOf(list),
    options: optionsSchema(search),
  };
  return { ...list, properties };
}

const queryText = { type: "string", maxLength: limits.maxQueryLength };

/** The words of a query. */
export const querySchema: SchemaObject = {
  anyOf: [queryText, { type: "array", maxItems: limits.maxAlternatives, items: queryText }],
  description: 'Words that must all occur; "…" is a phrase, and * behind a word its beginning.',
};

function listOf(values: readonly string[]): SchemaObject {
  return {
    type: "array",
    minItems: 1,
    uniqueItems: true,
    items: { type: "string", enum: values },
  };
}

/** How matches are shown, of some fields; null where those can't be chosen. */
export function highlightSchema(fields: readonly string[] | null): SchemaObject {
  const tag = { type: "string", maxLength: 100 };
  return objectSchema(
    {
      ...(fields === null
        ? {}
        : { fields: { ...listOf(fields), description: "Of the fields that are searched." } }),
      pre_tag: { ...tag, default: "<em>" },
      post_tag: { ...tag, default: "</em>" },
      fragment_size: { type: "integer", minimum: 20, maximum: 1_000, default: 100 },
      max_fragments: { type: "integer", minimum: 1, maximum: 20, default: 3 },
    },
    [],
  );
}

/** Fragments of texts, by field. */
export function fragmentsSchema(fields: readonly string[]): SchemaObject {
  const fragments = { type: "array", items: { type: "string" } };
  return objectSchema(Object.fromEntries(fields.map((name) => [name, fragments])), []);
}

/** Options that a search over others has as well. */
export const matchOptions = {
  fuzzy: {
    type: "boolean",
    default: false,
    description: "Whether words count that are a typing error away.",
  },
  phrase_combine: { type: "string", enum: ["any", "all"], default: "any" },
  search_count: { type: "string", enum: ["exact", "approximate", "none"], default: "exact" },
} as const satisfies Readonly<Record<string, SchemaObject>>;

function optionsSchema({ text, facets }: SearchModel): SchemaObject {
  const names = Object.keys(text);
  const weight = { type: "number", minimum: 0, maximum: 1_000 };
  return objectSchema(
    {
      fuzzy: matchOptions.fuzzy,
      fields: listOf(names),
      weights: objectSchema(Object.fromEntries(names.map((name) => [name, weight])), []),
      phrase_combine: matchOptions.phrase_combine,
      search_count: matchOptions.search_count,
      ...(facets.length === 0
        ? {}
        : {
            facets: listOf(facets),
            facet_size: { type: "integer", minimum: 1, maximum: 1_000, default: 10 },
          }),
      highlight: {
        anyOf: [{ type: "boolean" }, highlightSchema(names)],
      },
      max_candidates: { type: "integer", minimum: 1, maximum: 100_000 },
    },
    [],
  );
}

/** A page of hits with their scores, and what was asked for besides. */
export function searchPageSchema(
  hit: JsonSchema,
  search: SearchModel,
  document: DocumentModel,
  byCursor: boolean,
): SchemaObject {
  const page = pageSchema(hit, byCursor);
  const value = (name: string): JsonSchema =>
    scalarSchema(elementType(document.fields[name] ?? "string")) ?? true;
  const facets = search.facets.map((name): [string, JsonSchema] => {
    const counted = { value: value(name), count: { type: "integer", minimum: 1 } };
    return [name, { type: "array", items: objectSchema(counted, ["value", "count"]) }];
  });
  const properties = {
    ...(page["properties"] as Readonly<Record<string, JsonSchema>>),
    count: { type: ["integer", "null"], minimum: 0 },
    scores: { type: "array", items: { type: "number" }, description: "Parallel to the hits." },
    ...(facets.length === 0 ? {} : { facets: objectSchema(Object.fromEntries(facets), []) }),
    highlights: {
      type: "array",
      items: fragmentsSchema(Object.keys(search.text)),
      description: "Parallel to the hits; the text is escaped as HTML.",
    },
  };
  const required = (page["required"] as readonly string[]).filter((name) => name !== "count");
  return objectSchema(properties, [...required, "count", "scores"]);
}
