// The runtime asks the clock of its service for the time, so that a test can move it; who asks the machine is named here.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const runtime = new URL("../../runtime", import.meta.url).pathname;

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

test("nobody else reads the machine's clock", () => {
  const readers = readdirSync(runtime, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
    .filter((path) => !path.startsWith("testing/"))
    .filter((path) => /Date\.now\(\)|new Date\(\)/.test(readFileSync(join(runtime, path), "utf8")));
  expect(readers.sort()).toEqual(Object.keys(machine).sort());
});
