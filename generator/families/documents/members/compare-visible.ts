// What changes of who may see a field are to callers.
import { isDeepStrictEqual } from "node:util";
import { differences } from "../../../compare/differences.js";
import { comparePermissions } from "../../../compare/hooks.js";
import type { Told } from "../../../compare/rules.js";
import type { DocumentModel, VisiblePolicyModel } from "../../../model/document-model.js";
import { own } from "../../../model/records.js";

type Visible = DocumentModel["visible"];

/** The rule of fields that only some may see: one policy more opens, one less breaks. */
export function visibleChanged(before: Visible | undefined, after: Visible): readonly Told[] {
  // A registry that an earlier version froze has none.
  const [was, is] = [byField(before ?? []), byField(after)];
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((field) =>
    fieldChanged(field, own(was, field) ?? null, own(is, field) ?? null),
  );
}

/** Fields that others may see than before, or nobody but some. */
export function fieldsHiddenAnew(before: Visible, after: Visible): readonly string[] {
  const [was, is] = [byField(before), byField(after)];
  return Object.keys(is).filter((field) => !isDeepStrictEqual(own(was, field), own(is, field)));
}

type Policies = readonly VisiblePolicyModel[];

function byField(rules: Visible): Readonly<Record<string, Policies>> {
  return Object.fromEntries(
    rules.flatMap(({ fields, to }) => fields.map((field) => [field, to] as const)),
  );
}

function fieldChanged(
  field: string,
  before: Policies | null,
  after: Policies | null,
): readonly Told[] {
  if (after === null) return [["opens", `shows ${field} to all who read it`, field]];
  const names = after.map(({ policy }) => policy);
  // That it may be absent is told of the type.
  if (before === null) return [["breaking", `shows ${field} to ${names.join(" or ")} only`, field]];
  const { gone, added } = differences(
    before.map(({ policy }) => policy),
    names,
  );
  return [
    ...added.map((policy): Told => ["opens", `shows ${field} to ${policy}`, field]),
    ...gone.map((policy): Told => ["breaking", `no longer shows ${field} to ${policy}`, field]),
    ...after.flatMap((is) => {
      const was = before.find(({ policy }) => policy === is.policy);
      return was === undefined ? [] : askedChanged(field, was, is);
    }),
  ];
}

/** What a policy asks that both have. */
function askedChanged(
  field: string,
  was: VisiblePolicyModel,
  is: VisiblePolicyModel,
): readonly Told[] {
  const text = `shows ${field} to ${is.policy}`;
  const told: Told[] = [];
  comparePermissions(was.asks, is.asks, (level, what) =>
    told.push([level, `${text}: ${what}`, field]),
  );
  const stepsOf = ({ asks }: VisiblePolicyModel): readonly string[] =>
    asks.flatMap(({ id, permission }) => (permission === null ? [id] : []));
  const { gone, added } = differences(stepsOf(was), stepsOf(is));
  return [
    ...told,
    ...added.map((one): Told => ["breaking", `${text}: asks ${one}`, field]),
    ...gone.map((one): Told => ["opens", `${text}: asks no ${one}`, field]),
  ];
}
