// What changes of documents mean for clients, beside their operations.
import { isDeepStrictEqual } from "node:util";
import type { DocumentModel, EmissionModel, UniqueModel } from "../../model/document-model.js";
import type { RegistryModel } from "../../model/registry.js";
import { authoredIn } from "../../model/code.js";
import { differences } from "../../compare/differences.js";
import type { Comparison } from "../../compare/comparison.js";
import { amount, choices, compareAll, tellOf, value, type Rules } from "../../compare/rules.js";

const document: Rules<DocumentModel> = {
  name: null,
  source: null,
  description: value("documentation", () => "is described otherwise"),
  table: null,
  // Types are compared where they stand.
  typeName: null,
  createTypeName: null,
  patchTypeName: null,
  tenant: (_before, after) => [["breaking", after ? "is of a tenant" : "is of all tenants"]],
  sensitive: null,
  softDelete: null,
  listDeleted: (_before, after) => [
    ["breaking", after ? "lists what is deleted" : "does not list what is deleted"],
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
  // Told where what they name is gone.
  former: null,
  indexes: null,
  unique: (before, after) => {
    const { gone, added } = differences(before.map(uniqueText), after.map(uniqueText));
    return [
      ...added.map((text) => ["breaking", `refuses ${text}`] as const),
      ...gone.map((text) => ["additive", `no longer refuses ${text}`] as const),
    ];
  },
  references: choices(
    ({ field, document, onDelete }) =>
      `${field} names one of the ${document} (on_delete ${onDelete})`,
    ({ field, document, onDelete }) =>
      `${field} no longer names one of the ${document} (on_delete ${onDelete})`,
    ({ field }) => field,
  ),
  // That a guard lets others pass is told of the operation that it is of.
  reading: null,
  // What handlers see is told of no client; that operations see less is told of them.
  scopes: null,
  // What may come along is compared with the types of inputs and answers.
  expandable: null,
  readTypeName: null,
  // Operations and types of views are compared.
  views: null,
  view: null,
  // That a payload has a field no longer is told of its type.
  set: null,
  // Its operations are compared, and how many their inputs may have.
  bulk: null,
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
      ...gone.map((verb) => ["additive", `no longer runs ${told(verb)}`] as const),
    ];
  },
  emits: choices(
    (emission) => `sends ${emissionText(emission)}`,
    (emission) => `no longer sends ${emissionText(emission)}`,
  ),
  checksBody: null,
  bodySchema: null,
};

function uniqueText({ fields, isGlobal, isLiveOnly }: UniqueModel): string {
  const among = isLiveOnly ? "one that is not deleted" : "another";
  return `what ${among} has in ${fields.join(" and ")}${isGlobal ? ", in any tenant" : ""}`;
}

function emissionText({ on, event, ifChanged }: EmissionModel): string {
  const when = ifChanged === null ? "" : ` where ${ifChanged.join(" or ")} changes`;
  return `${event} on ${on}${when}`;
}

export function compare(before: RegistryModel, after: RegistryModel, { note }: Comparison): void {
  compareAll(before.documents, after.documents, document, (name) =>
    tellOf(note, { kind: "document", name, declared: ["documents", name] }, "http"),
  );
}
