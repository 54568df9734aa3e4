// What holds for each file and each dependency, and a planted violation of each rule.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { SourceFile } from "./house.js";
import { sources } from "./sources.js";

const root = new URL("../..", import.meta.url).pathname;

const written = ["runtime", "generator", "client"].flatMap(sources);

/** Files in which a second concept hides; contract suites are lists. */
function long(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path }) => !path.startsWith("runtime/testing/"))
    .filter(({ text }) => text.split("\n").length > 400)
    .map(({ path }) => path);
}

test("no file but a contract suite has more than 400 lines", () => {
  expect(long(written)).toEqual([]);
  const planted = { path: "runtime/http/planted.ts", text: "\n".repeat(400) };
  expect(long([...written, planted])).toEqual([planted.path]);
});

/** Files that don't begin by saying what they are. */
function silent(files: readonly SourceFile[]): readonly string[] {
  return files.filter(({ text }) => !text.startsWith("// ")).map(({ path }) => path);
}

test("every source file begins by saying what it is", () => {
  const files = [...written, ...sources("test")].filter(({ path }) => !path.endsWith(".d.mts"));
  expect(silent(files)).toEqual([]);
  const planted = { path: "runtime/http/planted.ts", text: 'import "./reply.js";\n' };
  expect(silent([...files, planted])).toEqual([planted.path]);
});

/** Families of the runtime, and what concerns all of them. */
const rooms = new Set([
  ...readdirSync(join(root, "runtime/families")),
  "client",
  "custom",
  "evolution",
  "guarantees",
  "http",
  "published",
  "server",
]);

/** Files under `test/acceptance/` that are no test, or in no room. */
function strays(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => {
    const [room = "", name = "", ...deeper] = path.split("/");
    return !rooms.has(room) || !name.endsWith(".test.ts") || deeper.length > 0;
  });
}

test("an acceptance test is in the room of its family; what tests share is in test/support", () => {
  const paths = readdirSync(join(root, "test/acceptance"), { recursive: true, encoding: "utf8" });
  const files = paths.filter((path) => path.endsWith(".ts"));
  expect(strays(files)).toEqual([]);
  const planted = ["lists.test.ts", "misc/lists.test.ts", "documents/people.ts"];
  expect(strays([...files, ...planted])).toEqual(planted);
});

interface Lock {
  readonly packages: Readonly<
    Record<
      string,
      { readonly dev?: boolean; readonly optional?: boolean; readonly hasInstallScript?: boolean }
    >
  >;
}

/** Packages of a running service that have an install script. */
function scripted({ packages }: Lock): readonly string[] {
  return Object.entries(packages)
    .filter(([, entry]) => entry.hasInstallScript === true)
    .filter(([, { dev, optional }]) => dev !== true && optional !== true)
    .map(([name]) => name);
}

test("no runtime dependency needs an install script", () => {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as Lock;
  // argon2's only looks whether its bundled binary fits; that of esbuild, which a clone builds with, puts its binary in place of its starter.
  const harmless = ["node_modules/argon2", "node_modules/esbuild"];
  expect(scripted(lock)).toEqual(harmless);
  const planted = { "node_modules/planted": { hasInstallScript: true } };
  const packages = { ...lock.packages, ...planted };
  expect(scripted({ packages })).toEqual([...harmless, "node_modules/planted"]);
  expect(readFileSync(join(root, ".npmrc"), "utf8")).toContain("ignore-scripts=true");
});
