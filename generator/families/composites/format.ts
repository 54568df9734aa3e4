// `composites:`: documents, their search and their files in one declaration.
import {
  extensions,
  mapOf,
  mountPath,
  name,
  optional,
  required,
  style,
} from "../../load/format-parts.js";
import type { Declared, Member, FormatShape } from "../../load/shape.js";
import { documentMembers } from "../documents/format.js";
import { documentWords } from "../documents/other-words.js";
import { searchMembers } from "../search/format.js";
import { storageMembers } from "../storage/format.js";

const composite = {
  kind: "object",
  ...extensions,
  otherWords: documentWords,
  members: {
    ...documentMembers,
    search: required({ kind: "object", members: searchMembers }, "What is searched for, and how."),
    storage: optional(
      {
        kind: "object",
        members: {
          ...storageMembers,
          prefix: optional(
            mountPath,
            "Where its routes are below the others; /blobs where left out.",
            "/files",
          ),
        },
      },
      "The files of the documents.",
    ),
    style: optional(style, "rest or rpc."),
    transaction: optional(
      { kind: "string", pattern: name, what: "a name in [a-z][a-z0-9_]*", example: "main" },
      "The transaction route of the service.",
    ),
    mount: optional(
      {
        kind: "either",
        of: [
          { kind: "constant", value: false },
          {
            kind: "object",
            members: { at: required(mountPath, "Where the routes are mounted.", "/tasks") },
          },
        ],
      },
      "Where the routes are; false registers without HTTP.",
    ),
  },
} as const satisfies FormatShape;

/** Documents and their search at once: what a document says, and of the search what is its own. */
export type CompositeDeclaration = Declared<typeof composite>;

declare module "../../load/declarations.js" {
  interface Declarations {
    /** Written already as documents and searches among the others. */
    readonly composites: Readonly<Record<string, CompositeDeclaration>>;
  }
}

/** Its sections. */
export const format: Readonly<Record<string, Member>> = {
  composites: optional(
    mapOf(composite, undefined, undefined, "articles"),
    "Documents with soft deletion, their search and their files, in one declaration.",
  ),
};
