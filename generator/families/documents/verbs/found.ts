// documents.update_where and delete_where: they write all documents that a filter finds.
import { jsonOutput } from "../../../kernel/operation.js";
import type { VerbRoute } from "../../../kernel/verb.js";
import { callOf, ofRuntime } from "../../../model/code.js";
import type { DocumentModel } from "../../../model/document-model.js";
import {
  objectSchema,
  refTo,
  type JsonSchema,
  type SchemaObject,
} from "../../../model/json-schema.js";
import { bodyInput } from "../../../model/registry.js";
import { queryTypeNames } from "../queries/query-type-names.js";
import { markDeleted } from "./delete.js";
import { get } from "./get.js";
import { kill } from "./kill.js";
import { listErrors } from "./lists.js";
import { update } from "./update.js";
import { type DocumentPlace, verb, type DocumentVerb, withBulk } from "./verb.js";

// A filter reveals which documents exist, so these are twins of `get` as well.
export const updateWhere = verb({
  name: "update_where",
  summary: ({ many }) => `Change all ${many} that a filter finds`,
  twinOf: () => [get, update],
  ...ofFound("update_where", "updateWhere", (model) => ({ patch: refTo(model.patchTypeName) })),
});

export const deleteWhere = verb({
  name: "delete_where",
  summary: ({ many }) => `Delete all ${many} that a filter finds`,
  twinOf: ({ softDelete }) => [get, softDelete ? markDeleted : kill],
  ...ofFound("delete_where", "deleteWhere", () => ({})),
});

/** The facts that both have in common; `handler` is their name in the runtime. */
function ofFound(
  name: string,
  handler: string,
  membersOf: (model: DocumentModel) => Readonly<Record<string, JsonSchema>>,
): Omit<DocumentVerb, "name" | "summary" | "does" | "twinOf"> {
  const route: VerbRoute = ["POST", `/${name}`];
  return {
    rest: route,
    about: "found",
    when: withBulk,
    input: ({ model, spec, typeName }: DocumentPlace) => {
      const read = callOf(ofRuntime(`bulkInput.${handler}`), spec);
      return bodyInput(requestSchema(model, membersOf(model)), typeName, read);
    },
    output: () => jsonOutput(matchedSchema),
    run: ({ model, spec, twins }: DocumentPlace) =>
      callOf(ofRuntime(`bulk.${handler}`), spec, { literal: model.bulk ?? 0 }, ...twins),
    errors: () => ["bulk_refused", ...listErrors],
  };
}

function requestSchema(
  { name }: DocumentModel,
  members: Readonly<Record<string, JsonSchema>>,
): SchemaObject {
  const filters = refTo(queryTypeNames(name).filter);
  const dryRun: JsonSchema = {
    type: "boolean",
    default: false,
    description: "true only counts what the filter finds.",
  };
  return objectSchema({ filters, ...members, dry_run: dryRun }, [
    "filters",
    ...Object.keys(members),
  ]);
}

/** How many documents the filter found, and how many of these were written. */
const matchedSchema: SchemaObject = objectSchema(
  { matched: { type: "integer", minimum: 0 }, done: { type: "integer", minimum: 0 } },
  ["matched", "done"],
);
