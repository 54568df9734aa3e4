// The names that a registry declares, for completion and for lists.
import { viewTypeName } from "../model/views.js";
import { isMap } from "./shape.js";
import type { SourceTree } from "./source-tree.js";

export interface RegistryNames {
  readonly policies: readonly string[];
  readonly hooks: readonly string[];
  readonly errors: readonly string[];
  readonly types: readonly string[];
  readonly namespaces: readonly string[];
}

/** The names of a loaded registry, sorted. `namespaces` are those that mounts may attach. */
export function registryNames(tree: SourceTree, namespaces: readonly string[]): RegistryNames {
  const keys = (section: string): readonly string[] => Object.keys(tree.section(section)).sort();
  return {
    policies: keys("policies"),
    hooks: keys("hooks"),
    errors: keys("errors"),
    types: typeNames(tree).toSorted(),
    namespaces: namespaces.toSorted(),
  };
}

/** Documents that may be named. */
export function documentNames(tree: SourceTree): readonly string[] {
  return Object.keys(tree.section("documents"));
}

/** Types that may be named: those that are declared, and those of views. */
export function typeNames(tree: SourceTree): readonly string[] {
  const ofViews = Object.entries(tree.section("documents")).flatMap(([document, declaration]) => {
    const views = isMap(declaration) ? declaration["views"] : undefined;
    return isMap(views) ? Object.keys(views).map((view) => viewTypeName(document, view)) : [];
  });
  return [...Object.keys(tree.section("types")), ...ofViews];
}
