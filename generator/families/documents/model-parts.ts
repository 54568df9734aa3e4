// What registry.json leaves out of documents, and how registries are read that were frozen without.
import type { DocumentModel } from "../../model/document-model.js";
import type { ModelParts } from "../../model/model-parts.js";

/** Its part of the model. */
export const models: ModelParts = {
  documents: {
    empty: {},
    ofEach: {
      former: {},
      formerly: {},
      dropped: {},
      decimals: {},
      unique: [],
      overlaps: [],
      states: null,
      countUpTo: null,
      takesReplica: false,
      takesIds: false,
      key: null,
      visible: [],
      personal: {},
      references: [],
      views: [],
      view: null,
      revisions: false,
      readsDeleted: null,
      deletedForSeconds: null,
      scopes: {},
      hooks: {},
      reminders: [],
    } satisfies Partial<DocumentModel>,
  },
};
