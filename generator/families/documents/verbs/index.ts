// The verbs of documents, in the order of the catalogue. Everything that names verbs follows from
// this list.
import type { DocumentModel } from "../../../model/document-model.js";
import type { DocumentDeclaration } from "../format.js";
import { create } from "./create.js";
import { markDeleted } from "./delete.js";
import { getDeleted, listDeleted } from "./deleted.js";
import { deleteWhere, updateWhere } from "./found.js";
import { get } from "./get.js";
import { createMany, deleteMany, updateMany } from "./items.js";
import { kill } from "./kill.js";
import { aggList, list, listCursor, rawList, rawListCursor } from "./lists.js";
import { restore } from "./restore.js";
import { revert } from "./revert.js";
import { revision, revisionDiff, revisions } from "./revisions.js";
import { update } from "./update.js";
import { upsert } from "./upsert.js";
import type { Deed, DocumentVerb } from "./verb.js";

const table = [
  create,
  get,
  update,
  kill,
  markDeleted,
  restore,
  upsert,
  createMany,
  updateMany,
  deleteMany,
  updateWhere,
  deleteWhere,
  list,
  rawList,
  listCursor,
  rawListCursor,
  aggList,
  revisions,
  revision,
  revisionDiff,
  revert,
  getDeleted,
  listDeleted,
] as const;

/** The name of a verb. */
export type DocumentVerbName = (typeof table)[number]["name"];

/** The verbs in the order of the catalogue. */
export const verbs: readonly DocumentVerb[] = table;

/**
 * The verbs that write one document and are nobody's twin: handlers and events know documents by
 * these.
 */
export const writesOfOne = verbs.filter(({ does = [] }) => does.length > 0);

/** The verbs of a view. */
export const viewVerbs = verbs.filter(({ ofViews }) => ofViews === true);

/** The effects of a verb on documents, its own or those of its originals. Empty if it reads. */
export function deedsOf(
  verb: DocumentVerb,
  model: Pick<DocumentModel, "softDelete">,
): readonly Deed[] {
  return verb.does ?? verb.twinOf(model).flatMap((one) => deedsOf(one, model));
}

/** The verbs that a verb is the twin of; none for those that are nobody's twin. */
export function originalsOf(
  verb: DocumentVerb,
  model: Pick<DocumentModel, "softDelete">,
): readonly DocumentVerb[] {
  return verb.twinOf?.(model) ?? [];
}

/** Whether a verb stores nothing. */
export function isReading(verb: DocumentVerb): boolean {
  return deedsOf(verb, { softDelete: false }).length === 0;
}

/** The verbs that a document registers. */
export function verbsOf(
  model: DocumentModel,
  declaration: DocumentDeclaration,
): readonly DocumentVerb[] {
  return verbs.filter(
    (verb) =>
      (declaration.read_only !== true || isReading(verb)) && verb.when.holds(model, declaration),
  );
}
