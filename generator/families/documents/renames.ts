// Rules for the former names of documents, fields and values.
import { declaredMembers } from "../../../runtime/contract/shapes.js";
import { storedName } from "../../../runtime/contract/stored-members.js";
import { didYouMean } from "../../diagnostics/did-you-mean.js";
import type { Finding, Origin } from "../../diagnostics/diagnostics.js";
import type { TableSchema } from "../../model/stored-tables.js";
import { documentMemberAt, typeMemberAt } from "../../load/member-places.js";
import { storedTypes } from "./made-of.js";
import { isMap } from "../../load/shape.js";
import { formerName, formerValueOf } from "../../load/former-names.js";
import { propertiesOf } from "../../model/json-schema.js";
import { own } from "../../model/records.js";
import type { DocumentModel, FormerNames } from "../../model/document-model.js";
import type { RuleContext } from "../../kernel/rule.js";

/** With a former name that never existed, or that something else still has, rows would be lost. */
export function formerNamesLeadSomewhere({
  loaded,
  expanded,
  database,
  report,
}: RuleContext): void {
  const { model } = expanded;
  for (const document of Object.values(model.documents)) {
    const { name, table } = document;
    const at = loaded.tree.at("documents", name, "was");
    for (const fault of documentFaults(document, database.tables))
      report({ code: "OPW039", ...fault, at });
    for (const [field, former] of Object.entries(document.former)) {
      const fault = fieldFault(document, field, former, own(database.tables, table));
      if (fault !== null)
        report({ code: "OPW039", ...fault, at: documentMemberAt(loaded.tree, name, field) });
    }
  }
  const ofDocuments = storedTypes(loaded.tree);
  for (const [type, said] of Object.entries(loaded.tree.section("types"))) {
    if (ofDocuments.has(type)) continue;
    // What it has by extending another type is said there.
    const isInherited = (member: string): boolean =>
      isMap(said) && "extends" in said && !Object.hasOwn(said, member);
    const members = Object.entries(propertiesOf(model.types[type] ?? true));
    for (const [member, schema] of members.filter(([name]) => !isInherited(name)))
      if (formerName(schema) !== undefined || Object.hasOwn(formerValueOf(schema), "is"))
        report(notStored(`${type}.${member}`, typeMemberAt(loaded.tree, type, member)));
  }
}

interface Fault {
  readonly message: string;
  readonly suggestion?: Finding["suggestion"];
}

function documentFaults(
  { name, table }: DocumentModel,
  tables: Readonly<Record<string, TableSchema>>,
): readonly Fault[] {
  if (table === name) {
    const kept = Object.keys(tables).find((other) => tables[other]?.document === name);
    if (kept === undefined) return [];
    return [
      { message: `documents of ${name} are stored in the table ${kept}: keep \`was: ${kept}\`` },
    ];
  }
  const known = Object.keys(tables);
  if (known.length === 0 || known.includes(table)) return [];
  return [{ message: `no documents were called ${table}`, suggestion: didYouMean(table, known) }];
}

function fieldFault(
  { name, bodySchema, former, fields }: DocumentModel,
  field: string,
  { name: was, by, values }: FormerNames,
  before: TableSchema | undefined,
): Fault | null {
  const isOpen = typeof bodySchema === "boolean" || bodySchema["additionalProperties"] !== false;
  if (isOpen)
    return {
      message: `${name} may have members of any name, so ${field} cannot be renamed: declare \`additionalProperties: false\``,
    };
  if (Object.keys(values).length > 0 && own(fields, field) !== "enum")
    return {
      message: `values of ${name}.${field} cannot be renamed: only those of a field that holds one of them can`,
    };
  const unknown = unknownValue(field, values, before, was);
  if (unknown !== undefined) return { message: `${name}.${field} had no value ${unknown}` };
  const shape = before?.shape;
  if (was === null || shape === undefined) return null;
  const known = declaredMembers(shape);
  const rival = Object.keys(former).find(
    (other) => other !== field && former[other]?.name === was && former[other]?.by === null,
  );
  if (by === null && rival !== undefined)
    return { message: `${field} and ${rival} cannot both have been called ${was}` };
  if (known.includes(field)) {
    // Once a migration knows the name, `was` has done its work.
    const isDone = !known.includes(was) || storedName(shape, field) === was;
    const message = `${field} and ${was} are both fields of ${name} already, so neither can have been called as the other is`;
    return isDone ? null : { message };
  }
  if (Object.hasOwn(propertiesOf(bodySchema), was))
    return {
      message: `${was} is still a field of ${name}, so ${field} cannot have been called that`,
    };
  if (known.includes(was)) return null;
  return { message: `${name} had no field ${was}`, suggestion: didYouMean(was, known) };
}

/** A former value that the field did not have at the last migration. */
function unknownValue(
  field: string,
  values: Readonly<Record<string, string>>,
  before: TableSchema | undefined,
  was: string | null,
): string | undefined {
  const fits = before?.fits ?? {};
  const known = (own(fits, field) ?? own(fits, was ?? field))?.values;
  if (known === undefined) return undefined;
  return Object.entries(values).find(
    ([value, former]) => !known.includes(value) && !known.includes(former),
  )?.[1];
}

function notStored(place: string, at: Origin) {
  return {
    code: "OPW039",
    message: `${place} is not stored, so it has no \`was\` and no \`former\``,
    at,
  } as const;
}
