// The verbs of searches, in the order of the catalogue.
import { jsonOutput } from "../../kernel/operation.js";
import type { Verb } from "../../kernel/verb.js";
import { callOf, ofRuntime, type Code } from "../../model/code.js";
import type { DocumentModel } from "../../model/document-model.js";
import { refTo, type JsonSchema } from "../../model/json-schema.js";
import { camelCase } from "../../model/names.js";
import type { SearchModel } from "./model.js";
import { bodyInput } from "../../model/registry.js";
import { listErrors } from "../documents/verbs/lists.js";
import { chosenFields } from "../documents/queries/page-schemas.js";
import { queryTypeNames } from "../documents/queries/query-type-names.js";
import { searchPageSchema, searchRequestSchema } from "./schemas.js";

/** What the parts of a verb are made from. */
export interface SearchPlace {
  readonly model: SearchModel;
  readonly document: DocumentModel;
  /** The search as generated code names it. */
  readonly spec: Code;
  readonly typeName: string;
}

export type SearchVerb = Verb<SearchPlace>;

const wholeDocuments = ({ document }: SearchPlace): JsonSchema => refTo(document.readTypeName);

/** The verbs in the order of the catalogue. */
export const searchVerbs: readonly SearchVerb[] = [
  searchVerb("typed", ({ many }) => `Search ${many} by page`, wholeDocuments),
  searchVerb(
    "raw",
    ({ many }) => `Search ${many} by page, for chosen fields`,
    () => chosenFields,
  ),
  searchVerb("typed_cursor", ({ many }) => `Search ${many} by cursor`, wholeDocuments),
  searchVerb(
    "raw_cursor",
    ({ many }) => `Search ${many} by cursor, for chosen fields`,
    () => chosenFields,
  ),
];

function searchVerb(
  name: string,
  summary: SearchVerb["summary"],
  hitOf: (place: SearchPlace) => JsonSchema,
): SearchVerb {
  const [isRaw, byCursor] = [name.startsWith("raw"), name.endsWith("cursor")];
  return {
    name,
    summary,
    rest: ["POST", `/${name}`],
    input({ model, document, spec, typeName }) {
      const options = { isRaw, byCursor, expandable: document.expandable };
      const schema = searchRequestSchema(model, queryTypeNames(document.name), options);
      return bodyInput(schema, typeName, callOf(ofRuntime(`searchInput.${camelCase(name)}`), spec));
    },
    output: (place) =>
      jsonOutput(searchPageSchema(hitOf(place), place.model, place.document, byCursor)),
    run: ({ spec }) => callOf(ofRuntime(`search.${camelCase(name)}`), spec),
    errors: () => [...listErrors, ...(byCursor ? ["invalid_cursor"] : [])],
  };
}
