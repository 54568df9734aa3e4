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
import type { SearchDeclaration, StorageDeclaration } from "../../load/declarations.js";
import type { Member, Shape } from "../../load/shape.js";
import type { RouteStyle } from "../../model/vocabulary.js";
import { documentMembers, type DocumentDeclaration } from "../documents/format.js";
import { searchMembers } from "../search/format.js";
import { storageMembers } from "../storage/format.js";

const composite: Shape = {
  kind: "object",
  ...extensions,
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
          ),
        },
      },
      "The files of the documents.",
    ),
    style: optional(style, "rest or rpc."),
    transaction: optional(
      { kind: "string", pattern: name, what: "a name in [a-z][a-z0-9_]*" },
      "The transaction route of the service.",
    ),
    mount: optional(
      {
        kind: "either",
        of: [
          { kind: "constant", value: false },
          {
            kind: "object",
            members: { at: required(mountPath, "Where the routes are mounted.") },
          },
        ],
      },
      "Where the routes are; false registers without HTTP.",
    ),
  },
};

/** Documents and their search at once: what a document says, and of the search what is its own. */
export interface CompositeDeclaration extends Omit<
  DocumentDeclaration,
  "soft_delete" | "read_only" | "mount"
> {
  readonly search: Pick<SearchDeclaration, "text" | "language" | "facets" | "description">;
  readonly storage?: Omit<StorageDeclaration, "guard" | "mount" | "deadline" | "resource"> & {
    readonly prefix?: string;
  };
  readonly style?: RouteStyle;
  readonly transaction?: string;
  readonly mount?: false | { readonly at: string };
}

declare module "../../load/declarations.js" {
  interface Declarations {
    /** Written already as documents and searches among the others. */
    readonly composites: Readonly<Record<string, CompositeDeclaration>>;
  }
}

/** Its sections. */
export const format: Readonly<Record<string, Member>> = {
  composites: optional(
    mapOf(composite),
    "Documents with soft deletion, their search and their files, in one declaration.",
  ),
};
