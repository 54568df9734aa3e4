// Fields that the service sets, in two registries: changes of their sources.
import { tellExchange, type Tell } from "../../../compare/rules.js";
import type { DocumentModel, NumberModel, SetModel } from "../../../model/document-model.js";
import { propertiesOf } from "../../../model/json-schema.js";
import { own } from "../../../model/records.js";
import type { RegistryModel } from "../../../model/registry.js";

/**
 * Reports what changes of the fields that both documents have. That callers write one from now on,
 * or no longer, is told of the payload.
 */
export function compareSet(
  before: readonly [DocumentModel, RegistryModel],
  after: readonly [DocumentModel, RegistryModel],
  tell: Tell,
): void {
  const sides = [before, after];
  for (const field of new Set(sides.flatMap(([{ set }]) => set.map((rule) => rule.field)))) {
    if (!sides.every(([{ typeName }, { types }]) => hasMember(types, typeName, field))) continue;
    const [old, next] = sides.map(([{ set }]) => set.find((rule) => rule.field === field));
    const [was, is] = [old, next].map(sourceText);
    if (was === is) continue;
    if (next === undefined) tell("breaking", `no longer sets ${field} to ${was}`, field);
    else if (old === undefined) tell("breaking", `sets ${field} to ${is}`, field);
    else if (isOfDocument(old) && isOfDocument(next))
      tell("breaking", `sets ${field} to ${is} instead of ${was}`, field);
    // What a rule of the author's or the caller stands for, may decide who sees the document.
    else
      for (const [level, what] of tellExchange(`sets ${field} to ${is} instead of ${was}`))
        tell(level, what, field);
  }
}

function hasMember(types: RegistryModel["types"], type: string, field: string): boolean {
  return Object.hasOwn(propertiesOf(own(types, type) ?? true), field);
}

/** Whether it follows from the document or the clock alone. */
function isOfDocument({ from: { kind } }: SetModel): boolean {
  return ["sum", "count", "now", "number"].includes(kind);
}

/** The source of a field, and the moment. Clients don't care about files. */
function sourceText(rule: SetModel | undefined): string {
  if (rule === undefined) return "";
  const value = valueText(rule.from);
  if (rule.from.kind === "handler") return value;
  return rule.on === "absent" ? `${value} if it is left out` : `${value} on ${rule.on}`;
}

function valueText(from: SetModel["from"]): string {
  switch (from.kind) {
    case "by":
      return `what ${from.function.slice(from.function.indexOf("#") + 1)} makes`;
    case "sum":
      return `the sum of ${from.paths.join(" and ")}`;
    case "count":
      return `the count of ${from.path}`;
    case "number":
      return numberText(from);
    case "handler":
      return "what handlers give it";
    case "now":
      return "the time";
    default:
      return `the ${from.kind}`;
  }
}

function numberText({ format, per, start, timezone, hasGaps }: NumberModel): string {
  return [
    `the next number from ${start}`,
    ...(format === null ? [] : [`as ${format}`]),
    ...(per.length === 0 ? [] : [`per ${per.join(" and ")}`]),
    ...(timezone === "UTC" ? [] : [`by the time in ${timezone}`]),
    ...(hasGaps ? ["with gaps"] : []),
  ].join(" ");
}
