// documents.get_deleted and list_deleted: reading documents that are marked as deleted.
import { idInPath } from "../../../kernel/built-in.js";
import { jsonOutput } from "../../../kernel/operation.js";
import { callOf, ofRuntime } from "../../../model/code.js";
import { refTo } from "../../../model/json-schema.js";
import { bodyInput } from "../../../model/registry.js";
import { listRequestSchema } from "../queries/query-schemas.js";
import { pageSchema } from "../queries/page-schemas.js";
import { queryTypeNames } from "../queries/query-type-names.js";
import { listErrors } from "./lists.js";
import { parametersInput, verb, withReadableDeleted } from "./verb.js";

export const getDeleted = verb({
  name: "get_deleted",
  summary: ({ one }) => `Read a deleted ${one}`,
  rest: ["GET", "/{id}/deleted"],
  rpc: ["GET", "/get_deleted"],
  about: "one",
  does: [],
  when: withReadableDeleted,
  input: ({ typeName }) => parametersInput(typeName, [idInPath]),
  output: ({ model }) => jsonOutput(refTo(model.typeName), { hasEntityTag: true }),
  run: ({ spec }) => callOf(ofRuntime("history.getDeleted"), spec),
  errors: () => ["core.not_found"],
  isConditional: true,
});

export const listDeleted = verb({
  name: "list_deleted",
  summary: ({ many }) => `List deleted ${many} by cursor`,
  rest: ["POST", "/list_deleted"],
  about: "found",
  twinOf: () => [getDeleted],
  when: withReadableDeleted,
  input: ({ model, spec, typeName }) => {
    const paging = { byCursor: true, isBounded: false };
    const options = { ...paging, isRaw: false, listDeleted: false, expandable: [] };
    const schema = listRequestSchema(queryTypeNames(model.name), options);
    return bodyInput(schema, typeName, callOf(ofRuntime("history.listing"), spec));
  },
  output: ({ model }) => jsonOutput(pageSchema(refTo(model.typeName), true)),
  run: ({ spec }) => callOf(ofRuntime("history.listDeleted"), spec),
  errors: () => [...listErrors, "invalid_cursor"],
});
