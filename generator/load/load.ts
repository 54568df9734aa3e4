// The first phase: registry files → declarations whose shape is sound.
import type { Report } from "../diagnostics.js";
import type { Declarations } from "./declarations.js";
import { withComposites } from "./composites.js";
import { registryShape } from "../kernel/registry-shape.js";
import { checkShape } from "./shape.js";
import { readSourceTree, type SourceTree } from "./source-tree.js";

/** A registry as it was read: the tree with its positions, and what is sound in it. */
export interface LoadedRegistry {
  readonly tree: SourceTree;
  readonly declarations: Declarations;
}

/** Reads the registry folder of a project. Every fault of shape is reported; faulty entries are left out. */
export function loadRegistry(project: string, folder: string, report: Report): LoadedRegistry {
  const written = readSourceTree(project, folder, report);
  const faulty = new Set<string>();
  let entry: readonly (string | number)[] = [];
  checkShape(registryShape, written.root, { file: folder, path: [] }, (finding) => {
    // The tree spans files: a path is resolved to the file that declares it.
    entry = finding.at.path;
    faulty.add(JSON.stringify(entry.slice(0, 2)));
    const at = entry.length === 0 ? written.at("service") : written.at(...entry);
    report({ ...finding, at: { ...at, isKey: finding.at.isKey ?? false } });
  });
  const soundIn = (tree: SourceTree, section: string): Readonly<Record<string, unknown>> =>
    Object.fromEntries(
      Object.entries(tree.section(section)).filter(
        ([name]) =>
          !faulty.has(JSON.stringify([section, name])) && !faulty.has(JSON.stringify([section])),
      ),
    );
  // The shapes of format.ts and the interfaces of declarations.ts say the same; what is faulty has been taken out.
  const composites = soundIn(written, "composites") as Declarations["composites"];
  const tree = withComposites(written, composites, report);
  const sound = (section: string): Readonly<Record<string, unknown>> => soundIn(tree, section);
  /** A section that is one declaration, where nothing in it is faulty. */
  const whole = (section: string): unknown =>
    [...faulty].some((path) => path.startsWith(`["${section}"`)) ? undefined : tree.root[section];
  return {
    tree,
    declarations: {
      service: whole("service"),
      identity: whole("identity"),
      tenancy: whole("tenancy"),
      authorization: whole("authorization"),
      outbox: whole("outbox"),
      realtime: whole("realtime"),
      scopes: sound("scopes"),
      policies: sound("policies"),
      hooks: sound("hooks"),
      types: sound("types"),
      documents: sound("documents"),
      search: sound("search"),
      storage: sound("storage"),
      composites,
      operations: sound("operations"),
      mounts: sound("mounts"),
      approved: sound("approved"),
    } as unknown as Declarations,
  };
}
