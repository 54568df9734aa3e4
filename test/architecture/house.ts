// The house as rules over files and imports: each rule is a function, so that a planted violation can be held against it.
import { dirname, relative, resolve } from "node:path";

/** A source file by its path in the repository. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

export interface Import {
  readonly from: string;
  /** A file of the repository, or a package's name. */
  readonly to: string;
}

/** What a file imports, types included. */
export function importsOf({ path, text }: SourceFile): readonly Import[] {
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"\n]+)"/g)].map(
    ([, specifier = ""]) => specifier,
  );
  return specifiers
    .filter((specifier) => /^(?:\.|@|node:)?[\w@/.-]+$/.test(specifier))
    .map((specifier) => ({
      from: path,
      to: specifier.startsWith(".")
        ? relative("/", resolve("/", dirname(path), specifier)).replace(/\.js$/, ".ts")
        : specifier,
    }));
}

/** Rooms from the ground up; a file imports its own room and those below. The first that matches decides. */
export const rooms: readonly (readonly [string, RegExp])[] = [
  ["contract", /^runtime\/contract\//],
  ["query", /^runtime\/query\//],
  ["ports", /^runtime\/ports\//],
  ["operations", /^runtime\/operations\//],
  ["families", /^runtime\/families\//],
  ["engines and transports", /^runtime\/(?:engines|http)\//],
  ["server", /^runtime\/(?:server|testing)\/|^runtime\/index\.ts$/],
];

/** The same inside the generator. */
export const generatorRooms: readonly (readonly [string, RegExp])[] = [
  [
    "ground",
    /^generator\/(?:catalogue(?:-entry|-files|-types)?|config|diagnostics|did-you-mean|markdown|package-root)\.ts$/,
  ],
  ["model", /^generator\/model\//],
  ["load", /^generator\/load\//],
  ["tools of phases", /^generator\/(?:print|compare)\//],
  ["kernel", /^generator\/kernel\//],
  ["families", /^generator\/families\//],
  ["phases", /^generator\/(?:expand|check|diff|emit|output)\//],
  ["pipeline", /^generator\/(?:generate|clean-state)\.ts$/],
  ["command line", /^generator\/cli\//],
];

type Rooms = typeof rooms;

const floorOf = (house: Rooms, file: string): number =>
  house.findIndex(([, pattern]) => pattern.test(file));

/** Files that are in no room. */
export function homeless(house: Rooms, files: readonly string[]): readonly string[] {
  return files.filter((file) => floorOf(house, file) < 0);
}

/** Imports that go up. */
export function upward(house: Rooms, imports: readonly Import[]): readonly Import[] {
  return imports.filter(({ from, to }) => {
    const [here, there] = [floorOf(house, from), floorOf(house, to)];
    return here >= 0 && there > here;
  });
}

/** What the generator imports of the runtime beside the contract, and the other way round. */
export function betweenHouses(imports: readonly Import[]): readonly Import[] {
  return imports.filter(
    ({ from, to }) =>
      (from.startsWith("generator/") && /^runtime\/(?!contract\/)/.test(to)) ||
      (from.startsWith("runtime/") && to.startsWith("generator/")),
  );
}

const familyOf = (file: string): string | undefined =>
  /^generator\/families\/([\w-]+)\//.exec(file)?.[1];

/** Imports by which something but the list knows a family, or a family another one that it does not come after. */
export function familiesByName(
  imports: readonly Import[],
  after: ReadonlyMap<string, readonly string[]>,
): readonly Import[] {
  return imports.filter(({ from, to }) => {
    const named = familyOf(to);
    if (named === undefined || from === "generator/families/index.ts") return false;
    const own = familyOf(from);
    return own === undefined || (own !== named && after.get(own)?.includes(named) !== true);
  });
}

/** Packages by the folders that may name them. */
export const packages: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:pg|libsql|node:sqlite)$/, /^runtime\/engines\/(?:postgres|sqlite|sql)\//],
  [/^(?:ioredis|rate-limiter-flexible)$/, /^runtime\/(?:engines\/redis|operations|server)\//],
  [/^@aws-sdk\//, /^runtime\/engines\/s3\//],
  [/^(?:express|socket\.io|ws|find-my-way)$/, /^runtime\/(?:http|server)\//],
  [/^nodemailer$/, /^runtime\/families\/outbox\//],
  [/^argon2$/, /^runtime\/families\/identity\//],
  [/^jose$/, /^runtime\/(?:engines|families|operations|ports|server)\//],
  [/^ajv(?:\/|$)/, /^generator\/(?:check|emit)\//],
  [/^(?:handlebars)$/, /^generator\/print\//],
  [/^ts-morph$/, /^generator\/(?:cli|load|output)\//],
  [/^(?:chokidar|@clack\/prompts|@modelcontextprotocol\/)/, /^generator\/cli\//],
  [/^yaml$/, /^generator\/(?:load|cli)\//],
];

/** Imports of packages from folders that have nothing to do with them. */
export function strayPackages(imports: readonly Import[]): readonly Import[] {
  return imports.filter(({ from, to }) =>
    packages.some(([name, place]) => name.test(to) && !place.test(from)),
  );
}

/** Files of the generator that write to the disk though they are neither output nor the command line. */
export function strayWriters(files: readonly SourceFile[]): readonly string[] {
  const writes = /\b(?:writeFileSync|writeFile|renameSync|rmSync|mkdirSync|appendFileSync)\b/;
  const allowed = /^generator\/(?:output|cli)\/|^generator\/clean-state\.ts$/;
  return files
    .filter(({ path, text }) => path.startsWith("generator/") && writes.test(text))
    .map(({ path }) => path)
    .filter((path) => !allowed.test(path));
}

/** Files that import each other in a circle, each circle once. */
export function circles(imports: readonly Import[]): readonly string[] {
  const edges = new Map<string, readonly string[]>();
  for (const { from, to } of imports) edges.set(from, [...(edges.get(from) ?? []), to]);
  const found: string[] = [];
  const done = new Set<string>();
  const walk = (file: string, trail: readonly string[]): void => {
    if (trail.includes(file)) found.push([...trail.slice(trail.indexOf(file)), file].join(" → "));
    if (trail.includes(file) || done.has(file)) return;
    for (const next of edges.get(file) ?? []) walk(next, [...trail, file]);
    done.add(file);
  };
  for (const file of edges.keys()) walk(file, []);
  return found;
}

/** Names of exported types that several files declare. One that all sides have, of each side one, is none of them. */
export function sharedNames(
  files: readonly SourceFile[],
  ofAllSides: readonly string[],
): readonly string[] {
  const byName = new Map<string, string[]>();
  for (const { path, text } of files)
    for (const [, name = ""] of text.matchAll(
      /^export (?:abstract )?(?:interface|type|class) (\w+)/gm,
    )) {
      const side = ofAllSides.includes(name) ? path.split("/")[0] : "";
      const key = `${side} ${name}`;
      byName.set(key, [...(byName.get(key) ?? []), path]);
    }
  return [...byName]
    .filter(([, paths]) => new Set(paths).size > 1)
    .map(([key, paths]) => `${key.split(" ")[1]}: ${paths.join(", ")}`)
    .sort();
}
