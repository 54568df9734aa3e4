// What goes into an artefact besides the bundle: packages that are copied whole, pages, documents,
// migrations, licenses, and the list of all that.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { BuiltService } from "./built-service.js";
import type { Bundle } from "./bundle.js";
import { describeContents, licensesOf, readEmbedded } from "./contents.js";
import { ArtefactFault } from "./fault.js";
import { printLicenses } from "./licenses.js";
import { printManifest, printManifestOfRuntime } from "./manifests.js";
import { openPackageReader, type Package } from "./packages.js";
import { referenceOf } from "./sbom.js";
import { layOut } from "./whole-packages.js";

/** The files of an artefact by their path: a text, or a file that is copied. */
export type ArtefactFiles = ReadonlyMap<string, string | { readonly from: string }>;

/** All files of an artefact, and the packages that they are of. */
export function gatherParts(
  service: BuiltService,
  bundle: Bundle,
): { readonly files: ArtefactFiles; readonly packages: readonly Package[] } {
  const reader = openPackageReader();
  const placed = layOut(bundle.top, reader);
  const packages = distinct([bundle.opwright, ...bundle.bundled, ...placed.values()]);
  const files = new Map<string, string | { readonly from: string }>(bundle.files);
  const copy = (path: string, from: string): void => void files.set(path, { from });
  for (const [place, { folder }] of placed)
    for (const path of filesOf(folder)) copy(`${place}/${path}`, join(folder, path));
  const { folder } = bundle.opwright;
  for (const path of filesBelow(join(folder, "dist/pages")))
    copy(`node_modules/opwright/pages/${path}`, join(folder, "dist/pages", path));
  files.set("node_modules/opwright/package.json", printManifestOfRuntime(bundle.opwright));
  const generated = join(service.root, service.out);
  for (const path of filesBelow(generated).filter(isReadByServer))
    copy(`${service.out}/${path}`, join(generated, path));
  for (const given of service.files)
    for (const path of filesGiven(service.root, given)) copy(path, join(service.root, path));
  files.set("package.json", printManifest(service, bundle.opwright));
  const embedded = readEmbedded(bundle.opwright);
  files.set("LICENSES.txt", printLicenses(licensesOf(packages, embedded)));
  files.set("sbom.cdx.json", describeContents(service, { bundle, packages, embedded, reader }));
  return { files, packages };
}

/** One of each package, in the order of their names. */
function distinct(packages: readonly Package[]): readonly Package[] {
  const byReference = new Map(packages.map((one) => [referenceOf(one), one]));
  return [...byReference].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, one]) => one);
}

/** Paths of all files below a folder, with `/`, in order; links are followed. */
function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(folder, path)).isFile())
    .map((path) => path.split(sep).join("/"))
    .sort();
}

/** What a package that is copied whole needs to run: no types, maps or manuals. */
function filesOf(folder: string): readonly string[] {
  return filesBelow(folder).filter(
    (path) =>
      !/(?:^|\/)(?:node_modules\/|\.)/.test(path) &&
      !/\.(?:[cm]?ts|tsx|map|md|markdown|tsbuildinfo)$/i.test(path),
  );
}

/** Migrations, and the documents that the service answers with or reads. */
function isReadByServer(path: string): boolean {
  return path.startsWith("migrations/") || /^[^/]+\.json$/.test(path);
}

/** Files of a path that the project names: itself, or all below it. */
function filesGiven(root: string, given: string): readonly string[] {
  const path = join(root, given);
  const within = relative(root, path).split(sep).join("/");
  if (within === "" || within.startsWith("..") || !existsSync(path))
    throw new ArtefactFault(`build.files names ${given}, which is not in the project`);
  if (!statSync(path).isDirectory()) return [within];
  return filesBelow(path).map((file) => `${within}/${file}`);
}
