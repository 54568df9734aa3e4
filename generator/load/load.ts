// The first phase: registry files → declarations whose shape is sound.
import type { Finding, Report } from "../diagnostics/diagnostics.js";
import type { Declarations } from "./declarations.js";
import { checkShape } from "./check-shape.js";
import { isMap, type FormatShape } from "./shape.js";
import { readSourceTree, type SourceTree } from "./source-tree.js";

/** A registry as it was read: the tree with its positions, and what is sound in it. */
export interface LoadedRegistry {
  readonly tree: SourceTree;
  readonly declarations: Declarations;
  /** Where declarations are faulty, as paths of the tree: they are left out of `declarations`. */
  readonly faulty: readonly (readonly string[])[];
}

/** The guard of what has none, and is sound otherwise: its other faults are found all the same. */
export const ungivenPolicy = "(none)";

/** The shape of a whole registry: its sections by name. */
export type ObjectShape = Extract<FormatShape, { kind: "object" }>;

/** Says some declarations as others, from what is sound of a section. */
export type Rewrite = (
  tree: SourceTree,
  soundIn: (section: string) => Readonly<Record<string, unknown>>,
  report: Report,
) => SourceTree;

/** What a registry may say. */
export interface RegistryFormat {
  readonly shape: ObjectShape;
  readonly rewrites: readonly Rewrite[];
}

/**
 * Reads the registry folder of a project. Every fault of shape is reported; faulty entries are left
 * out.
 */
export function loadRegistry(
  project: string,
  folder: string,
  { shape, rewrites }: RegistryFormat,
  report: Report,
): LoadedRegistry {
  const written = readSourceTree(project, folder, report);
  const faulty = new Map<string, readonly Finding[]>();
  // Without any file, that is the only fault.
  const checked = written.texts.size === 0 ? {} : shape.members;
  checkShape(
    { ...shape, members: checked },
    written.root,
    { file: folder, path: [] },
    (finding) => {
      // The tree spans files: a path is resolved to the file that declares it.
      const entry = finding.at.path;
      const key = JSON.stringify(entry.slice(0, 2));
      faulty.set(key, [...(faulty.get(key) ?? []), finding]);
      const at = entry.length === 0 ? written.at("service") : written.at(...entry);
      report({ ...finding, at: { ...at, isKey: finding.at.isKey ?? false } });
    },
  );
  const soundIn = (tree: SourceTree, section: string): Readonly<Record<string, unknown>> =>
    Object.fromEntries(
      Object.entries(tree.section(section)).flatMap(([name, declared]) => {
        if (faulty.has(JSON.stringify([section]))) return [];
        const faults = faulty.get(JSON.stringify([section, name])) ?? [];
        if (faults.length === 0) return [[name, declared]];
        return isMap(declared) && faults.every(lacksGuard)
          ? [[name, { ...declared, guard: ungivenPolicy }]]
          : [];
      }),
    );
  const tree = rewrites.reduce(
    (before, rewrite) => rewrite(before, (section) => soundIn(before, section), report),
    written,
  );
  /** A section that is one declaration, where nothing in it is faulty. */
  const whole = (section: string): unknown =>
    [...faulty.keys()].some((path) => path.startsWith(`["${section}"`))
      ? undefined
      : tree.root[section];
  return {
    tree,
    faulty: [...faulty]
      // A guard that stands among the fields would be read as one of them.
      .filter(([, faults]) => faults.every(({ code }) => code !== "OPW053"))
      .map(([path]) => JSON.parse(path) as readonly string[]),
    // Shapes and the interfaces of declarations.ts say the same.
    // A map of declarations is there without what is faulty in it; what is one declaration is whole
    // or not there.
    declarations: Object.fromEntries(
      Object.entries(shape.members).map(([section, { shape: of }]) => [
        section,
        of.kind === "map" ? soundIn(tree, section) : whole(section),
      ]),
    ) as unknown as Declarations,
  };
}

/** Whether a finding is that a declaration as a whole has no guard. */
function lacksGuard({ code, at }: Finding): boolean {
  return code === "OPW053" && at.path.length === 2;
}
