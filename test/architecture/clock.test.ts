// Time and chance come from one port. For dates, the runtime asks the clock of its service, which a test can move; the files
// that read the machine's wall clock are listed.
import { expect, test } from "vitest";
import type { SourceFile } from "./house.js";
import { sources } from "./sources.js";

const ambient = "runtime/ports/ambient.ts";

/** Calls of a process's own clocks, timers and randomness, other than those of an object. */
const global =
  /(?<![.\w])(?:setTimeout|setInterval|setImmediate|randomBytes)\b|\brandomUUID\b|\b(?:Date|performance)\.now\b|\bMath\.random\b|node:timers/;

/** Lines of the runtime that pass the ambient port by. */
function bypasses(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path }) => path !== ambient)
    .flatMap(({ path, text }) =>
      text
        .split("\n")
        .filter((line) => global.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    );
}

test("clocks, timers and randomness are the ambient port's", () => {
  expect(bypasses(sources("runtime"))).toEqual([]);
});

test.each([
  "const now = Date.now();",
  "const began = performance.now();",
  "setTimeout(work, 5);",
  'import { setTimeout as sleep } from "node:timers/promises";',
  "const timer = setInterval(work, 5);",
  "const id = crypto.randomUUID();",
  'import { randomBytes } from "node:crypto";',
  "const jitter = Math.random();",
])("catch %s", (line) => {
  expect(bypasses([{ path: "runtime/planted.ts", text: line }])).toHaveLength(1);
});

test("an object's own timeout is no timer of the process", () => {
  const text = "socket.setTimeout(0);";
  expect(bypasses([{ path: "runtime/planted.ts", text }])).toEqual([]);
});

/** Files whose time is not the service's, and whose it is. */
const machine: Readonly<Record<string, string>> = {
  "ports/uuid.ts": "ids are ordered by when a process made them",
  "engines/folder/object-file.ts": "the store's, as S3 has its own",
  "engines/folder/sweep.ts": "the store's",
  "engines/folder/uploads.ts": "the store's",
  "engines/postgres/examine.ts": "compared with the server's",
  "engines/s3/multipart.ts": "the store's",
  "engines/sql/identity-sessions.ts": "the columns that it reads say no time",
  "engines/sql/identity-subjects.ts": "the columns that it reads say no time",
  "engines/sql/migrations.ts": "the operator's",
  "families/documents/announcement.ts": "which processes live is the machines' matter",
  "families/documents/renewal.ts": "as long as processes of older versions live",
  "families/search/rebuild.ts": "the operator's",
  "families/storage/download.ts": "compared with the store's",
  "http/reply.ts": "what a cache compares with its own",
  "operations/standard-webhook.ts": "the receiver's, who compares it with its own",
  "ports/clock.ts": "the clock itself",
};

/** Files that read the machine's clock, relative to `runtime/`. */
function readers(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path }) => path !== ambient && !path.startsWith("runtime/testing/"))
    .filter(({ text }) => /\bepochMillis\b|\bnew Date\(\)|\bperformance\.timeOrigin\b/.test(text))
    .map(({ path }) => path.slice("runtime/".length))
    .sort();
}

test("nobody else reads the machine's clock", () => {
  const files = sources("runtime");
  expect(readers(files)).toEqual(Object.keys(machine).sort());
  const path = "planted.ts";
  expect(
    readers([...files, { path: `runtime/${path}`, text: "const now = epochMillis();" }]),
  ).toContain(path);
});
