// One pass of the bundler over the modules of a server.
import { existsSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import type { OutputChunk, Plugin } from "rolldown";
import type { BundleSource } from "./bundle-source.js";
import { externalModules } from "./external-modules.js";
import { ArtefactFault } from "./fault.js";
import { modulePlaces } from "./module-places.js";
import type { Package } from "./packages.js";
import type { Sides } from "./sides.js";

/** Folders of the artefact, in which a stack trace shows whose a frame is. */
const runtimeFolder = "node_modules/opwright/runtime";
const packagesFolder = "node_modules/@opwright/bundled";

export interface BundledModules {
  /** Files by their path in the artefact. */
  readonly files: ReadonlyMap<string, string>;
  /** Packages of which code is in them. */
  readonly bundled: readonly Package[];
  /** Files that modules of the project name beside themselves, relative to it. */
  readonly beside: ReadonlySet<string>;
}

/**
 * `entries` are files by where they go, without the ending; `sorting` is the plugin that decides
 * about packages.
 */
export async function bundleModules({
  source,
  sides,
  sorting,
  entries,
}: {
  readonly source: BundleSource;
  readonly sides: Sides;
  readonly sorting: Plugin;
  readonly entries: Readonly<Record<string, string>>;
}): Promise<BundledModules> {
  const { root } = source;
  const { rolldown } = await loadBundler();
  const isOpwright = (id: string): boolean => sides.of(id) === "opwright";
  const beside = new Set<string>();
  const places = modulePlaces(source, sides, beside);
  const build = await rolldown({
    input: { ...entries },
    cwd: root,
    platform: "node",
    tsconfig: false,
    plugins: [externalModules, sorting, compiledModules(sides), places],
    // What a package says of itself decides about pages; a server runs what it imports.
    treeshake: { moduleSideEffects: [{ test: /^/, sideEffects: true }] },
    // Otherwise nothing is left of a package that is a constant alone, and no license of it.
    optimization: { inlineConst: false },
    // No paths of this machine: the same project gives the same bytes.
    experimental: { attachDebugInfo: "none" },
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
      // As without a bundle: modules run in the order of their imports, and keep their names.
      strictExecutionOrder: true,
      keepNames: true,
      entryFileNames: "[name].js",
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
    const chunks = output.filter((file) => file.type === "chunk");
    return {
      files: new Map(chunks.flatMap(filesOf)),
      bundled: packagesOf(chunks, sides),
      beside,
    };
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

/** Packages of which a chunk has a module. */
function packagesOf(chunks: readonly OutputChunk[], sides: Sides): readonly Package[] {
  const packages = chunks
    .flatMap(({ modules }) => Object.keys(modules))
    .map((id) => sides.of(id))
    .filter((side) => typeof side === "object");
  return [...new Set(packages)];
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
