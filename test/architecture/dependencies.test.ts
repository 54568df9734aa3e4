// The dependency arrows of the architecture, file by file, and what a dependency may be. Each rule is held against a planted violation as well.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { families } from "../../generator/families/index.js";
import {
  betweenHouses,
  circles,
  familiesByName,
  generatorRooms,
  homeless,
  importsOf,
  rooms,
  strayPackages,
  strayWriters,
  upward,
  type Import,
} from "./house.js";
import { sources } from "./sources.js";

const root = new URL("../..", import.meta.url).pathname;

const runtime = sources("runtime");
const generator = sources("generator");
const all = [...runtime, ...generator].flatMap(importsOf);
const after = new Map(
  families.map((family) => [family.name, family.after.map(({ name }) => name)]),
);
/** What one import more would be. */
const planted = (from: string, to: string): readonly Import[] => [...all, { from, to }];

const show = (imports: readonly Import[]): readonly string[] =>
  imports.map(({ from, to }) => `${from} → ${to}`);

test("every import leads to a file", () => {
  const lost = all.filter(({ to }) => /^(?:runtime|generator)\//.test(to)).map(({ to }) => to);
  expect(lost.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

describe("rooms", () => {
  test.each([
    ["the runtime", rooms, runtime],
    ["the generator", generatorRooms, generator],
  ] as const)(
    "every file of %s has one, and imports its own or a lower one",
    (_what, house, files) => {
      expect(
        homeless(
          house,
          files.map(({ path }) => path),
        ),
      ).toEqual([]);
      expect(show(upward(house, all))).toEqual([]);
    },
  );

  test.each([
    ["runtime/operations/context.ts", "runtime/families/documents/read.ts"],
    ["runtime/ports/objects.ts", "runtime/families/storage/operations.ts"],
    ["runtime/operations/query-cost.ts", "runtime/engines/sqlite/engine.ts"],
    ["runtime/http/reply.ts", "runtime/server/settings.ts"],
  ])("catch %s → %s", (from, to) => {
    expect(show(upward(rooms, planted(from, to)))).toEqual([`${from} → ${to}`]);
  });

  test.each([
    ["generator/model/names.ts", "generator/load/load.ts"],
    ["generator/load/load.ts", "generator/families/index.ts"],
    ["generator/kernel/guards.ts", "generator/families/search/index.ts"],
    ["generator/families/search/expand.ts", "generator/emit/routes.ts"],
    ["generator/emit/routes.ts", "generator/cli/io.ts"],
  ])("catch %s → %s", (from, to) => {
    expect(show(upward(generatorRooms, planted(from, to)))).toEqual([`${from} → ${to}`]);
  });

  test("catch a file that is in none", () => {
    expect(homeless(rooms, ["runtime/misc/thing.ts"])).toEqual(["runtime/misc/thing.ts"]);
  });
});

test.each([
  ["generator/emit/openapi.ts", "runtime/families/documents/read.ts"],
  ["runtime/server/settings.ts", "generator/model/names.ts"],
])("generator and runtime share the contract alone: %s → %s is caught", (from, to) => {
  expect(show(betweenHouses(all))).toEqual([]);
  expect(show(betweenHouses(planted(from, to)))).toEqual([`${from} → ${to}`]);
});

test.each([
  ["generator/emit/openapi.ts", "generator/families/documents/model.ts"],
  ["generator/families/storage/expand.ts", "generator/families/documents/index.ts"],
])(
  "phases know no family by name, families only those that they come after: %s → %s",
  (from, to) => {
    expect(show(familiesByName(all, after))).toEqual([]);
    expect(show(familiesByName(planted(from, to), after))).toEqual([`${from} → ${to}`]);
  },
);

test.each([
  ["runtime/families/documents/read.ts", "pg"],
  ["runtime/families/storage/operations.ts", "@aws-sdk/client-s3"],
  ["generator/model/names.ts", "yaml"],
])("a package is named where it belongs: %s → %s is caught", (from, to) => {
  expect(show(strayPackages(all))).toEqual([]);
  expect(show(strayPackages(planted(from, to)))).toEqual([`${from} → ${to}`]);
});

test("only output and the command line write files of a project", () => {
  expect(strayWriters(generator)).toEqual([]);
  const writer = { path: "generator/emit/planted.ts", text: 'writeFileSync("x", "")' };
  expect(strayWriters([...generator, writer])).toEqual([writer.path]);
});

test("no files import each other in a circle", () => {
  expect(circles(all)).toEqual([]);
  expect(circles(planted("generator/model/names.ts", "generator/cli/main.ts"))).not.toEqual([]);
});

test("a client imports nothing but its own files", () => {
  const own = [...sources("client"), ...sources("generated/client")];
  expect(own.length).toBeGreaterThan(5);
  const foreign = own.flatMap(importsOf).filter(
    ({ from, to }) =>
      // A type, which nothing runs, and nothing misses where it is not there.
      !(from.endsWith("client/query.ts") && to === "@tanstack/query-core") &&
      !to.startsWith(from.startsWith("client/") ? "client/" : "generated/client/"),
  );
  expect(show(foreign)).toEqual([]);
});

test("no file but a contract suite has more than 400 lines", () => {
  const long = [...runtime, ...generator, ...sources("client")]
    .filter(({ path }) => !path.startsWith("runtime/testing/"))
    .filter(({ text }) => text.split("\n").length > 400);
  expect(long.map(({ path }) => path)).toEqual([]);
});

test("every source file begins by saying what it is", () => {
  const silent = [...runtime, ...generator, ...sources("test")].filter(
    ({ path, text }) => !text.startsWith("// ") && !path.endsWith(".d.mts"),
  );
  expect(silent.map(({ path }) => path)).toEqual([]);
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
