// What goes into an artefact besides the bundle: packages that are copied whole, pages, documents,
// migrations, licenses, and the list of all that.
import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { BuiltService } from "./built-service.js";
import type { Bundle } from "./bundle.js";
import { componentsOf, describeContents, readEmbedded } from "./contents.js";
import { packByNpm } from "../project/npm-pack.js";
import { ArtefactFault } from "./fault.js";
import { printLicenses } from "./licenses.js";
import { printManifest, printManifestOfRuntime } from "./manifests.js";
import { openPackageReader, type Package } from "./packages.js";
import { referenceOf } from "./sbom.js";
import { layOut } from "./whole-packages.js";

/** The files of an artefact by their path: a text, or a file that is copied. */
export type ArtefactFiles = ReadonlyMap<string, string | { readonly from: string }>;

/** What is in an artefact. */
export interface ArtefactParts {
  readonly files: ArtefactFiles;
  /** The packages that they are of. */
  readonly packages: readonly Package[];
  /** Files of the project that its code names, and that aren't in it. */
  readonly left: readonly string[];
}

/** Throws `ArtefactFault` if a file that the project gives is not there, or its place is taken. */
export function gatherParts(service: BuiltService, bundle: Bundle): ArtefactParts {
  const reader = openPackageReader();
  const placed = layOut(bundle, reader);
  const packages = distinct([bundle.opwright, ...bundle.bundled, ...placed.values()]);
  const files = new Map<string, string | { readonly from: string }>(bundle.files);
  const copy = (path: string, from: string): void => void files.set(path, { from });
  for (const [place, { folder }] of placed)
    for (const path of filesOfPackage(folder, bundle.named.has(folder)))
      copy(`${place}/${path}`, join(folder, path));
  const { folder } = bundle.opwright;
  for (const path of filesBelow(join(folder, "dist/pages")))
    copy(`node_modules/opwright/pages/${path}`, join(folder, "dist/pages", path));
  const manifest = printManifestOfRuntime(bundle.opwright, bundle.isExtended);
  files.set("node_modules/opwright/package.json", manifest);
  const generated = join(service.root, service.out);
  for (const path of filesBelow(generated).filter(isReadByServer))
    copy(`${service.out}/${path}`, join(generated, path));
  files.set("package.json", printManifest(service, bundle.opwright));
  const contents = { bundle, packages, embedded: readEmbedded(bundle.opwright), reader };
  const components = componentsOf(contents);
  files.set("LICENSES.txt", printLicenses(components));
  files.set("sbom.cdx.json", describeContents(service, contents, components));
  for (const path of service.files.flatMap((given) => filesGiven(service.root, given))) {
    if (files.has(path))
      throw new ArtefactFault(`build.files names ${path}, which is a file of the artefact`);
    copy(path, join(service.root, path));
  }
  const isCopied = (path: string): boolean =>
    files.has(path) ||
    [...files.keys()].some((one) => one.startsWith(`${path.replace(/\/$/, "")}/`));
  const left = [...bundle.beside].filter(
    (path) => existsSync(join(service.root, path)) && !isCopied(path),
  );
  return { files, packages, left: left.sort() };
}

/** One of each package, in the order of their names. */
function distinct(packages: readonly Package[]): readonly Package[] {
  const byReference = new Map(packages.map((one) => [referenceOf(one), one]));
  return [...byReference].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, one]) => one);
}

/** Paths of all files below a folder, with `/`, in order; links are followed if they can be. */
function filesBelow(folder: string, within: readonly string[] = []): readonly string[] {
  const real = realpathSync(folder);
  // A link may lead to what it is in.
  if (within.includes(real)) return [];
  return readdirSync(folder)
    .flatMap((name) => {
      const stats = statSync(join(folder, name), { throwIfNoEntry: false });
      if (stats?.isFile() === true) return [name];
      if (stats?.isDirectory() !== true) return [];
      return filesBelow(join(folder, name), [...within, real]).map((path) => `${name}/${path}`);
    })
    .sort();
}

/** Types, maps, manuals, and what native code was made of and with. */
const isForDevelopment =
  /\.(?:[cm]?ts|tsx|map|md|markdown|tsbuildinfo|o|a|d|mk|gypi?|cc|cpp|h|hpp|vcxproj)$|(?:^|\/)Makefile$/i;

/**
 * What a package that is copied whole needs to run; all of one that the project asks for. One that
 * is a part of this project's repository may have more in its folder than it publishes.
 */
function filesOfPackage(folder: string, isAsked: boolean): readonly string[] {
  const all = folder.includes("/node_modules/") ? filesBelow(folder) : publishedFiles(folder);
  return all.filter(
    (path) =>
      !/^(?:node_modules\/|\.)|\/\./.test(path) && (isAsked || !isForDevelopment.test(path)),
  );
}

/** What `npm pack` would put into a package. */
function publishedFiles(folder: string): readonly string[] {
  try {
    return packByNpm(folder, true)
      .files.map(({ path }) => path)
      .sort();
  } catch (cause) {
    throw new ArtefactFault(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** Migrations, and the documents that the service answers with or reads. */
function isReadByServer(path: string): boolean {
  return path.startsWith("migrations/") || /^[^/]+\.json$/.test(path);
}

/** Files of a path that the project names: itself, or all below it. */
function filesGiven(root: string, given: string): readonly string[] {
  const path = join(root, given);
  const within = relative(root, path).split(sep).join("/");
  const stats = statSync(path, { throwIfNoEntry: false });
  if (within === "" || /^\.\.(?:\/|$)/.test(within) || stats === undefined)
    throw new ArtefactFault(`build.files names ${given}, which is not in the project`);
  if (!stats.isDirectory()) return [within];
  return filesBelow(path).map((file) => `${within}/${file}`);
}
