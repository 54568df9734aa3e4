import { expect, test } from "vitest";
import { firstShape } from "../../runtime/contract/shapes.js";
import type { DocumentModel } from "../model/document-model.js";
import { tableIndexes } from "./table-indexes.js";

test("a unique index that replaces another never takes the name of a third", () => {
  const rule = (name: string, fields: readonly string[]) => ({
    name,
    fields,
    isGlobal: false,
    isLiveOnly: false,
  });
  const document = {
    table: "notes",
    fields: { a: "string", b: "string" },
    indexes: [],
    unique: [rule("notes_a", ["a", "b"]), rule("notes_a_2", ["b"])],
    deletedForSeconds: null,
    // What else a document has says nothing about its indexes.
  } as unknown as DocumentModel;
  const before = {
    notes_a: {
      unique: { isGlobal: false, isLiveOnly: false },
      fields: [{ path: "a", type: "string" as const }],
    },
  };
  expect(Object.keys(tableIndexes(document, firstShape, { indexes: before }, true))).toEqual([
    "notes_a_3",
    "notes_a_2",
  ]);
});
