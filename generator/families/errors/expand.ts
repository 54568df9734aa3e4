// `errors:` → codes with their kinds and the types of what they tell.
import { errors } from "../../../runtime/contract/errors.js";
import type { FamilyContext } from "../../kernel/family.js";
import { resolveSchema, type Resolve } from "../../kernel/resolve.js";
import { referredType } from "../../model/json-schema.js";
import { pascalCase } from "../../model/names.js";
import { sortedRecord } from "../../model/records.js";
import type { OwnErrorModel } from "./model.js";

/**
 * The errors of a service. Puts the types of their contexts into the table; reports codes that are
 * taken.
 */
export function errorModels({
  declarations,
  tree,
  types,
  report,
}: FamilyContext): Readonly<Record<string, OwnErrorModel>> {
  const models = new Map<string, OwnErrorModel>();
  const resolve: Resolve = (type) => types.table.schemas.get(type);
  for (const [code, { kind, detail, context, retryable }] of Object.entries(declarations.errors)) {
    if (Object.hasOwn(errors, code))
      report({
        code: "OPW003",
        message: `${code} is an error of opwright's own`,
        at: tree.keyAt("errors", code),
      });
    const inlineName = `${pascalCase(code)}Context`;
    const at = tree.at("errors", code, "context");
    const schema = context === undefined ? undefined : types.readType(context, at, inlineName);
    const referred = schema === undefined ? undefined : referredType(schema);
    if (schema !== undefined && referred === undefined) types.table.add(inlineName, schema, at);
    const type = schema === undefined ? undefined : resolveSchema(schema, resolve);
    if (type !== undefined && (typeof type === "boolean" || type["type"] !== "object"))
      report({ code: "OPW011", message: `what ${code} tells must be an object`, at });
    models.set(code, {
      kind,
      detail,
      retryable: retryable ?? false,
      contextType: schema === undefined ? null : (referred ?? inlineName),
    });
  }
  return sortedRecord(models);
}
