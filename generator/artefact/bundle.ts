// The server of a project with all that it imports, in a few files (rolldown).
import { join } from "node:path";
import { bundleModules } from "./bundle-modules.js";
import type { BundleSource } from "./bundle-source.js";
import { ArtefactFault } from "./fault.js";
import { openPackageReader, type AskedPackages, type Package } from "./packages.js";
import { sortPackages } from "./sort-packages.js";
import { openSides, type Sides } from "./sides.js";
import { withDependencies } from "./whole-packages.js";

export interface Bundle extends AskedPackages {
  /** Files by their path in the artefact. */
  readonly files: ReadonlyMap<string, string>;
  /** Packages of which code is in the files. */
  readonly bundled: readonly Package[];
  /** opwright itself. */
  readonly opwright: Package;
  /** Whether a package that is copied whole extends opwright, and asks for its runtime. */
  readonly isExtended: boolean;
  /** Packages that aren't installed, though something would use them. */
  readonly missing: readonly string[];
  /** Files that modules of the project name beside themselves, relative to it. */
  readonly beside: ReadonlySet<string>;
  /** Folders of packages that the project asks to be copied whole. */
  readonly named: ReadonlySet<string>;
}

/**
 * Bundles a server. Which packages must be copied whole shows in their code, so it is bundled again
 * until no more are found. Throws `ArtefactFault`, and rolldown's own errors.
 */
export async function bundleServer(source: BundleSource): Promise<Bundle> {
  const reader = openPackageReader();
  const sides = openSides(source.root, reader);
  if (sides === undefined) throw new ArtefactFault("opwright is not installed in this project");
  const asked = source.whole;
  let found: readonly Package[] = asked.map(([, one]) => one);
  for (;;) {
    const whole = withDependencies(found, reader);
    const isExtended = [...whole.values()].some((one) =>
      reader.dependenciesOf(one).has("opwright"),
    );
    const sorting = sortPackages({ source, sides, reader, whole });
    const bundled = await bundleModules({
      source,
      sides,
      sorting: sorting.plugin,
      entries: entriesOf(source, sides, isExtended),
    });
    const more = [...sorting.found].filter(({ folder }) => !whole.has(folder));
    if (more.length === 0) {
      const { opwright } = sides;
      const { top, ofOpwright } = sorting.asked;
      const missing = [...sorting.missing].sort();
      const packages = { top: new Map([...asked, ...top]), ofOpwright };
      const named = new Set(asked.map(([, { folder }]) => folder));
      return { ...packages, ...bundled, opwright, isExtended, missing, named };
    }
    found = [...found, ...more];
  }
}

/** Packages that a project has, by their names. Throws `ArtefactFault` if one isn't installed. */
export function findPackages(
  root: string,
  names: readonly string[],
): readonly (readonly [name: string, one: Package])[] {
  const reader = openPackageReader();
  return names.map((name) => {
    const one = reader.find(name, root);
    if (one === undefined) throw new ArtefactFault(`the package ${name} is not installed`);
    return [name, one];
  });
}

/** Modules that something outside the bundle names, by where they go. */
function entriesOf(
  { entry }: BundleSource,
  { opwright }: Sides,
  isExtended: boolean,
): Readonly<Record<string, string>> {
  const runtime = join(opwright.folder, "dist/served/runtime.js");
  return {
    server: entry,
    ...(isExtended ? { "node_modules/opwright/runtime/index": runtime } : {}),
  };
}
