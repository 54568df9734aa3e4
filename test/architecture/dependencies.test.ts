// The dependency arrows of the architecture, file by file, and what a dependency may be.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const root = new URL("../..", import.meta.url).pathname;

/** Layers from the ground up; a file imports its own layer and those before it. The first match decides. */
const layers: readonly (readonly [string, RegExp])[] = [
  ["contract", /^runtime\/contract\//],
  [
    "ports",
    /^runtime\/(?:authn\/(?:port|api-key-port|token-port|attempts)|outbox\/port|realtime\/(?:port|plane-port|signal|event-id|shared-frames)|search\/(?:match|port|spec|words)|storage\/(?:port|direct-port|object-head|spec)|tenancy\/port|documents\/port|documents\/spec|operations\/(?:bulkhead|database|idempotency-port|lease-port|lifetime|log|rate-limiter|rate-port|signer|uuid|work|canonical-json)|query\/(?:aggregate|ast|fields|pattern|scalar))\.ts$/,
  ],
  ["operations", /^runtime\/operations\//],
  ["query", /^runtime\/query\//],
  ["families", /^runtime\/(?:authn|authz|documents|outbox|realtime|search|storage|tenancy)\//],
  ["engines and transports", /^runtime\/(?:engines|http)\//],
  ["server", /^runtime\/(?:server|testing)\/|^runtime\/index\.ts$/],
];

const level = (file: string): number => layers.findIndex(([, pattern]) => pattern.test(file));

function sources(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .map((name) => `${folder}/${name}`);
}

interface Import {
  readonly from: string;
  /** A file of the repository, or a package name. */
  readonly to: string;
}

function importsOf(file: string): readonly Import[] {
  const text = readFileSync(join(root, file), "utf8");
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(
    ([, specifier = ""]) => specifier,
  );
  return specifiers.map((specifier) => {
    if (!specifier.startsWith(".")) return { from: file, to: specifier };
    const path = relative(root, resolve(root, dirname(file), specifier)).replace(/\.js$/, ".ts");
    expect(existsSync(join(root, path)), `${file} imports ${specifier}`).toBe(true);
    return { from: file, to: path };
  });
}

const all = [...sources("runtime"), ...sources("generator")].flatMap(importsOf);
const show = (imports: readonly Import[]): readonly string[] =>
  imports.map(({ from, to }) => `${from} → ${to}`);

test("every runtime file has a layer, and imports its own or a lower one", () => {
  expect(sources("runtime").filter((file) => level(file) < 0)).toEqual([]);
  const upward = all.filter(
    ({ from, to }) =>
      from.startsWith("runtime/") && to.startsWith("runtime/") && level(to) > level(from),
  );
  expect(show(upward)).toEqual([]);
});

test("the contract imports nothing, and the generator nothing of the runtime but the contract", () => {
  expect(
    show(
      all.filter(
        ({ from, to }) =>
          from.startsWith("runtime/contract/") && !to.startsWith("runtime/contract/"),
      ),
    ),
  ).toEqual([]);
  const reaching = all.filter(
    ({ from, to }) =>
      from.startsWith("generator/") &&
      to.startsWith("runtime/") &&
      !to.startsWith("runtime/contract/"),
  );
  expect(show(reaching)).toEqual([]);
  expect(
    show(all.filter(({ from, to }) => from.startsWith("runtime/") && to.startsWith("generator/"))),
  ).toEqual([]);
});

test("only an engine names a database driver, and families never name an engine", () => {
  const drivers = all.filter(
    ({ from, to }) =>
      /^(?:pg|libsql|node:sqlite)$/.test(to) && !from.startsWith("runtime/engines/"),
  );
  expect(show(drivers)).toEqual([]);
  const engines = all.filter(
    ({ from, to }) =>
      to.startsWith("runtime/engines/") &&
      /^runtime\/(?:documents|operations|query|http)\//.test(from),
  );
  expect(show(engines)).toEqual([]);
});

test("a client imports nothing but its own files", () => {
  const own = [...sources("client"), ...sources("generated/client")];
  expect(own.length).toBeGreaterThan(5);
  const foreign = own
    .flatMap(importsOf)
    .filter(
      ({ from, to }) =>
        !to.startsWith(from.startsWith("client/") ? "client/" : "generated/client/"),
    );
  expect(show(foreign)).toEqual([]);
});

test("no files import each other in a circle", () => {
  const edges = new Map<string, readonly string[]>();
  for (const { from, to } of all) edges.set(from, [...(edges.get(from) ?? []), to]);
  const circles: string[] = [];
  const done = new Set<string>();
  const walk = (file: string, trail: readonly string[]): void => {
    if (trail.includes(file)) circles.push([...trail.slice(trail.indexOf(file)), file].join(" → "));
    if (trail.includes(file) || done.has(file)) return;
    for (const next of edges.get(file) ?? []) walk(next, [...trail, file]);
    done.add(file);
  };
  for (const file of edges.keys()) walk(file, []);
  expect(circles).toEqual([]);
});

test("only output/ and the command line write files of a project", () => {
  const writers = sources("generator").filter((file) =>
    /\b(?:writeFileSync|renameSync|rmSync)\b/.test(readFileSync(join(root, file), "utf8")),
  );
  const allowed = /^generator\/(?:output|cli)\/|^generator\/(?:clean-state)\.ts$/;
  expect(writers.filter((file) => !allowed.test(file))).toEqual([]);
});

test("no file but a contract suite has more than 400 lines", () => {
  const long = [...sources("runtime"), ...sources("generator"), ...sources("client")]
    .filter((file) => !file.startsWith("runtime/testing/"))
    .filter((file) => readFileSync(join(root, file), "utf8").split("\n").length > 400);
  expect(long).toEqual([]);
});

test("every source file begins by saying what it is", () => {
  const silent = [...sources("runtime"), ...sources("generator"), ...sources("test")].filter(
    (file) => !readFileSync(join(root, file), "utf8").startsWith("// "),
  );
  expect(silent.filter((file) => !file.endsWith(".d.mts"))).toEqual([]);
});

test("no runtime dependency needs an install script", () => {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<
      Record<
        string,
        { readonly dev?: boolean; readonly optional?: boolean; readonly hasInstallScript?: boolean }
      >
    >;
  };
  const scripted = Object.entries(lock.packages).filter(
    ([, entry]) => entry.hasInstallScript === true && entry.dev !== true && entry.optional !== true,
  );
  // argon2's only looks whether its bundled binary fits; that of @scarf/scarf, of Swagger UI, counts installations.
  expect(scripted.map(([name]) => name)).toEqual([
    "node_modules/@scarf/scarf",
    "node_modules/argon2",
  ]);
  expect(readFileSync(join(root, ".npmrc"), "utf8")).toContain("ignore-scripts=true");
});
