// What changes of documents mean for clients, beside their operations.
import { isDeepStrictEqual } from "node:util";
import type {
  DocumentModel,
  EmissionModel,
  ReferenceModel,
  UniqueModel,
} from "../../model/document-model.js";
import type { RegistryModel } from "../../model/registry.js";
import { authoredIn } from "../../model/code.js";
import { differences } from "../../compare/differences.js";
import type { Comparison } from "../../compare/comparison.js";
import {
  amount,
  choices,
  compareAll,
  tellExchange,
  limit,
  tellOf,
  value,
  type Rules,
  type Tell,
  type Told,
} from "../../compare/rules.js";
import { countChanged } from "../../kernel/list-count.js";
import { propertiesOf } from "../../model/json-schema.js";
import { own } from "../../model/records.js";
import { compareSet } from "./members/compare-set.js";
import { ledTo, readName } from "../../model/views.js";
import { statesChanged } from "./members/compare-states.js";
import { compareVisible } from "./members/compare-visible.js";
import { overlapText } from "./members/overlaps.js";
import { conditionText } from "./members/some-values.js";

const document: Rules<DocumentModel> = {
  name: null,
  source: null,
  description: value("documentation", () => "is described otherwise"),
  table: null,
  // Types are compared in their own place.
  typeName: null,
  createTypeName: null,
  patchTypeName: null,
  tenant: (_before, after) =>
    after ? [["breaking", "is of a tenant"]] : tellExchange("is of all tenants"),
  // Told of each of its operations.
  sensitive: null,
  softDelete: null,
  listDeleted: (_before, after) => [
    after ? ["opens", "lists what is deleted"] : ["breaking", "does not list what is deleted"],
  ],
  history: amount((text) => `keeps ${text} revisions, with which edits are merged`, ""),
  // Their operations come and go.
  revisions: null,
  readsDeleted: null,
  deletedForSeconds: amount(
    (text) => `keeps what is deleted for ${text === "any" ? "ever" : text}`,
    " s",
  ),
  defaults: (before, after) =>
    Object.keys({ ...before, ...after })
      .filter((field) => !isDeepStrictEqual(before[field], after[field]))
      .map((field) => {
        const [old, next] = [before[field], after[field]];
        const begins = `begins with ${next === undefined ? "nothing" : JSON.stringify(next)} in ${field}`;
        // That a member may be left out from now on, or no longer, is told of the payload.
        return old === undefined || next === undefined
          ? (["documentation", begins, field] as const)
          : (["breaking", `${begins} instead of ${JSON.stringify(old)}`, field] as const);
      }),
  nullable: null,
  canonical: null,
  fields: null,
  elements: null,
  // The types of filters are compared.
  enums: null,
  // How sums are computed.
  decimals: null,
  // Reported with the removed document.
  former: null,
  formerly: null,
  dropped: null,
  indexes: null,
  unique: (before, after) => {
    const { gone, added } = differences(before.map(uniqueText), after.map(uniqueText));
    return [
      ...added.map((text) => ["breaking", `refuses ${text}`] as const),
      ...gone.map((text) => ["additive", `no longer refuses ${text}`] as const),
    ];
  },
  overlaps: (before: DocumentModel["overlaps"] = [], after) => {
    const { gone, added } = differences(before.map(overlapText), after.map(overlapText));
    return [
      ...added.map((text) => ["breaking", `refuses ${text}`] as const),
      ...gone.map((text) => ["additive", `no longer refuses ${text}`] as const),
    ];
  },
  states: statesChanged,
  // Told by `compareVisible`.
  visible: null,
  // Told of the type of its payload.
  takesIds: null,
  key: keyChanged,
  // A replica answers with the same.
  takesReplica: null,
  countUpTo: countChanged,
  // What is left of people who are erased.
  personal: (before = {}, after) => {
    const text = ([field, value]: readonly [string, unknown]): string =>
      `makes ${field} ${JSON.stringify(value)} once who has created it is erased`;
    const { gone, added } = differences(
      Object.entries(before).map(text),
      Object.entries(after).map(text),
    );
    return [
      ...added.map((told) => ["documentation", told] as const),
      ...gone.map((told) => ["opens", `no longer ${told}`] as const),
    ];
  },
  references: referencesChanged,
  // That a guard lets others pass is told of the operation that it is of.
  reading: null,
  // What handlers see is told of no client; that operations see less is told of them.
  scopes: null,
  // Expansion is compared with the types of inputs and answers.
  expandable: null,
  readTypeName: null,
  // Told by `compareViews` and of their operations and types.
  views: null,
  view: null,
  // Told by `compareSet`; that a payload has a field no longer is told of its type, that it has
  // another by `comparePayloads`.
  set: null,
  // Its operations come and go; registries that were frozen before there were any have none.
  bulk: (before: DocumentModel["bulk"] | undefined, after) =>
    typeof before === "number" && after !== null
      ? limit((text) => `writes up to ${text} in one request`, " documents")(before, after)
      : [],
  hooks: (before, after) => {
    const stepsOf = (hooks: DocumentModel["hooks"]): readonly string[] =>
      Object.entries(hooks).flatMap(([verb, steps]) =>
        steps.map(
          (step) =>
            `${verb}: ${authoredIn(step)
              .map(({ name }) => name)
              .join()}`,
        ),
      );
    const { gone, added } = differences(stepsOf(before), stepsOf(after));
    const told = (step: string): string => {
      const [verb = "", hook = ""] = step.split(": ");
      return `${hook} of ${verb} for each document that bulk verbs, upsert or revert write`;
    };
    return [
      ...added.map((verb) => ["breaking", `runs ${told(verb)}`] as const),
      ...gone.map((verb) => ["opens", `no longer runs ${told(verb)}`] as const),
    ];
  },
  emits: choices(
    (emission) => `sends ${emissionText(emission)}`,
    (emission) => `no longer sends ${emissionText(emission)}`,
  ),
  // What is done with documents later is no answer of theirs.
  reminders: null,
  checksBody: null,
  bodySchema: null,
};

function keyChanged(before: string | null | undefined, after: string | null): readonly Told[] {
  // A registry that an earlier version froze has none.
  const was = before ?? null;
  if (was === after) return [];
  const gone: readonly Told[] =
    was === null ? [] : [["breaking", `no longer takes ${was} in place of the id`]];
  return after === null ? gone : [...gone, ["additive", `takes ${after} in place of the id`]];
}

function uniqueText({ fields, isGlobal, isLiveOnly, where }: UniqueModel): string {
  const among = isLiveOnly ? "one that is not deleted" : "another";
  const about = conditionText(where ?? {});
  return `what ${among} has in ${fields.join(" and ")}${isGlobal ? ", in any tenant" : ""}${about}`;
}

function emissionText({ on, event, ifChanged, data, to }: EmissionModel): string {
  const when = ifChanged === null ? "" : ` where ${ifChanged.join(" or ")} changes`;
  const members = Object.entries(data ?? {}).map(([member, field]) => `${member} of ${field}`);
  const what = data === undefined ? "" : ` with ${members.join(", ")}`;
  return `${event} on ${on}${what}${to === undefined ? "" : ` to ${to}`}${when}`;
}

/**
 * A reference by its field: where it leads, as what callers see that, and what deleting it takes
 * along.
 */
function referencesChanged(
  before: readonly ReferenceModel[],
  after: readonly ReferenceModel[],
): readonly Told[] {
  const [was, is] = [before, after].map((all) =>
    Object.fromEntries(all.map((one) => [one.field, one])),
  );
  const fields = [...new Set([before, after].flatMap((all) => all.map(({ field }) => field)))];
  return fields.flatMap((field): readonly Told[] => {
    const [old, next] = [own(was ?? {}, field), own(is ?? {}, field)];
    if (next === undefined)
      return old === undefined ? [] : [["breaking", `${field} no longer ${nameText(old)}`, field]];
    if (old === undefined) return [["additive", `${field} ${nameText(next)}`, field]];
    if (old.document !== next.document || old.many !== next.many)
      return [
        ["breaking", `${field} no longer ${nameText(old)}`, field],
        ["additive", `${field} ${nameText(next)}`, field],
      ];
    return [
      // Whoever may read the one need not be allowed to read the other.
      ...(old.view === next.view
        ? []
        : tellExchange(`shows ${ledTo(next)} through ${field} instead of ${ledTo(old)}`, field)),
      ...deletionChanged(old, next),
    ];
  });
}

function nameText({ document: name, onDelete, many }: ReferenceModel): string {
  return `names ${many === true ? "some" : "one"} of the ${name} (on_delete ${onDelete})`;
}

/**
 * What protects documents from the deletion of those that they name: `restrict` refuses it,
 * `set_null` and `remove` keep them.
 */
const protections = ["cascade", "set_null", "remove", "restrict"] as const;

function deletionChanged(
  { onDelete: old }: ReferenceModel,
  { onDelete: next, field, document: name }: ReferenceModel,
): readonly Told[] {
  if (old === next) return [];
  const what = `has on_delete ${next} instead of ${old} where ${field} names one of the ${name}`;
  const isWeaker = protections.indexOf(next) < protections.indexOf(old);
  return isWeaker ? tellExchange(what, field) : [["breaking", what, field]];
}

export function compare(before: RegistryModel, after: RegistryModel, { note }: Comparison): void {
  const tellOfName = (name: string, called = name): Tell =>
    tellOf(note, { kind: "document", name: called, declared: ["documents", name] }, "http");
  compareAll(before.documents, after.documents, document, tellOfName);
  for (const [name, old] of Object.entries(before.documents)) {
    const next = own(after.documents, name);
    if (next === undefined) continue;
    compareViews(old, next, (view) => tellOfName(name, readName(name, view)));
    compareVisible(old, next, tellOfName(name));
    compareSet([old, before], [next, after], tellOfName(name));
    comparePayloads([old, before], [next, after], tellOfName(name));
  }
}

/** Members that a view shows from now on; those that it no longer shows are told of its type. */
function compareViews(
  { views: before }: DocumentModel,
  { views: after }: DocumentModel,
  tellOfView: (view: string) => Tell,
): void {
  for (const { name, members } of after) {
    const was = before.find((view) => view.name === name);
    if (was === undefined) continue;
    for (const member of differences(was.members, members).added)
      tellOfView(name)("opens", `shows ${member}`, member);
  }
}

/**
 * Fields that the document had and callers could not write: the service set them, or the payload
 * left them out.
 */
function comparePayloads(
  [old, before]: readonly [DocumentModel, RegistryModel],
  [next, after]: readonly [DocumentModel, RegistryModel],
  tell: Tell,
): void {
  const fieldsOf = ({ types }: RegistryModel, type: string): readonly string[] =>
    Object.keys(propertiesOf(own(types, type) ?? true));
  for (const [verb, was, is] of [
    ["create", old.createTypeName, next.createTypeName],
    ["update", old.patchTypeName, next.patchTypeName],
  ] as const)
    for (const field of differences(fieldsOf(before, was), fieldsOf(after, is)).added)
      if (own(old.fields, field) !== undefined)
        tell("opens", `lets callers write ${field} by ${verb}`, field);
}
