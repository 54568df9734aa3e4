// Fields that a type no longer has, and that rows keep for the version before (`dropped`).
import type { FieldType } from "../../../../runtime/contract/fields.js";
import { declaredMembers, firstShape } from "../../../../runtime/contract/shapes.js";
import { storedName } from "../../../../runtime/contract/stored-members.js";
import { didYouMean } from "../../../diagnostics/did-you-mean.js";
import type { DeclaredDefault, RuleContext } from "../../../kernel/rule.js";
import { propertiesOf, type JsonSchema } from "../../../model/json-schema.js";
import { own } from "../../../model/records.js";
import type { Fit, TableSchema } from "../../../model/stored-tables.js";

/** A dropped field is none of the document's, and one that rows have. */
export function droppedWasThere({ loaded, expanded, database, report }: RuleContext): void {
  for (const document of Object.values(expanded.model.documents)) {
    const { name, table, bodySchema, former } = document;
    const before = own(database.tables, table);
    const rival = Object.fromEntries(
      Object.entries(former).map(([field, { name: was }]) => [was ?? field, field]),
    );
    for (const field of Object.keys(document.dropped)) {
      const at = { ...loaded.tree.at("documents", name, "dropped", field), isKey: true };
      if (Object.hasOwn(propertiesOf(bodySchema), field)) {
        report({ code: "OPW092", message: `${field} is still a field of ${name}`, at });
        continue;
      }
      const heir = own(rival, field);
      if (heir !== undefined) {
        const message = `${field} is what ${heir} was called, so its values stay with ${heir}`;
        report({ code: "OPW092", message, at });
        continue;
      }
      if (before === undefined) continue;
      const known = declaredMembers(before.shape ?? firstShape);
      if (known.includes(field)) {
        if (document.dropped[field] === null || !isUnique(before, field)) continue;
        const message = `no two ${name} have the same ${field}, so those to come cannot: drop it as null, or after its \`unique\` is purged`;
        report({ code: "OPW092", message, at });
        continue;
      }
      if (isGone(before, field)) {
        const message = `rows of ${name} have no ${field} any more: take it out of \`dropped\``;
        report({ code: "OPW093", message, at });
        continue;
      }
      const message = `${name} had no field ${field}`;
      report({ code: "OPW092", message, at, suggestion: didYouMean(field, known) });
    }
  }
}

function isUnique({ indexes, shape = firstShape }: TableSchema, field: string): boolean {
  const stored = storedName(shape, field);
  return Object.values(indexes).some(
    ({ unique, fields }) => unique !== undefined && fields.some(({ path }) => path === stored),
  );
}

function isGone({ shape = firstShape }: TableSchema, field: string): boolean {
  return shape.steps.some(({ drops }) => drops.includes(field));
}

/**
 * The values that rows get for the version before, with what is known of the fields that it has.
 */
export function droppedValues({
  loaded,
  expanded,
  database,
}: RuleContext): readonly DeclaredDefault[] {
  return Object.values(expanded.model.documents).flatMap(({ name, table, dropped }) => {
    const { shape = firstShape, fits = {} } = own(database.tables, table) ?? {};
    const known = declaredMembers(shape);
    return Object.entries(dropped).flatMap(([field, value]): readonly DeclaredDefault[] => {
      const fit = own(fits, field);
      if (fit === undefined || !known.includes(field)) return [];
      const at = loaded.tree.at("documents", name, "dropped", field, "as");
      return [{ what: "value", member: field, schema: schemaOf(fit), value, at }];
    });
  });
}

/** The values that fit, as far as it is known: of lists and objects only that they are some. */
function schemaOf({ type, isNullable, values, ...limits }: Fit): JsonSchema {
  return {
    type: [...typesOf(type), ...(isNullable ? ["null"] : [])],
    ...(type === "uuid" || type === "date" || type === "date-time" ? { format: type } : {}),
    ...(values === undefined ? {} : { enum: [...values, ...(isNullable ? [null] : [])] }),
    ...limits,
  };
}

function typesOf(type: FieldType): readonly string[] {
  switch (type) {
    case "integer":
    case "number":
    case "boolean":
      return [type];
    case "object":
      return ["object", "array"];
    default:
      return type.endsWith("[]") ? ["array"] : ["string"];
  }
}
