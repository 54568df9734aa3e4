// The dependency arrows of the architecture, file by file, and what a dependency may be. Each rule is held against a planted violation as well.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { families, modelParts } from "../../generator/families/index.js";
import { strayModules, strayWriters } from "./access.js";
import { importsOf, type Import, type SourceFile } from "./house.js";
import {
  circles,
  enginesByName,
  familiesByName,
  familiesInServer,
  familiesInTexts,
  modelsRead,
  foreign,
  generatorHouse,
  homeless,
  partsRead,
  pagesHouse,
  runtimeHouse,
  trespassing,
} from "./rooms.js";
import { sources } from "./sources.js";

const root = new URL("../..", import.meta.url).pathname;

const runtime = sources("runtime");
const generator = sources("generator");
const pages = sources("pages");
const ofPages = pages.flatMap(importsOf);
const client = [...sources("client"), ...sources("generated/client")];
const built = [...runtime, ...generator].flatMap(importsOf);
const all = [...built, ...client.flatMap(importsOf)];
const after = new Map(
  families.map((family) => [family.name, family.after.map(({ name }) => name)]),
);
/** What one import more would be. */
const planted = (from: string, to: string): readonly Import[] => [...all, { from, to }];

const show = (imports: readonly Import[]): readonly string[] =>
  imports.map(({ from, to }) => `${from} → ${to}`);

describe("every import leads to a file", () => {
  const lost = (imports: readonly Import[]): readonly string[] =>
    imports
      .map(({ to }) => to)
      .filter((path) => path.endsWith(".ts") && !existsSync(join(root, path)));

  test("of the repository", () => expect(lost(all)).toEqual([]));

  test("or is caught", () => {
    const to = "runtime/ports/forgotten.ts";
    expect(lost(planted("runtime/http/reply.ts", to))).toEqual([to]);
  });
});

describe("imports are read", () => {
  test.each([
    ['import { a } from "./a.js";', "runtime/a.ts"],
    ['import type { A } from "../ports/a.js";', "ports/a.ts"],
    ['export * from "./a.js";', "runtime/a.ts"],
    ['const a = await import("pg");', "pg"],
    ['type A = import("./a.js").A;', "runtime/a.ts"],
    ['const a = require("libsql");', "libsql"],
    ["const a = require(`@orama/stemmers/${name}`);", "@orama/stemmers/"],
    ['createRequire(import.meta.url)("recheck");', "recheck"],
  ])("%s", (text, to) => {
    const from = "runtime/file.ts";
    expect(importsOf({ path: from, text })).toEqual([{ from, to }]);
  });
});

describe("rooms", () => {
  test.each([
    ["the runtime", runtimeHouse, runtime],
    ["the generator", generatorHouse, generator],
    ["the pages", pagesHouse, pages],
  ] as const)(
    "every file of %s has one, and imports its own or those of lower floors",
    (_what, house, files) => {
      const paths = files.map(({ path }) => path);
      expect(homeless(house, paths)).toEqual([]);
      expect(show(trespassing(house, [...built, ...ofPages]))).toEqual([]);
    },
  );

  test.each([
    ["runtime/operations/context.ts", "runtime/families/documents/read.ts"],
    ["runtime/ports/objects.ts", "runtime/families/storage/operations.ts"],
    ["runtime/engines/sql/session.ts", "runtime/families/search/index.ts"],
    ["runtime/engines/sqlite/engine.ts", "runtime/operations/context.ts"],
    ["runtime/work/bulkhead.ts", "runtime/engines/sqlite/engine.ts"],
    ["runtime/http/reply.ts", "runtime/server/settings.ts"],
    ["runtime/families/storage/list.ts", "runtime/families/documents/list.ts"],
    ["runtime/families/outbox/relay.ts", "runtime/families/realtime/stage.ts"],
    ["runtime/engines/sql/session.ts", "runtime/engines/sqlite/driver.ts"],
    ["runtime/engines/sqlite/engine.ts", "runtime/engines/postgres/engine.ts"],
    ["runtime/server/start.ts", "runtime/testing/service.ts"],
  ])("catch %s → %s", (from, to) => {
    expect(show(trespassing(runtimeHouse, planted(from, to)))).toEqual([`${from} → ${to}`]);
  });

  test.each([
    ["generator/model/names.ts", "generator/load/load.ts"],
    ["generator/load/load.ts", "generator/families/index.ts"],
    ["generator/kernel/guards.ts", "generator/families/search/index.ts"],
    ["generator/families/search/expand.ts", "generator/emit/routes.ts"],
    ["generator/print/layout.ts", "generator/compare/rules.ts"],
    ["generator/expand/expand.ts", "generator/check/rules.ts"],
    ["generator/check/rules.ts", "generator/emit/routes.ts"],
    ["generator/compile/compiler.ts", "generator/database/schema.ts"],
    ["generator/emit/routes.ts", "generator/diff/compare.ts"],
    ["generator/emit/routes.ts", "generator/output/folder.ts"],
    ["generator/emit/routes.ts", "generator/cli/io.ts"],
  ])("catch %s → %s", (from, to) => {
    expect(show(trespassing(generatorHouse, planted(from, to)))).toEqual([`${from} → ${to}`]);
  });

  test.each([
    ["pages/parts/field.tsx", "pages/shell/config"],
    ["pages/operations/main.tsx", "pages/events/timeline"],
  ])("catch %s → %s", (from, to) => {
    expect(show(trespassing(pagesHouse, [{ from, to }]))).toEqual([`${from} → ${to}`]);
  });

  test("catch a file that is in none", () => {
    expect(homeless(runtimeHouse, ["runtime/misc/thing.ts"])).toEqual(["runtime/misc/thing.ts"]);
  });
});

describe("pages import each other, the client, and a framework", () => {
  const strange = (imports: readonly Import[]): readonly Import[] =>
    imports.filter(({ to }) => !/^(?:pages|client)\/|^preact(?:\/|$)|^socket\.io-client$/.test(to));

  test("and nothing else", () => expect(show(strange(ofPages))).toEqual([]));

  test.each(["runtime/contract/errors", "node:fs", "ajv"])("%s is caught", (to) => {
    expect(show(strange([{ from: "pages/shell/mount.tsx", to }]))).toEqual([
      `pages/shell/mount.tsx → ${to}`,
    ]);
  });
});

describe("the server knows families by their list alone", () => {
  const members = [
    "identity",
    "documents",
    "search",
    "storage",
    "outbox",
    "webhooks",
    "jobs",
    "realtime",
    "audit",
  ];

  test("and imports none", () => {
    const [from, to] = ["runtime/server/start.ts", "runtime/families/storage/changes.ts"];
    expect(show(familiesInServer(all))).toEqual([]);
    expect(show(familiesInServer(planted(from, to)))).toEqual([`${from} → ${to}`]);
  });

  test.each([
    "const { title, realtime } = service;",
    "if (service.realtime === undefined) return;",
    "function pathsOf({ realtime }: FamilyParts) {}",
  ])("and reads no part: %s is caught", (text) => {
    const path = "runtime/server/start.ts";
    expect(partsRead(runtime, members)).toEqual([]);
    expect(partsRead([{ path, text }], members)).toEqual([`${path} reads realtime`]);
  });
});

test.each([
  ["runtime/operations/query-cost.ts", "runtime/engines/sqlite/engine.ts"],
  ["runtime/families/documents/read.ts", "runtime/engines/postgres/engine.ts"],
  ["runtime/http/boundary.ts", "runtime/engines/redis/bus.ts"],
])("operations, families and HTTP speak to ports: %s → %s is caught", (from, to) => {
  expect(show(enginesByName(all))).toEqual([]);
  expect(show(enginesByName(planted(from, to)))).toEqual([`${from} → ${to}`]);
});

test.each([
  ["generator/emit/openapi.ts", "runtime/families/documents/read.ts"],
  ["runtime/server/settings.ts", "generator/model/names.ts"],
  ["runtime/server/settings.ts", "client/core.ts"],
  ["runtime/testing/service.ts", "test/support/process.ts"],
  ["client/core.ts", "runtime/contract/errors.ts"],
  ["generated/client/core.ts", "generated/types/models.ts"],
])("houses share the contract alone, clients nothing: %s → %s is caught", (from, to) => {
  expect(client.length).toBeGreaterThan(5);
  expect(show(foreign(all))).toEqual([]);
  expect(show(foreign(planted(from, to)))).toEqual([`${from} → ${to}`]);
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

test("nor by the text of its name", () => {
  // Every service has operations, errors and an audit log, and HTTP a header of that name.
  const common = ["operations", "errors", "audit", "authorization"];
  const names = new Set(families.flatMap(({ name, format }) => [name, ...Object.keys(format)]));
  for (const word of common) names.delete(word);
  const said = (files: readonly SourceFile[]): readonly string[] => [
    ...new Set(familiesInTexts(files, names)),
  ];
  expect(said(generator)).toEqual([
    // Parts of the contract that changes are about, in reports for machines.
    "generator/compare/change.ts says realtime",
    "generator/compare/change.ts says storage",
    "generator/compare/events.ts says realtime",
    // A migration that touches no table.
    "generator/emit/migrations.ts says storage",
    // Hooks of the runtime say which sections they need.
    "generator/kernel/runtime-hooks.ts says identity",
    "generator/kernel/runtime-hooks.ts says tenancy",
    // Types are declared in documents as well, and fields refer to documents by name.
    "generator/load/member-places.ts says documents",
    "generator/load/read-types.ts says documents",
    "generator/load/registry-names.ts says documents",
  ]);
  const text = 'const isDocument = family === "documents";';
  for (const path of ["generator/emit/planted.ts", "generator/print/planted.ts"])
    expect(said([{ path, text }])).toEqual([`${path} says documents`]);
});

test("nor by its part of the model: only who asks and what is stored are parts of every contract", () => {
  const registry = readdirSync(join(root, "registry"))
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => readFileSync(join(root, "registry", name), "utf8"))
    .join("\n");
  // The reference service has every family, so that tests which read it see all of them; every service may have errors.
  for (const { name, format } of families)
    if (name !== "errors")
      expect([name, Object.keys(format).some((key) => registry.includes(`\n${key}:`))]).toEqual([
        name,
        true,
      ]);
  const frozen = JSON.parse(readFileSync(join(root, "generated/registry.json"), "utf8")) as object;
  const common = "format service types homes namespaces operations hooks errors".split(" ");
  const parts = Object.keys(frozen).filter((name) => !common.includes(name));
  expect(parts).toEqual(
    expect.arrayContaining(Object.keys(modelParts).filter((name) => name !== "errors")),
  );
  const reading = (part: string): readonly string[] =>
    [
      ...new Set(
        modelsRead(generator, [part]).map((found) => found.replace(/\/[\w-]+\.ts .*$/, "")),
      ),
    ].sort();
  const found = Object.fromEntries(parts.map((part) => [part, reading(part)]));
  const [cli, database] = ["generator/cli", "generator/database"];
  const [diff, emit, client] = ["generator/diff", "generator/emit", "generator/emit/client"];
  expect(found).toEqual({
    ...Object.fromEntries(parts.map((part) => [part, []])),
    identity: [cli, emit, client],
    documents: [cli, database, diff, emit],
    // Their indexes are a part of the tables.
    search: [database],
    // The places of files are beside them.
    storage: [database],
  });
  const text = "const plane = ({ operations, realtime }: RegistryModel) => realtime;";
  for (const planted of [text, "if (model.realtime !== null) x();"])
    expect(modelsRead([{ path: "generator/emit/planted.ts", text: planted }], parts)).toEqual([
      "generator/emit/planted.ts reads realtime",
    ]);
});

test.each([
  ["runtime/families/documents/read.ts", "pg"],
  ["runtime/families/storage/operations.ts", "@aws-sdk/client-s3"],
  ["runtime/http/boundary.ts", "jose/jwt/verify"],
  ["runtime/families/documents/read.ts", "node:fs/promises"],
  ["runtime/server/start.ts", "node:child_process"],
  ["runtime/server/start.ts", "left-pad"],
  ["generator/model/names.ts", "yaml"],
  ["generator/emit/routes.ts", "node:fs"],
  ["client/core.ts", "zod"],
])("a module is named where it belongs: %s → %s is caught", (from, to) => {
  expect(show(strayModules(all))).toEqual([]);
  expect(show(strayModules(planted(from, to)))).toEqual([`${from} → ${to}`]);
});

test.each([
  'import { writeFileSync } from "node:fs";',
  'import { readFileSync as write, cpSync as readFileSync } from "node:fs";',
  'import { truncate } from "node:fs/promises";',
  'import * as fs from "node:fs";',
  'import fs from "node:fs";',
  'const { rm } = await import("node:fs/promises");',
])("who may not write to the disk is caught: %s", (text) => {
  const files = [...runtime, ...generator];
  expect(strayWriters(files)).toEqual([]);
  const path = "generator/emit/client/planted.ts";
  expect(strayWriters([...files, { path, text }])).toEqual([path]);
});

test("no files import each other in a circle", () => {
  expect(circles(all)).toEqual([]);
  expect(circles(planted("generator/model/names.ts", "generator/cli/main.ts"))).not.toEqual([]);
});
