// The server of a project with all that it imports, in a few files (rolldown).
import { existsSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import type { OutputChunk, Plugin } from "rolldown";
import { ArtefactFault } from "./fault.js";
import { modulePlaces } from "./module-places.js";
import { openPackageReader, packageNameOf, type Package, type PackageReader } from "./packages.js";
import { openSides, type Side, type Sides } from "./sides.js";
import { needsItsFolder, requiredBeside, withDependencies } from "./whole-packages.js";

/** What is bundled. */
export interface BundleSource {
  /** The project's folder. */
  readonly root: string;
  /** The compiled server entry, below the project's folder. */
  readonly entry: string;
  /** Names of packages to copy whole, besides those that need it. */
  readonly whole: readonly string[];
}

export interface Bundle {
  /** Files by their path in the artefact. */
  readonly files: ReadonlyMap<string, string>;
  /** Packages of which code is in the files. */
  readonly bundled: readonly Package[];
  /** Packages that the files ask for by these names. */
  readonly top: ReadonlyMap<string, Package>;
  /** opwright itself. */
  readonly opwright: Package;
  /** Optional packages that the service could use and that aren't installed. */
  readonly missing: readonly string[];
}

/**
 * Bundles a server. Which packages must be copied whole shows in their code, so it is bundled again
 * until no more are found. Throws `ArtefactFault`, and rolldown's own errors.
 */
export async function bundleServer(source: BundleSource): Promise<Bundle> {
  const reader = openPackageReader();
  const sides = openSides(source.root, reader);
  if (sides === undefined) throw new ArtefactFault("opwright is not installed in this project");
  const asked = source.whole.map((name) => {
    const one = reader.find(name, source.root);
    if (one === undefined) throw new ArtefactFault(`the package ${name} is not installed`);
    return [name, one] as const;
  });
  let found: readonly Package[] = asked.map(([, one]) => one);
  for (;;) {
    const whole = withDependencies(found, reader);
    const pass = openPass({ source, sides, reader, whole });
    const files = await pass.run();
    const more = [...pass.found].filter(({ folder }) => !whole.has(folder));
    if (more.length === 0) {
      const { opwright } = sides;
      const top = new Map([...asked, ...pass.top]);
      const missing = [...pass.missing].sort();
      return { files, bundled: [...pass.bundled], top, opwright, missing };
    }
    found = [...found, ...more];
  }
}

interface PassOptions {
  readonly source: BundleSource;
  readonly sides: Sides;
  readonly reader: PackageReader;
  /** Packages that are not bundled, by their folder. */
  readonly whole: ReadonlyMap<string, Package>;
}

interface Pass {
  /** Packages that turned out to be needed whole. */
  readonly found: ReadonlySet<Package>;
  readonly top: ReadonlyMap<string, Package>;
  readonly missing: ReadonlySet<string>;
  readonly bundled: ReadonlySet<Package>;
  /** Returns the files of the bundle. */
  run(): Promise<ReadonlyMap<string, string>>;
}

function openPass({ source, sides, reader, whole }: PassOptions): Pass {
  const found = new Set<Package>();
  const top = new Map<string, Package>();
  const missing = new Set<string>();
  const bundled = new Set<Package>();

  /** Notes that bundled code asks for a package that isn't bundled. */
  const askFor = (name: string, one: Package, importer: Side): void => {
    const earlier = top.get(name) ?? one;
    if (earlier.folder === one.folder) {
      top.set(name, one);
      return;
    }
    if (typeof importer === "string")
      throw new ArtefactFault(
        `${name} is needed in two versions, those in ${earlier.folder} and in ${one.folder}`,
      );
    // Copied whole it finds its own.
    found.add(importer);
  };
  const packages: Plugin = {
    name: "opwright:packages",
    resolveId: {
      async handler(specifier, importer, { kind }) {
        const name = packageNameOf(specifier);
        if (importer === undefined || name === undefined || isBuiltin(specifier)) return null;
        const from = sides.of(importer);
        const resolved = await this.resolve(specifier, importer, { skipSelf: true, kind });
        if (resolved === null) {
          if (from === "project")
            throw new ArtefactFault(
              `${relative(source.root, importer)} imports ${specifier}, which is not installed`,
            );
          if (from === "opwright") missing.add(name);
          return { id: specifier, external: true };
        }
        const owner = sides.of(resolved.id);
        if (typeof owner === "string" || !whole.has(owner.folder)) return resolved;
        askFor(name, owner, from);
        return { id: specifier, external: true };
      },
    },
    transform: {
      handler(code, id) {
        const side = sides.of(id);
        if (typeof side === "object") {
          bundled.add(side);
          if (needsItsFolder(code)) found.add(side);
          return;
        }
        if (side === "bundler") return;
        for (const specifier of requiredBeside(code)) {
          const name = packageNameOf(specifier) ?? "";
          const one = reader.find(name, dirname(id));
          if (one === undefined || one.folder === sides.opwright.folder) continue;
          found.add(one);
          askFor(name, one, side);
        }
      },
    },
  };
  const plugins = [packages, compiledModules(sides), modulePlaces(source.root, sides)];
  return { found, top, missing, bundled, run: () => bundle(source, sides, plugins) };
}

/** Folders of the artefact, in which a stack trace shows whose a frame is. */
const runtimeFolder = "node_modules/opwright/runtime";
const packagesFolder = "node_modules/.bundled";

async function bundle(
  { root, entry }: BundleSource,
  sides: Sides,
  plugins: Plugin[],
): Promise<ReadonlyMap<string, string>> {
  const { rolldown } = await loadBundler();
  const isOpwright = (id: string): boolean => sides.of(id) === "opwright";
  const build = await rolldown({
    input: { server: join(root, entry) },
    cwd: root,
    platform: "node",
    tsconfig: false,
    plugins,
    // The code was compiled, checked and tested before; what packages do isn't the author's.
    logLevel: "silent",
  });
  try {
    const { output } = await build.generate({
      // Code of the project is in the artefact's root, as seen from which its sources are named.
      dir: root,
      format: "esm",
      sourcemap: true,
      sourcemapExcludeSources: true,
      sourcemapPathTransform: (path, map) => relative(root, resolve(dirname(map), path)),
      comments: { legal: false, jsdoc: false, annotation: true },
      entryFileNames: "server.js",
      chunkFileNames({ facadeModuleId, moduleIds: [first = ""] }) {
        const id = facadeModuleId ?? first;
        if (isOpwright(id)) return `${runtimeFolder}/[hash].js`;
        return sides.isPackage(id) ? `${packagesFolder}/[hash].mjs` : "[name]-[hash].js";
      },
      codeSplitting: {
        groups: [
          { name: "package", test: sides.isPackage, priority: 2, entriesAware: true },
          { name: "runtime", test: isOpwright, priority: 1, entriesAware: true },
        ],
      },
    });
    return new Map(output.flatMap((file) => (file.type === "chunk" ? filesOf(file) : [])));
  } finally {
    await build.close();
  }
}

/** An optional package: only who builds artefacts needs it. */
async function loadBundler(): Promise<typeof import("rolldown")> {
  try {
    return await import("rolldown");
  } catch (cause) {
    const text = "opwright build needs the package rolldown: npm install --save-dev rolldown";
    throw new ArtefactFault(text, { cause });
  }
}

const mapComment = /\n\/\/# sourceMappingURL=.*\n*$/;

/** The files of a chunk. Only the project's own lines are mapped to their sources. */
function filesOf({ fileName, code, map }: OutputChunk): readonly (readonly [string, string])[] {
  if (map !== null && !fileName.startsWith("node_modules/"))
    return [
      [fileName, code],
      [`${fileName}.map`, map.toString()],
    ];
  return [[fileName, code.replace(mapComment, "\n")]];
}

/** Loads compiled modules with their source maps, so that the bundle's lead to what was written. */
function compiledModules(sides: Sides): Plugin {
  return {
    name: "opwright:compiled",
    load: {
      handler(id) {
        const file = `${id}.map`;
        if (id.startsWith("\0") || sides.of(id) !== "project" || !existsSync(file)) return null;
        const code = readFileSync(id, "utf8").replace(mapComment, "\n");
        return { code, map: readFileSync(file, "utf8") };
      },
    },
  };
}
