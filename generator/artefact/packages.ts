// Packages as they are installed: whose a file is, what a package depends on, and where that is.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, parse } from "node:path";

/** What is read of a `package.json`. */
export interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly license?: unknown;
  readonly licenses?: unknown;
  readonly engines?: unknown;
  readonly type?: unknown;
  readonly gypfile?: unknown;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** A package in the folder in which it is installed. */
export interface Package {
  readonly name: string;
  readonly version: string;
  /** Absolute, without links: what tells one installed copy from another. */
  readonly folder: string;
  readonly manifest: Manifest;
}

/** Packages that bundled code asks for. */
export interface AskedPackages {
  /** By name. */
  readonly top: ReadonlyMap<string, Package>;
  /** Those of the runtime that the project has in another version, by paths below the artefact. */
  readonly ofOpwright: ReadonlyMap<string, Package>;
}

/** Reads packages, each once. */
export interface PackageReader {
  /** The package that a file is of: the nearest one above it that has a name. */
  ofFile(file: string): Package | undefined;
  /** The package that code in a folder gets by a name (Node.js, "Loading from node_modules"). */
  find(name: string, from: string): Package | undefined;
  /** What a package needs and has: by the name under which it asks for it. */
  dependenciesOf(one: Package): ReadonlyMap<string, Package>;
}

export function openPackageReader(): PackageReader {
  const byFolder = new Map<string, Package | undefined>();
  const owners = new Map<string, Package | undefined>();

  const read = (folder: string): Package | undefined => {
    if (!byFolder.has(folder)) byFolder.set(folder, readPackage(folder));
    return byFolder.get(folder);
  };
  const above = (folder: string): Package | undefined => {
    if (owners.has(folder)) return owners.get(folder);
    const isTop = folder === parse(folder).root;
    const owner = read(folder) ?? (isTop ? undefined : above(dirname(folder)));
    owners.set(folder, owner);
    return owner;
  };
  const find = (name: string, from: string): Package | undefined => {
    for (let folder = from; ; folder = dirname(folder)) {
      const candidate = join(folder, "node_modules", name);
      if (existsSync(join(candidate, "package.json"))) return read(realpathSync(candidate));
      if (folder === parse(folder).root) return undefined;
    }
  };
  return {
    ofFile: (file) => above(dirname(file)),
    find,
    dependenciesOf({ folder, manifest }) {
      const { dependencies, optionalDependencies, peerDependencies } = manifest;
      const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
      const found = names.sort().flatMap((name) => {
        // Nothing that runs.
        if (name.startsWith("@types/")) return [];
        const one = find(name, folder);
        return one === undefined ? [] : [[name, one] as const];
      });
      return new Map(found);
    },
  };
}

function readPackage(folder: string): Package | undefined {
  const file = join(folder, "package.json");
  if (!existsSync(file)) return undefined;
  const manifest = JSON.parse(readFileSync(file, "utf8")) as Manifest;
  // A folder within a package may say no more than how its modules are read.
  if (manifest.name === undefined || manifest.version === undefined) return undefined;
  return { name: manifest.name, version: manifest.version, folder, manifest };
}

/** The package's name in what an import asks for: `@a/b/c.js` asks for `@a/b`. */
export function packageNameOf(specifier: string): string | undefined {
  if (/^(?:\.{1,2}(?:\/|$)|[/#])/.test(specifier)) return undefined;
  return /^(?:@[^/:]+\/)?[^/@:]+(?=\/|$)/.exec(specifier)?.[0];
}
