// What a folder may reach outside the house: packages, modules of Node.js that act on the machine, and the disk.
import type { Import, SourceFile } from "./house.js";
import { ts } from "ts-morph";

type Allowed = readonly [modules: RegExp, files: RegExp];

const anywhere = /^(?:runtime|generator)\//;

/** Every module that is no file of the repository, and who may name it. What isn't listed may be named by nobody. */
const allowed: readonly Allowed[] = [
  // Computes, or waits, and acts on nothing.
  [/^node:(?:buffer|crypto|events|module|os|path|stream|timers|url|util|zlib)(?:\/|$)/, anywhere],
  [/^node:assert\/strict$/, /^runtime\/testing\//],
  [
    /^node:fs(?:\/|$)/,
    /^generator\/(?:project|load|print|compile|emit\/client|output|pipeline|artefact|cli)\//,
  ],
  [/^node:fs(?:\/|$)/, /^runtime\/(?:engines|server|testing|http\/docs)\//],
  // Reads the source maps of lines that it names.
  [/^node:fs$/, /^runtime\/operations\/author-lines\.ts$/],
  [/^node:(?:child_process|cluster|v8)$/, /^generator\/cli\//],
  [/^node:child_process$/, /^generator\/project\/npm-pack\.ts$/],
  [/^node:worker_threads$/, /^generator\/compile\//],
  [/^node:http$/, /^runtime\/(?:http|server)\//],
  [/^node:https?$/, /^runtime\/operations\//],
  // Callers are addressed by what the request says; types only.
  [/^node:http$/, /^runtime\/families\/identity\//],
  [/^node:(?:dns(?:\/promises)?|net)$/, /^runtime\/families\/webhooks\//],
  [/^node:net$/, /^runtime\/(?:http|server|engines\/postgres)\//],

  [
    /^(?:@clack\/prompts|@modelcontextprotocol\/sdk\/.*|chokidar|commander|diff)$/,
    /^generator\/cli\//,
  ],
  [/^rolldown$/, /^generator\/artefact\//],
  [/^yaml$/, /^generator\/(?:load|mend|cli)\//],
  [/^ts-morph$/, /^generator\/(?:load|output|cli)\//],
  [/^ajv\//, /^generator\/compile\//],
  [/^recheck\//, /^generator\/check\//],
  [/^(?:indefinite|pluralize)$/, /^generator\/model\/nouns\.ts$/],
  [/^handlebars$/, /^generator\/print\//],
  [/^openapi-types$/, /^generator\/emit\//],

  [/^libsql(?:\/promise)?$/, /^runtime\/engines\/sqlite\//],
  [/^@opentelemetry\/api$/, /^runtime\/engines\/opentelemetry\//],
  [/^pg$/, /^runtime\/engines\/postgres\//],
  [/^redis$/, /^runtime\/engines\/redis\//],
  [/^@aws-sdk\//, /^runtime\/engines\/s3\//],
  [/^content-disposition$/, /^runtime\/(?:engines\/s3|families\/storage)\//],
  [/^(?:file-type|mime-types)$/, /^runtime\/families\/storage\//],
  [/^(?:argon2|jose\/.*|@zxcvbn-ts\/language-common)$/, /^runtime\/families\/identity\//],
  [/^jose\/jwk\/thumbprint$/, /^runtime\/operations\/token-keys\.ts$/],
  [/^croner$/, /^(?:generator|runtime)\/families\/jobs\//],
  [/^nodemailer$/, /^runtime\/families\/outbox\//],
  [/^@orama\/stemmers\//, /^runtime\/query\//],
  [/^cookie$/, /^runtime\/operations\//],
  [/^(?:cors|find-my-way|ipaddr\.js|multer|proxy-addr|socket\.io|ws)$/, /^runtime\/http\//],
  [/^(?:pino|prom-client)$/, /^runtime\/server\//],
  // Its own version.
  [/^opwright\/package\.json$/, /^runtime\/server\/own-version\.ts$/],

  // A type, which nothing runs, and nothing misses where it is not there.
  [/^@tanstack\/query-core$/, /^(?:client|generated\/client)\/query\.ts$/],
];

/** Imports of modules that the list doesn't grant to their file. */
export function strayModules(imports: readonly Import[]): readonly Import[] {
  return imports.filter(
    ({ from, to }) =>
      !to.endsWith(".ts") &&
      !to.startsWith(".") &&
      !allowed.some(([modules, files]) => modules.test(to) && files.test(from)),
  );
}

/** Functions of `node:fs` that leave the disk as it is. */
const reading: ReadonlySet<string> = new Set([
  "accessSync",
  "closeSync",
  "constants",
  "createReadStream",
  "existsSync",
  "fstatSync",
  "lstatSync",
  "opendir",
  "readdir",
  "readdirSync",
  "readFile",
  "readFileSync",
  "realpathSync",
  "stat",
  "statSync",
  "statfsSync",
]);

/** Who may write to the disk. */
const writers: readonly RegExp[] = [
  /^generator\/(?:output|cli)\//,
  /^generator\/artefact\/write-artefact\.ts$/,
  /^generator\/pipeline\/clean-state\.ts$/,
  // Opens a file to read it, so that it is the one that was looked at.
  /^generator\/load\/project-file\.ts$/,
  /^runtime\/engines\/(?:folder\/|(?:private-files|disk-faults|sqlite\/(?:restoring|log-tail|log-index))\.ts$)/,
  /^runtime\/server\/(?:data-folder\.ts$|backup\/)/,
  /^runtime\/testing\//,
];

/** Files that take from `node:fs` what writes, or all of it, though they may not. */
export function strayWriters(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ text }) => takenOfDisk(text).some((name) => !reading.has(name)))
    .map(({ path }) => path)
    .filter((path) => !writers.some((allowedFiles) => allowedFiles.test(path)));
}

/** The names that a file imports from `node:fs`; `*` for everything. Types are none. */
function takenOfDisk(text: string): readonly string[] {
  if (!text.includes("node:fs")) return [];
  const source = ts.createSourceFile("file.ts", text, ts.ScriptTarget.Latest);
  const ofDisk = source.statements
    .filter(ts.isImportDeclaration)
    .filter(({ moduleSpecifier }) =>
      /^node:fs(?:\/promises)?$/.test((moduleSpecifier as ts.StringLiteral).text),
    );
  // Loaded otherwise, such as by `import()`: nobody sees what is taken of it.
  if (ofDisk.length < text.split(/"node:fs(?:\/promises)?"/).length - 1) return ["*"];
  return ofDisk.flatMap(({ importClause }) => {
    const bindings = importClause?.namedBindings;
    if (importClause === undefined || importClause.isTypeOnly) return [];
    if (bindings === undefined || !ts.isNamedImports(bindings)) return ["*"];
    return bindings.elements
      .filter(({ isTypeOnly }) => !isTypeOnly)
      .map(({ propertyName, name }) => (propertyName ?? name).text);
  });
}
