// The forms in which versions of a registry tell documents: caches of clients must not take one for
// another (RFC 9110 §8.8).
import { createHash } from "node:crypto";
import type { Resolve } from "./resolve.js";
import type { DocumentModel } from "../model/document-model.js";
import { omitDescriptions, type JsonSchema } from "../model/json-schema.js";
import { referredTypes } from "../model/referred-types.js";
import type { TableSchema } from "../model/stored-tables.js";

/**
 * The form of a document's answers, given that of before: one more where its type, or one within
 * it, is another.
 */
export function formOf(
  { bodySchema, softDelete }: DocumentModel,
  resolve: Resolve,
  before: TableSchema["told"],
): NonNullable<TableSchema["told"]> {
  const types = new Map<string, unknown>();
  const visit = (schema: JsonSchema): void => {
    for (const type of referredTypes(schema)) {
      if (types.has(type)) continue;
      const named = resolve(type) ?? true;
      types.set(type, omitDescriptions(named));
      visit(named);
    }
  };
  visit(bodySchema);
  const told = [omitDescriptions(bodySchema), softDelete, [...types].sort()];
  const hash = createHash("sha256").update(JSON.stringify(told)).digest("hex").slice(0, 16);
  if (before === undefined) return { form: 1, hash };
  return before.hash === hash ? before : { form: before.form + 1, hash };
}
