// `no_overlap:` of a document: which ranges exclude each other.
import type { Fields } from "../../../../runtime/contract/fields.js";
import type { FamilyContext } from "../../../kernel/family.js";
import { own } from "../../../model/records.js";
import type { DocumentModel, OverlapModel } from "../../../model/document-model.js";
import { listLayout, literal } from "../../../print/layout.js";
import type { DocumentDeclaration, OverlapDeclaration } from "../format.js";
import { checkField } from "./check-field.js";
import { checkCount } from "./indexes.js";
import { conditionText, storedValues, whereText } from "./some-values.js";

/** Types of fields whose values have an order that fits ranges. */
const ordered = ["date-time", "date", "integer", "number"];

/**
 * The rules of a document, in one form. Reports fields that are not there, and ranges between what
 * has no common order (OPW107).
 */
export function overlapsOf(
  context: FamilyContext,
  name: string,
  { no_overlap: declared = [] }: DocumentDeclaration,
  fields: Fields,
  canonical: DocumentModel["canonical"],
): readonly OverlapModel[] {
  const isAlone = !Array.isArray(declared);
  const rules = [declared].flat() as readonly OverlapDeclaration[];
  return rules.map(({ per = [], range, where = {} }, position): OverlapModel => {
    const path = ["documents", name, "no_overlap", ...(isAlone ? [] : [position])];
    const [from = "", to = ""] = range;
    // Who owns a document is none of its fields, and stays as it is; dates of its changes do not.
    for (const [at, field] of per.entries())
      checkField(context, { ...fields, owner_id: "string" }, field, [...path, "per", at]);
    for (const [at, field] of range.entries())
      checkField(context, fields, field, [...path, "range", at]);
    const [again] = [...per, ...range].filter((field, at, all) => all.indexOf(field) !== at);
    if (again !== undefined && per.includes(again))
      context.report({
        code: "OPW107",
        message: `${again} is named twice`,
        at: context.tree.at(...path),
      });
    checkCount(context, [...per, to], [...path, "per"]);
    checkRange(context, fields, range, [...path, "range"]);
    const stored = storedValues(context, { fields, canonical }, where, path);
    return { per, from, to, where: stored };
  });
}

function checkRange(
  { tree, report }: FamilyContext,
  fields: Fields,
  range: readonly string[],
  path: readonly (string | number)[],
): void {
  const types = range.map((field) => own(fields, field));
  // What is not there was reported.
  if (types.includes(undefined)) return;
  const [begin] = types;
  const isOrdered = types.every((type) => type === begin) && ordered.includes(begin ?? "");
  if (new Set(range).size === 2 && range.length === 2 && isOrdered) return;
  const told = range.map((field, at) => `${field} (${types[at]})`).join(" and ");
  report({ code: "OPW107", message: `there is no range between ${told}`, at: tree.at(...path) });
}

/** The rules as a spec has them. */
export function overlapsMember({ overlaps }: DocumentModel): readonly string[] {
  const lines = overlaps.map(({ per, from, to, where }) => {
    const members = [
      `per: [${per.map(literal).join(", ")}]`,
      `from: ${literal(from)}`,
      `to: ${literal(to)}`,
      ...whereText(where),
    ];
    return listLayout("    ", "", members, ["{", "}"], ",");
  });
  return lines.length === 0 ? [] : ["  noOverlap: [", ...lines, "  ],"];
}

/** A rule in words. */
export function overlapText({ per, from, to, where }: OverlapModel): string {
  const among = conditionText(where);
  const shared = per.length === 0 ? "" : ` of one ${per.join(" and ")}`;
  return `ranges between ${from} and ${to} that overlap with others${shared}${among}`;
}
