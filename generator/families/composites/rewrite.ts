// Composites: documents with soft deletion, their search and their files in one declaration
// (service.md "Composite route attachment").
import type { RouteStyle } from "../../model/vocabulary.js";
import type { Report } from "../../diagnostics/diagnostics.js";
import { storageVerbs } from "../storage/verbs/index.js";
import type { CompositeDeclaration } from "./format.js";
import type { MovedPath, SourceTree } from "../../load/source-tree.js";

/** Guards of single operations that are those of the search, and of the storage. */
const searchGuards = ["typed", "raw", "typed_cursor", "raw_cursor"];
/** `list` and `delete` are those of the document. */
const storageGuards: readonly string[] = storageVerbs
  .map(({ name }) => name)
  .filter((name) => name !== "list" && name !== "delete");

/**
 * The tree with a document, a search and perhaps a storage for each composite, as if they had been
 * written out: `articles`, `articles_search` and `articles_blobs`. Findings about them point at the
 * composite. Those that clash with what is written are reported and left out.
 */
export function withComposites(
  tree: SourceTree,
  composites: Readonly<Record<string, CompositeDeclaration>>,
  report: Report,
): SourceTree {
  const documents: Record<string, unknown> = { ...tree.section("documents") };
  const searches: Record<string, unknown> = { ...tree.section("search") };
  const storages: Record<string, unknown> = { ...tree.section("storage") };
  const moved: MovedPath[] = [];
  for (const [name, composite] of Object.entries(composites)) {
    const searchName = `${name}_search`;
    const storageName = `${name}_blobs`;
    const parts: readonly (readonly [string, string])[] = [
      ["documents", name],
      ["search", searchName],
      ...(composite.storage === undefined ? [] : [["storage", storageName] as const]),
    ];
    const taken = parts.filter(([section, key]) => Object.hasOwn(tree.section(section), key));
    for (const [section, key] of taken)
      report({
        code: "OPW041",
        message: `${name} makes ${section}.${key}, which is declared already`,
        at: tree.keyAt("composites", name),
        related: [{ message: "first declared here", at: tree.keyAt(section, key) }],
      });
    if (taken.length > 0) continue;
    documents[name] = documentOf(name, composite);
    searches[searchName] = searchOf(name, composite);
    if (composite.storage !== undefined) storages[storageName] = storageOf(name, composite);
    const at = ["composites", name];
    moved.push({ from: ["documents", name], to: at });
    for (const [section, key] of parts.slice(1)) {
      moved.push({ from: [section, key], to: [...at, section] });
      for (const shared of ["guard", "mount", "deadline"])
        moved.push({ from: [section, key, shared], to: [...at, shared] });
    }
  }
  return tree.with({ documents, search: searches, storage: storages }, moved);
}

function documentOf(
  name: string,
  composite: CompositeDeclaration,
): Readonly<Record<string, unknown>> {
  const {
    search: _search,
    storage: _storage,
    style: _style,
    transaction: _transaction,
    guard,
    ...document
  } = composite;
  return {
    ...document,
    soft_delete: true,
    guard: guardOf(guard, (key) => !searchGuards.includes(key) && !storageGuards.includes(key)),
    mount: mountOf(name, composite),
  };
}

function searchOf(
  name: string,
  composite: CompositeDeclaration,
): Readonly<Record<string, unknown>> {
  const { search, guard, deadline, was } = composite;
  return {
    ...(was === undefined ? {} : { former: `${was}_search` }),
    ...search,
    of: name,
    guard: guardOf(guard, (key) => key === "read" || searchGuards.includes(key)),
    ...(deadline === undefined ? {} : { deadline }),
    mount: mountOf(name, composite),
  };
}

function storageOf(
  name: string,
  composite: CompositeDeclaration,
): Readonly<Record<string, unknown>> {
  const { storage, guard, deadline, sensitive, was } = composite;
  const place = mountOf(name, composite);
  const { prefix = "/blobs", ...own } = storage ?? {};
  const isShared = (key: string): boolean => key === "read" || key === "write";
  return {
    ...(was === undefined ? {} : { former: `${was}_blobs` }),
    ...own,
    // Who may read or write the documents may do so with their files.
    resource: name,
    guard: guardOf(guard, (key) => isShared(key) || storageGuards.includes(key)),
    ...(deadline === undefined ? {} : { deadline }),
    ...(sensitive === undefined ? {} : { sensitive }),
    mount: place === false ? false : { ...place, at: place.at.replace(/\/+$/, "") + prefix },
  };
}

/** The policies of those operations that a part has. */
function guardOf(
  guard: CompositeDeclaration["guard"],
  belongs: (key: string) => boolean,
): CompositeDeclaration["guard"] {
  if (typeof guard === "string") return guard;
  return Object.fromEntries(Object.entries(guard).filter(([key]) => belongs(key)));
}

/** Documents and search stand at the same place; no paths of theirs are the same. */
function mountOf(
  name: string,
  { mount, style, sensitive }: CompositeDeclaration,
): false | { readonly at: string; readonly style?: RouteStyle } {
  if (mount === false || (mount === undefined && sensitive === true)) return false;
  return { at: mount?.at ?? `/${name}`, ...(style === undefined ? {} : { style }) };
}
