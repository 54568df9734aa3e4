// The types of documents are read before any document is expanded, so that one may hold another
// whatever the order of files.
import type { DocumentDeclaration } from "./format.js";
import type { FamilyContext } from "../../kernel/family.js";
import { readDocumentType, type DocumentType } from "./model.js";

export interface DocumentWithType {
  readonly declaration: DocumentDeclaration;
  readonly type: DocumentType;
}

/** Documents whose type is sound, by name. Reports a type that two documents have. */
export function readDocumentTypes(context: FamilyContext): ReadonlyMap<string, DocumentWithType> {
  const { declarations, tree, report } = context;
  const owners = new Map<string, string>();
  const read = new Map<string, DocumentWithType>();
  for (const [name, declaration] of Object.entries(declarations.documents)) {
    if (typeof declaration.type === "string") {
      const owner = owners.get(declaration.type);
      if (owner !== undefined) {
        report({
          code: "OPW033",
          message: `${declaration.type} is the type of ${owner} already`,
          at: tree.at("documents", name, "type"),
          related: [{ message: "first used here", at: tree.at("documents", owner, "type") }],
        });
        continue;
      }
      owners.set(declaration.type, name);
    }
    const type = readDocumentType(context, name, declaration);
    if (type !== undefined) read.set(name, { declaration, type });
  }
  return read;
}
