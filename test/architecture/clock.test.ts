// The runtime asks the clock of its service for the time, so that a test can move it; who asks the machine is named here.
import { expect, test } from "vitest";
import type { SourceFile } from "./house.js";
import { sources } from "./sources.js";

/** Files whose time is not the service's, and whose it is. */
const machine: Readonly<Record<string, string>> = {
  "contract/uuid.ts": "ids are ordered by when a process made them",
  "engines/folder/object-file.ts": "the store's, as S3 has its own",
  "engines/folder/sweep.ts": "the store's",
  "engines/folder/uploads.ts": "the store's",
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
    .filter(({ path }) => !path.startsWith("runtime/testing/"))
    .filter(({ text }) => /\bDate\.now\b|\bnew Date\(\)|\bperformance\.timeOrigin\b/.test(text))
    .map(({ path }) => path.slice("runtime/".length))
    .sort();
}

test("nobody else reads the machine's clock", () => {
  const files = sources("runtime");
  expect(readers(files)).toEqual(Object.keys(machine).sort());
  const path = "planted.ts";
  expect(readers([...files, { path: `runtime/${path}`, text: "const now = Date.now;" }])).toContain(
    path,
  );
});
