// Views of documents. For its readers, a view is a document with fewer members.
import { ofMembers } from "../../runtime/contract/fields.js";
import type { DocumentModel, ReferenceModel, ViewModel } from "./document-model.js";
import { pascalCase } from "./names.js";
import { own } from "./records.js";

/** `profiles.public`, or `profiles` for the whole document. */
export function readName(document: string, view: string | undefined): string {
  return view === undefined ? document : `${document}.${view}`;
}

/** The type of a view: `ProfilesPublic`. */
export function viewTypeName(document: string, view: string): string {
  return pascalCase(readName(document, view));
}

/** The name of what callers read when they follow a reference. */
export function ledTo({ document, view }: Pick<ReferenceModel, "document" | "view">): string {
  return readName(document, view);
}

/** The document of a name that `readName` made: `profiles` from `profiles.public`. */
export function documentOf(read: string): string {
  return read.split(".", 1)[0] ?? read;
}

/** The model of a document as one of its views shows it. */
export function applyView(
  document: DocumentModel,
  { name, members, ...read }: ViewModel,
): DocumentModel {
  return {
    ...document,
    ...read,
    name: readName(document.name, name),
    listDeleted: false,
    fields: ofMembers(document.fields, members),
    elements: ofMembers(document.elements, members),
    enums: ofMembers(document.enums, members),
    decimals: ofMembers(document.decimals, members),
    references: document.references.filter(({ field }) => members.includes(field)),
    views: [],
    view: { name, members },
  };
}

/**
 * The name of the documents, or of the view of them, whose type has this name; undefined for any
 * other type.
 */
export function readOfType(
  documents: Readonly<Record<string, DocumentModel>>,
  type: string,
): string | undefined {
  for (const { name, typeName, views } of Object.values(documents)) {
    if (typeName === type) return name;
    const view = views.find((one) => one.typeName === type);
    if (view !== undefined) return readName(name, view.name);
  }
  return undefined;
}

/** The model of the document or view with this name, or undefined. */
export function readBy(
  documents: Readonly<Record<string, DocumentModel>>,
  read: string,
): DocumentModel | undefined {
  const document = own(documents, documentOf(read));
  if (document === undefined || document.name === read) return document;
  const found = document.views.find(({ name }) => readName(document.name, name) === read);
  return found === undefined ? undefined : applyView(document, found);
}
