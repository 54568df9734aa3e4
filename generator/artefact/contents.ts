// What an artefact is made of: the packages with their licenses and hashes, and who needs whom.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { BuiltService } from "./built-service.js";
import type { Bundle } from "./bundle.js";
import { readLicense, type LicensedCode } from "./licenses.js";
import type { Manifest, Package, PackageReader } from "./packages.js";
import { printSbom, referenceOf, type Component } from "./sbom.js";

/** What an artefact has of others. */
export interface ArtefactContents {
  readonly bundle: Bundle;
  readonly packages: readonly Package[];
  readonly embedded: readonly LicensedCode[];
  readonly reader: PackageReader;
}

/** What is in the pages, which opwright brings along bundled. */
export function readEmbedded({ folder }: Package): readonly LicensedCode[] {
  const text = readFileSync(join(folder, "dist/served/packages-of-pages.json"), "utf8");
  return JSON.parse(text) as readonly LicensedCode[];
}

/** Each package, and each part of the pages, once, in the order of their references. */
export function componentsOf({
  bundle,
  packages,
  embedded,
  reader,
}: ArtefactContents): readonly Component[] {
  const known = new Set([...packages, ...embedded].map(referenceOf));
  const hashOf = openPublishedHashes();
  const ofPages = embedded.map((one) => ({ ...one, dependsOn: [], isPublished: true }));
  const own = packages.map((one): Component => {
    const needed = [...reader.dependenciesOf(one).values()];
    const sha512 = hashOf(one);
    return {
      ...readLicense(one),
      dependsOn: referencesOf(one === bundle.opwright ? [...needed, ...ofPages] : needed, known),
      isPublished: one === bundle.opwright || one.folder.includes("/node_modules/"),
      ...(sha512 === undefined ? {} : { sha512 }),
    };
  });
  // A package of the project's own says more of itself than the pages do.
  const all = new Map([...ofPages, ...own].map((one) => [referenceOf(one), one]));
  return [...all].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, one]) => one);
}

/** The document that lists them. */
export function describeContents(
  service: BuiltService,
  { bundle, reader }: ArtefactContents,
  components: readonly Component[],
): string {
  const { name, version } = service;
  const asked = reader.dependenciesOf(projectIn(service)).values();
  const dependsOn = referencesOf([...asked], new Set(components.map(referenceOf)));
  return printSbom({ name, version, opwright: bundle.opwright.version, dependsOn }, components);
}

/** References of those that are known, each once. */
function referencesOf(
  all: readonly Pick<Package, "name" | "version">[],
  known: ReadonlySet<string>,
): readonly string[] {
  return [...new Set(all.map(referenceOf))].filter((one) => known.has(one)).sort();
}

/** The project as a package, which may have neither a name nor a version. */
function projectIn({ root, name, version }: BuiltService): Package {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;
  return { name, version, folder: root, manifest };
}

/** What npm has noted of the packages that it installed. */
interface Installed {
  readonly packages: Readonly<Record<string, { readonly integrity?: string }>>;
}

/** Tells the hash that npm has noted of a package when it installed it; reads each record once. */
function openPublishedHashes(): (one: Package) => string | undefined {
  const records = new Map<string, Installed>();
  const recordIn = (folder: string): Installed => {
    const file = join(folder, "node_modules/.package-lock.json");
    const read = (): Installed =>
      existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Installed) : { packages: {} };
    const record = records.get(folder) ?? read();
    records.set(folder, record);
    return record;
  };
  return ({ folder }) => {
    const at = folder.indexOf("/node_modules/");
    if (at < 0) return undefined;
    const integrity = recordIn(folder.slice(0, at)).packages[folder.slice(at + 1)]?.integrity;
    const [, encoded] = /^sha512-(.+)$/.exec(integrity ?? "") ?? [];
    return encoded === undefined ? undefined : Buffer.from(encoded, "base64").toString("hex");
  };
}
