// Where a file belongs, and which others it may import.
import type { Import, SourceFile } from "./house.js";

type Room = readonly [name: string, files: RegExp];

/** Floors from the ground up. A file imports its own room and the floors below; rooms beside each other don't know each other. */
export type House = readonly (readonly Room[])[];

export const runtimeHouse: House = [
  [["contract", /^runtime\/contract\//]],
  [["query", /^runtime\/query\//]],
  [["ports", /^runtime\/ports\//]],
  [["work", /^runtime\/work\//]],
  [["what engines share", /^runtime\/engines\/(?:sql\/|(?:private-files|disk-faults)\.ts$)/]],
  [
    ["SQLite", /^runtime\/engines\/sqlite\//],
    ["PostgreSQL", /^runtime\/engines\/postgres\//],
    ["folder", /^runtime\/engines\/folder\//],
    ["S3", /^runtime\/engines\/s3\//],
    ["Redis", /^runtime\/engines\/redis\//],
    ["memory", /^runtime\/engines\/memory\//],
    ["OpenTelemetry", /^runtime\/engines\/opentelemetry\//],
  ],
  [["operations", /^runtime\/operations\//]],
  [
    ["realtime", /^runtime\/families\/realtime\//],
    ["outbox", /^runtime\/families\/outbox\//],
    ["webhooks", /^runtime\/families\/webhooks\//],
    ["audit", /^runtime\/families\/audit\//],
    ["jobs", /^runtime\/families\/jobs\//],
  ],
  [["storage", /^runtime\/families\/storage\//]],
  [["documents", /^runtime\/families\/documents\//]],
  [
    ["identity", /^runtime\/families\/identity\//],
    ["search", /^runtime\/families\/search\//],
  ],
  [["tenancy", /^runtime\/families\/tenancy\//]],
  [["HTTP and its transports", /^runtime\/http\//]],
  [["the list of families", /^runtime\/families\.ts$/]],
  [["server", /^runtime\/server\//]],
  [
    ["testing", /^runtime\/testing\//],
    ["what generated code imports", /^runtime\/index\.ts$/],
  ],
];

/** What runs in the browser. Imports have no ending: a file of a page is `.ts` or `.tsx`. */
export const pagesHouse: House = [
  [["documents that pages read", /^pages\/openapi\//]],
  [["parts", /^pages\/parts\//]],
  [["shell", /^pages\/shell\//]],
  [
    ["reference", /^pages\/reference\//],
    ["operations", /^pages\/operations\//],
    ["events", /^pages\/events\//],
    ["console", /^pages\/console\//],
    ["mail frame", /^pages\/mail-frame\//],
  ],
];

export const generatorHouse: House = [
  [
    ["diagnostics", /^generator\/diagnostics\//],
    ["project", /^generator\/project\//],
  ],
  [["model", /^generator\/model\//]],
  [["load", /^generator\/load\//]],
  [
    ["printing", /^generator\/print\//],
    ["comparing", /^generator\/compare\//],
  ],
  [["kernel", /^generator\/kernel\//]],
  [["families", /^generator\/families\//]],
  [["expand", /^generator\/expand\//]],
  [
    ["compiled schemas", /^generator\/compile\//],
    ["the database that is wanted", /^generator\/database\//],
  ],
  [["check", /^generator\/check\//]],
  [["mend", /^generator\/mend\//]],
  [["emit", /^generator\/emit\//]],
  [["diff", /^generator\/diff\//]],
  [["output", /^generator\/output\//]],
  [
    ["pipeline", /^generator\/pipeline\//],
    ["artefact", /^generator\/artefact\//],
  ],
  [["command line", /^generator\/cli\//]],
];

const floorOf = (house: House, file: string): number =>
  house.findIndex((floor) => floor.some(([, files]) => files.test(file)));

const roomOf = (house: House, file: string): string | undefined =>
  house.flat().find(([, files]) => files.test(file))?.[0];

/** Files that are in no room. */
export function homeless(house: House, files: readonly string[]): readonly string[] {
  return files.filter((file) => floorOf(house, file) < 0);
}

/** Imports that go up, or into a room beside. */
export function trespassing(house: House, imports: readonly Import[]): readonly Import[] {
  return imports.filter(({ from, to }) => {
    const [here, there] = [floorOf(house, from), floorOf(house, to)];
    if (here < 0 || there < here) return false;
    return there > here || roomOf(house, from) !== roomOf(house, to);
  });
}

/** Imports of an engine by what speaks to its port: by operations, families and HTTP. */
export function enginesByName(imports: readonly Import[]): readonly Import[] {
  return imports.filter(
    ({ from, to }) =>
      /^runtime\/(?:operations|families|http)\//.test(from) && to.startsWith("runtime/engines/"),
  );
}

const runtimeFamily = /^runtime\/families\//;

/** Imports by which something of the server knows a family. */
export function familiesInServer(imports: readonly Import[]): readonly Import[] {
  return imports.filter(
    ({ from, to }) => from.startsWith("runtime/server/") && runtimeFamily.test(to),
  );
}

/** Members of a service definition, of the names given, that the server reads. */
export function partsRead(
  files: readonly SourceFile[],
  members: readonly string[],
): readonly string[] {
  return files
    .filter(({ path }) => path.startsWith("runtime/server/"))
    .flatMap(({ path, text }) =>
      members
        .filter((name) =>
          new RegExp(
            String.raw`\b(?:service|definition|parts)\??\.${name}\b|\{[^{}()]*\b${name}\b[^{}()]*\}(?:: (?:\w+<)?(?:ServiceDefinition|FamilyParts)| = service\b)`,
          ).test(text),
        )
        .map((name) => `${path} reads ${name}`),
    );
}

/** Where files of a folder find what they import. */
const houses: readonly (readonly [string, RegExp])[] = [
  ["runtime/", /^runtime\//],
  ["generator/", /^(?:generator|runtime\/contract|client)\//],
  ["client/", /^client\//],
  ["generated/client/", /^generated\/client\//],
];

/** Imports from another house: of the generator all but the runtime's contract, of the runtime and of clients any. */
export function foreign(imports: readonly Import[]): readonly Import[] {
  return imports.filter(({ from, to }) => {
    const isFile = to.endsWith(".ts") || to.startsWith(".");
    const own = houses.find(([house]) => from.startsWith(house))?.[1];
    return isFile && own !== undefined && !own.test(to);
  });
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

/** All that is not a family's own: it knows what families have in common. */
const generic = /^generator\/(?!families\/)/;

/** Texts outside families that are the name of a family or of its section. */
export function familiesInTexts(
  files: readonly SourceFile[],
  names: ReadonlySet<string>,
): readonly string[] {
  return files
    .filter(({ path }) => generic.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/"([a-z_]+)"/g)]
        .map(([, word = ""]) => word)
        .filter((word) => names.has(word))
        .map((word) => `${path} says ${word}`),
    );
}

/** Members of the model, of the names given, that are read outside families. */
export function modelsRead(
  files: readonly SourceFile[],
  names: readonly string[],
): readonly string[] {
  const code = (text: string): string => text.replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, "");
  const read = (text: string, name: string): boolean =>
    new RegExp(
      String.raw`[mM]odel\??\.${name}\b|\b(?:before|after)\.${name}\b|\{[^{}()]*\b${name}\b[^{}()]*\}(?:: RegistryModel| = (?:\w+\.)*model\b)`,
    ).test(code(text));
  return files
    .filter(({ path }) => generic.test(path))
    .flatMap(({ path, text }) =>
      names.filter((name) => read(text, name)).map((name) => `${path} reads ${name}`),
    );
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
