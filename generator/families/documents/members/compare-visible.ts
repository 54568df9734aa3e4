// What changes of who may see a field are to callers.
import { isDeepStrictEqual } from "node:util";
import { differences } from "../../../compare/differences.js";
import { comparePermissions } from "../../../compare/hooks.js";
import type { Tell, Told } from "../../../compare/rules.js";
import type {
  DocumentModel,
  VisibleModel,
  VisiblePolicyModel,
} from "../../../model/document-model.js";
import { propertiesOf } from "../../../model/json-schema.js";
import { own } from "../../../model/records.js";

type Policies = readonly VisiblePolicyModel[];

/** Tells who sees which fields from now on: one policy more opens, one less breaks. */
export function compareVisible(old: DocumentModel, next: DocumentModel, tell: Tell): void {
  for (const { field, before, after } of changesOf(old, next))
    for (const [level, what] of fieldChanged(field, before, after)) tell(level, what, field);
}

/** Fields that the version before shows to more callers. */
export function fieldsHiddenAnew(old: DocumentModel, next: DocumentModel): readonly string[] {
  return changesOf(old, next).flatMap(({ field, before, after }) =>
    fieldChanged(field, before, after).some(([level]) => level === "breaking") ? [field] : [],
  );
}

interface VisibleChange {
  readonly field: string;
  readonly before: Policies | null;
  readonly after: Policies | null;
}

/** Fields that both documents have, by their present names, with who sees them. */
function changesOf(old: DocumentModel, next: DocumentModel): readonly VisibleChange[] {
  // A registry that an earlier version froze has none.
  const [was, is] = [byField(old.visible ?? []), byField(next.visible)];
  return Object.keys(propertiesOf(next.bodySchema)).flatMap((field) => {
    const former = own(next.former, field)?.name ?? field;
    const [before, after] = [own(was, former) ?? null, own(is, field) ?? null];
    const isSame = (before === null && after === null) || isDeepStrictEqual(before, after);
    const isNew = own(propertiesOf(old.bodySchema), former) === undefined;
    return isSame || isNew ? [] : [{ field, before, after }];
  });
}

function byField(rules: readonly VisibleModel[]): Readonly<Record<string, Policies>> {
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
  // A policy that asks the same under another name is the same.
  const isKnown = (one: VisiblePolicyModel, others: Policies): boolean =>
    others.some(({ policy, asks }) => policy === one.policy || isDeepStrictEqual(asks, one.asks));
  const policiesOf = (all: Policies): readonly string[] => all.map(({ policy }) => policy);
  const gone = policiesOf(before.filter((one) => !isKnown(one, after)));
  const added = policiesOf(after.filter((one) => !isKnown(one, before)));
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
