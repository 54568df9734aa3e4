// Composites: documents with soft deletion and their search in one declaration (service.md "Composite route attachment").
import type { Report } from "../diagnostics.js";
import type { CompositeDeclaration } from "./declarations.js";
import type { MovedPath, SourceTree } from "./source-tree.js";

/** Guards of single operations that are those of the search. */
const searchGuards = ["typed", "raw", "typed_cursor", "raw_cursor"];

/**
 * The tree with a document and a search for each composite, as if they had been written out: `articles` and
 * `articles_search`. Findings about them point at the composite. Those that clash with what is written are reported and
 * left out.
 */
export function withComposites(
  tree: SourceTree,
  composites: Readonly<Record<string, CompositeDeclaration>>,
  report: Report,
): SourceTree {
  const documents: Record<string, unknown> = { ...tree.section("documents") };
  const searches: Record<string, unknown> = { ...tree.section("search") };
  const moved: MovedPath[] = [];
  for (const [name, composite] of Object.entries(composites)) {
    const searchName = `${name}_search`;
    const taken = (
      [
        ["documents", name],
        ["search", searchName],
      ] as const
    ).filter(([section, key]) => Object.hasOwn(tree.section(section), key));
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
    const [at, part] = [
      ["composites", name],
      ["search", searchName],
    ];
    moved.push({ from: ["documents", name], to: at });
    moved.push({ from: part, to: [...at, "search"] });
    for (const shared of ["guard", "mount", "deadline"])
      moved.push({ from: [...part, shared], to: [...at, shared] });
  }
  return tree.with({ documents, search: searches }, moved);
}

function documentOf(
  name: string,
  composite: CompositeDeclaration,
): Readonly<Record<string, unknown>> {
  const {
    search: _search,
    style: _style,
    transaction: _transaction,
    guard,
    ...document
  } = composite;
  return {
    ...document,
    soft_delete: true,
    guard: guardOf(guard, (key) => !searchGuards.includes(key)),
    mount: mountOf(name, composite),
  };
}

function searchOf(
  name: string,
  composite: CompositeDeclaration,
): Readonly<Record<string, unknown>> {
  const { search, guard, deadline } = composite;
  return {
    ...search,
    of: name,
    guard: guardOf(guard, (key) => key === "read" || searchGuards.includes(key)),
    ...(deadline === undefined ? {} : { deadline }),
    mount: mountOf(name, composite),
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

/** Both parts stand at the same place; no paths of theirs are the same. */
function mountOf(name: string, { mount, style, sensitive }: CompositeDeclaration): unknown {
  if (mount === false || (mount === undefined && sensitive === true)) return false;
  return { at: mount?.at ?? `/${name}`, ...(style === undefined ? {} : { style }) };
}
