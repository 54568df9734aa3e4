// Packages that can't be bundled, since they look for files beside theirs: they are copied whole.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AskedPackages, Package, PackageReader } from "./packages.js";

/**
 * What code uses to find out where it is, or to load a file whose name only running shows: such a
 * module must stay where its package has it. A `require(name)` isn't among it: what is loaded so is
 * another package, or was found by one of these.
 */
const asksForPlace = [
  /\b(?:__dirname|__filename|createRequire|import\.meta|require\.resolve|process\.dlopen)\b/,
  /\b(?:require|import)\(\s*(?:`|["'][^"']*["']\s*\+)/,
  // Under another name.
  /[=:]\s*require\s*[;,)}\n]/,
];

/** Whether a module of a package can only run in its own folder. */
export function needsItsFolder(code: string): boolean {
  return asksForPlace.some((pattern) => pattern.test(code));
}

/** Packages whose native code is made, or found, by these. */
const nativeHelpers = ["bindings", "node-gyp-build", "node-pre-gyp", "prebuild-install"];

/** Whether a package has code that isn't JavaScript, which stays a file. */
export function hasNativeCode({ folder, manifest }: Package): boolean {
  const { gypfile, dependencies = {} } = manifest;
  return (
    gypfile === true ||
    existsSync(join(folder, "binding.gyp")) ||
    nativeHelpers.some((name) => name in dependencies)
  );
}

/** What code loads past its bundler, by a `require` or `resolve` of its own. */
export function requiredBeside(code: string): readonly string[] {
  if (!/\bcreateRequire\b|\bimport\.meta\.resolve\b/.test(code)) return [];
  const named = [...code.matchAll(/\b(\w+)\s*=\s*(?:\w+\.)?createRequire\(/g)].map(
    ([, name]) => name,
  );
  const callee = String.raw`(?:\b(?:${["require", ...named].join("|")})(?:\.resolve)?|\bmeta\.resolve|\)(?:\.resolve)?)`;
  const calls = code.matchAll(new RegExp(`${callee}\\(\\s*["'\`]([^"'\`]+)`, "g"));
  return [...calls].map(([, specifier = ""]) => specifier);
}

/**
 * Packages with all that they depend on. A dependency that were bundled as well would be there
 * twice, with two states.
 */
export function withDependencies(
  packages: Iterable<Package>,
  reader: PackageReader,
): ReadonlyMap<string, Package> {
  const all = new Map<string, Package>();
  const add = (one: Package): void => {
    // The runtime is always bundled, also for packages that extend it.
    if (all.has(one.folder) || one.name === "opwright") return;
    all.set(one.folder, one);
    for (const dependency of reader.dependenciesOf(one).values()) add(dependency);
  };
  for (const one of packages) add(one);
  return all;
}

/**
 * Where packages go so that each finds its own dependencies, by paths below the artefact. A
 * dependency is as high as it can be, so that there is one copy of it.
 */
export function layOut(
  { top, ofOpwright }: AskedPackages,
  reader: PackageReader,
): ReadonlyMap<string, Package> {
  const placed = new Map<string, Package>();
  const places: string[] = [];
  const put = (path: string, one: Package): void => {
    placed.set(path, one);
    places.push(path);
  };
  for (const [name, one] of inOrder(top)) put(`node_modules/${name}`, one);
  for (const [place, one] of inOrder(ofOpwright)) put(place, one);
  // What is placed is walked, too.
  for (const place of places) {
    const one = placed.get(place);
    if (one === undefined) continue;
    for (const [name, dependency] of reader.dependenciesOf(one)) {
      if (name === "opwright") continue;
      const seen = foldersAbove(place).map((folder) => `${folder}node_modules/${name}`);
      const found = seen.find((path) => placed.has(path));
      if (found !== undefined && placed.get(found)?.folder === dependency.folder) continue;
      const free = found === undefined ? seen.at(-1) : seen[0];
      if (free !== undefined) put(free, dependency);
    }
  }
  return placed;
}

const inOrder = (packages: ReadonlyMap<string, Package>): readonly (readonly [string, Package])[] =>
  [...packages].sort(([left], [right]) => (left < right ? -1 : 1));

/** Folders in which Node.js looks for `node_modules`: a package's own, up to the artefact's. */
function foldersAbove(place: string): readonly string[] {
  const parts = place.split("/node_modules/");
  return [...parts.keys()]
    .map((index) => `${parts.slice(0, parts.length - index).join("/node_modules/")}/`)
    .concat("")
    .filter((folder, index, all) => all.indexOf(folder) === index);
}
