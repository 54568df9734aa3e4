// Which packages are bundled, which stay whole, and which of those the bundle asks for.
import { dirname } from "node:path";
import { isBuiltin } from "node:module";
import type { Plugin } from "rolldown";
import type { BundleSource } from "./bundle-source.js";
import { externalModule } from "./external-modules.js";
import { ArtefactFault } from "./fault.js";
import { packageNameOf, type AskedPackages, type Package, type PackageReader } from "./packages.js";
import type { Side, Sides } from "./sides.js";
import { hasNativeCode, needsItsFolder, requiredBeside } from "./whole-packages.js";

/** What a pass of the bundler has shown. */
export interface Sorting {
  readonly plugin: Plugin;
  /** Packages that turned out to be needed whole. */
  readonly found: ReadonlySet<Package>;
  readonly asked: AskedPackages;
  readonly missing: ReadonlySet<string>;
}

/** `whole` are the packages that are not bundled, by their folder. */
export function sortPackages({
  source,
  sides,
  reader,
  whole,
}: {
  readonly source: BundleSource;
  readonly sides: Sides;
  readonly reader: PackageReader;
  readonly whole: ReadonlyMap<string, Package>;
}): Sorting {
  const found = new Set<Package>();
  const missing = new Set<string>();
  const { top, ask } = noteAsked(found);
  const ofOpwright = new Map<string, Package>();
  /** Whether the project gets another version by the name. */
  const isOther = (name: string, { folder }: Package): boolean => {
    const seen = reader.find(name, source.root);
    return seen !== undefined && seen.folder !== folder;
  };
  const lookAt = (code: string, id: string, side: "project" | "opwright"): void => {
    for (const specifier of requiredBeside(code)) {
      const name = packageNameOf(specifier);
      if (name === undefined || isBuiltin(specifier)) continue;
      const one = reader.find(name, dirname(id));
      if (name === "opwright") continue;
      if (one === undefined) {
        if (side === "opwright") missing.add(name);
        continue;
      }
      found.add(one);
      if (side === "opwright" && isOther(name, one))
        ofOpwright.set(`node_modules/opwright/node_modules/${name}`, one);
      else ask(name, one, side);
    }
  };
  const plugin: Plugin = {
    name: "opwright:packages",
    resolveId: {
      async handler(specifier, importer, { kind }) {
        const name = packageNameOf(specifier);
        if (importer === undefined || isBuiltin(specifier)) return null;
        if (specifier.startsWith("#")) {
          const own = await this.resolve(specifier, importer, { skipSelf: true, kind });
          return own === null ? null : { ...own, id: source.compiledAnew(own.id) };
        }
        if (name === undefined) return null;
        const from = sides.of(importer);
        const resolved = await this.resolve(specifier, importer, { skipSelf: true, kind });
        if (resolved === null) {
          // What is loaded later may be caught, and then is not needed.
          if (from === "project" && kind === "import-statement")
            throw new ArtefactFault(
              `${source.placeOf(importer)} imports ${specifier}, which is not installed`,
            );
          if (typeof from === "string") missing.add(name);
          return { id: specifier, external: true };
        }
        const owner = sides.of(resolved.id);
        if (typeof owner === "string" || !whole.has(owner.folder))
          return { ...resolved, id: source.compiledAnew(resolved.id), moduleSideEffects: true };
        const module = { kind, file: resolved.id, owner, importer: from };
        if (from === "opwright" && isOther(name, owner)) {
          const alias = `@opwright/${name.replace("/", "__")}`;
          ofOpwright.set(`node_modules/${alias}`, owner);
          return externalModule(alias + specifier.slice(name.length), module);
        }
        ask(name, owner, from);
        return externalModule(specifier, module);
      },
    },
    transform: {
      handler(code, id) {
        const side = sides.of(id);
        if (side === "project" || side === "opwright") lookAt(code, id, side);
        else if (side !== "bundler" && (needsItsFolder(code) || hasNativeCode(side)))
          found.add(side);
      },
    },
  };
  return { plugin, found, missing, asked: { top, ofOpwright } };
}

/** Notes which packages bundled code asks for that aren't bundled. */
function noteAsked(found: Set<Package>): {
  readonly top: ReadonlyMap<string, Package>;
  readonly ask: (name: string, one: Package, importer: Side) => void;
} {
  const top = new Map<string, Package>();
  const askers = new Map<string, Side>();
  const ask = (name: string, one: Package, importer: Side): void => {
    const earlier = top.get(name);
    if (earlier === undefined || earlier.folder === one.folder) {
      top.set(name, one);
      askers.set(name, importer);
      return;
    }
    // Whichever of the two is a package finds its own once it is copied whole.
    const asker = [importer, askers.get(name)].find((side) => typeof side === "object");
    if (typeof asker !== "object")
      throw new ArtefactFault(
        `${name} is needed in two versions, those in ${earlier.folder} and in ${one.folder}`,
      );
    found.add(asker);
  };
  return { top, ask };
}
