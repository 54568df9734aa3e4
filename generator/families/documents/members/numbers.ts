// `$number` of a field that the service sets: running numbers, as invoices and tickets have them.
import type { FieldType } from "../../../../runtime/contract/fields.js";
import {
  dateParts,
  printNumber,
  readNumberFormat,
} from "../../../../runtime/contract/running-numbers.js";
import { inside, type Origin, type Report } from "../../../diagnostics/diagnostics.js";
import type { FamilyContext } from "../../../kernel/family.js";
import { checkTimeZone } from "../../../kernel/time-zones.js";
import type { DeclaredDefault, RuleContext } from "../../../kernel/rule.js";
import { propertiesOf } from "../../../model/json-schema.js";
import { own } from "../../../model/records.js";
import type { NumberModel, SetModel } from "../../../model/document-model.js";
import { callLayout, literal } from "../../../print/layout.js";
import type { ModuleScope } from "../../../print/module-scope.js";
import type { NumberDeclaration } from "../format.js";

/** The numbers that a declaration means. */
export function numberOf({
  format,
  per = [],
  start = 1,
  timezone = "UTC",
  gaps = false,
}: NumberDeclaration): NumberModel {
  return { kind: "number", format: format ?? null, per, start, timezone, hasGaps: gaps };
}

/** What keeps a field from having these numbers. */
export function numberFaults(
  field: string,
  { format, per }: NumberModel,
  typeOf: (path: string) => FieldType | undefined,
): readonly string[] {
  const type = typeOf(field);
  const wanted = format === null ? "integer" : "string";
  const kind = format === null ? "numbers" : "texts";
  const ofFields = per.filter((name) => !isDatePart(name));
  const unclear = per.filter((name) => isDatePart(name) && typeOf(name) !== undefined);
  return [
    ...(type === wanted ? [] : [`${field} has ${kind}, and is no plain ${wanted}`]),
    ...(new Set(per).size === per.length ? [] : [`\`per\` names something twice`]),
    ...unclear.map(
      (name) => `${name} is a part of the date, and a field: call the field otherwise`,
    ),
    ...ofFields.flatMap((name) => fieldFaults(field, name, typeOf(name))),
    ...(format === null ? [] : formatFaults(format, per)),
  ];
}

/** Numbers are what their fields can have: the first one is tried, as defaults are. */
export function firstNumbers({ loaded, expanded }: RuleContext): readonly DeclaredDefault[] {
  return Object.values(expanded.model.documents).flatMap(({ name, set, bodySchema }) =>
    set.flatMap(({ field: member, from }): readonly DeclaredDefault[] => {
      const schema = own(propertiesOf(bodySchema), member);
      if (from.kind !== "number" || schema === undefined) return [];
      const parts = from.format === null ? null : readNumberFormat(from.format);
      const values = { year: "2026", month: "01", day: "01" };
      const value = parts === null ? from.start : printNumber(parts, from.start, values);
      const at = loaded.tree.at("documents", name, "set", member);
      // What a format names besides is not known yet.
      const isKnown = from.per.every((field) => isDatePart(field));
      return isKnown ? [{ what: "first number", member, schema, value, at }] : [];
    }),
  );
}

function fieldFaults(field: string, name: string, type: FieldType | undefined): readonly string[] {
  if (name === "tenant" && type === undefined)
    return ["numbers count within a tenant anyway: leave `tenant` out of `per`"];
  if (type === undefined) return [`there is no ${name} with which numbers could begin anew`];
  const isScalar = type !== "object" && !type.endsWith("[]") && name !== field;
  return isScalar ? [] : [`numbers of ${field} cannot begin anew with ${name}`];
}

function formatFaults(format: string, per: readonly string[]): readonly string[] {
  const parts = readNumberFormat(format);
  if (parts === null)
    return [`${format} needs the number once, in braces such as {0000}, and no other braces`];
  const named = parts.flatMap((part) => ("name" in part ? [part.name] : []));
  return [
    ...named
      .filter((name) => !isDatePart(name) && !per.includes(name))
      .map((name) => `${format} names ${name}, which is neither a part of the date nor in \`per\``),
    // Else the same text would come again.
    ...per
      .filter((name) => isDatePart(name) && !isTold(name, named))
      .map((name) => `numbers begin anew with each ${name}, which ${format} does not tell`),
  ];
}

/** Days of a month come again with the next month, months with the next year. */
function isTold(name: string, named: readonly string[]): boolean {
  return dateParts
    .slice(0, dateParts.findIndex((part) => part === name) + 1)
    .every((part) => named.includes(part));
}

function isDatePart(name: string): boolean {
  return dateParts.some((part) => part === name);
}

/** Reports what is wrong with a rule by itself. */
export function checkNumber(report: Report, { field, on, from }: SetModel, at: Origin): void {
  if (from.kind !== "number") return;
  const message = `${field} gets its number when the document is created, and keeps it`;
  if (on === "write") report({ code: "OPW090", message, at });
  checkTimeZone(report, "OPW090", from.timezone, inside(inside(at, "$number"), "timezone"));
}

/** The rules as a spec has them. */
export function numbersMember(set: readonly SetModel[], scope: ModuleScope): readonly string[] {
  const lines = set.flatMap(({ field, from }) => {
    if (from.kind !== "number") return [];
    const { format, per, start, timezone, hasGaps } = from;
    const options = [
      ...(format === null ? [] : [`format: ${literal(format)}`]),
      ...(per.length === 0 ? [] : [`per: [${per.map(literal).join(", ")}]`]),
      ...(start === 1 ? [] : [`start: ${start}`]),
      ...(timezone === "UTC" ? [] : [`timezone: ${literal(timezone)}`]),
      ...(hasGaps ? ["hasGaps: true"] : []),
    ];
    return [
      `    ${callLayout("    ", "", scope.runtime("numberedBy"), [literal(field)], options, [])},`,
    ];
  });
  return lines.length === 0 ? [] : ["  numbers: [", ...lines, "  ],"];
}

/** The fields that get numbers. */
export function numberFields(set: readonly SetModel[]): readonly string[] {
  return set.flatMap(({ field, from }) => (from.kind === "number" ? [field] : []));
}

/** Reports numbers that begin anew with other numbers, which nobody knows before they are given. */
export function refuseCountedNumbers(
  { report, tree }: FamilyContext,
  name: string,
  set: readonly SetModel[],
): void {
  const numbers = numberFields(set);
  for (const { field, from } of set) {
    const other =
      from.kind === "number" ? from.per.find((one) => numbers.includes(one)) : undefined;
    if (other === undefined || other === field) continue;
    const message = `numbers of ${field} cannot begin anew with ${other}, which is a number itself`;
    report({ code: "OPW090", message, at: tree.at("documents", name, "set", field) });
  }
}
