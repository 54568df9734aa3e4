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

/** All that is licensed: packages, and what is in the pages. */
export function licensesOf(
  packages: readonly Package[],
  embedded: readonly LicensedCode[],
): readonly LicensedCode[] {
  const known = new Set(packages.map(referenceOf));
  return [...packages.map(readLicense), ...embedded.filter((one) => !known.has(referenceOf(one)))];
}

/** The document that lists all of it. */
export function describeContents(
  service: BuiltService,
  { bundle, packages, embedded, reader }: ArtefactContents,
): string {
  const known = new Set([...packages, ...embedded].map(referenceOf));
  const wanted = (all: Iterable<Package>): readonly string[] =>
    [...new Set([...all].map(referenceOf))].filter((one) => known.has(one));
  const own = new Map(
    packages.map((one): readonly [string, Component] => {
      const dependsOn = wanted(reader.dependenciesOf(one).values());
      const sha512 = publishedHash(one);
      return [
        referenceOf(one),
        {
          ...readLicense(one),
          dependsOn,
          isPublished: one === bundle.opwright || one.folder.includes("/node_modules/"),
          ...(sha512 === undefined ? {} : { sha512 }),
        },
      ];
    }),
  );
  const ofPages = embedded.map((one) => ({ ...one, dependsOn: [], isPublished: true }));
  const opwright = own.get(referenceOf(bundle.opwright));
  if (opwright !== undefined)
    own.set(referenceOf(opwright), {
      ...opwright,
      dependsOn: [...new Set([...opwright.dependsOn, ...ofPages.map(referenceOf)])].sort(),
    });
  const components = [...own.values(), ...ofPages.filter((one) => !own.has(referenceOf(one)))];
  return printSbom(
    {
      name: service.name,
      version: service.version,
      opwright: bundle.opwright.version,
      dependsOn: wanted(reader.dependenciesOf(projectIn(service)).values()),
    },
    components.toSorted((left, right) => (referenceOf(left) < referenceOf(right) ? -1 : 1)),
  );
}

/** The project as a package, which may have neither a name nor a version. */
function projectIn({ root, name, version }: BuiltService): Package {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;
  return { name, version, folder: root, manifest };
}

/** The hash that npm has noted of a package when it installed it. */
function publishedHash({ folder }: Package): string | undefined {
  const at = folder.indexOf("/node_modules/");
  if (at < 0) return undefined;
  const lock = join(folder.slice(0, at), "node_modules/.package-lock.json");
  if (!existsSync(lock)) return undefined;
  const { packages } = JSON.parse(readFileSync(lock, "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly integrity?: string }>>;
  };
  const integrity = packages[folder.slice(at + 1)]?.integrity;
  const [, encoded] = /^sha512-(.+)$/.exec(integrity ?? "") ?? [];
  return encoded === undefined ? undefined : Buffer.from(encoded, "base64").toString("hex");
}
