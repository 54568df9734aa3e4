// Migrations as files: numbered, append-only, each in parts that are applied whole or not at all.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export interface MigrationFile {
  readonly name: string;
  readonly checksum: string;
  readonly parts: readonly Part[];
  /** What has to be so in the rows that are there, before anything is changed. */
  readonly checks: readonly RowCheck[];
}

/** A query that must find nothing, and what could not be made otherwise. */
export interface RowCheck {
  readonly of: string;
  readonly query: string;
}

/** A part of a migration: a script for one transaction, or statements that each stand outside of any. */
export type Part =
  | { readonly isOnline: false; readonly text: string }
  | { readonly isOnline: true; readonly statements: readonly string[] };

/** The migrations of an engine in a generated folder (`0001_initial.sql` …), in order. */
export async function readMigrations(
  engine: string,
  folder: string,
): Promise<readonly MigrationFile[]> {
  const at = join(folder, "migrations", engine);
  const names = (await readdir(at)).filter((name) => /^\d{4}_\w+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(at, name), "utf8");
      const checksum = createHash("sha256").update(text).digest("hex");
      return { name, checksum, parts: partsOf(text), checks: checksOf(text) };
    }),
  );
}

/** Under which name a part is noted while its file is under way. */
export function partName(file: string, at: number): string {
  return `${file}#${at + 1}`;
}

/** A file's parts: those that begin with a line `-- online` have one statement a line. */
function partsOf(text: string): readonly Part[] {
  const [first = "", ...others] = text.split(/^-- online\b.*\n/m);
  const online = others.map((block): Part => ({
    isOnline: true,
    statements: block.split("\n").filter((line) => line !== "" && !line.startsWith("--")),
  }));
  const isEmpty = online.length > 0 && !/^(?!--)./m.test(first);
  return isEmpty ? online : [{ isOnline: false, text: first }, ...online];
}

/** Lines `-- must be empty (…): SELECT …`. */
function checksOf(text: string): readonly RowCheck[] {
  return [...text.matchAll(/^-- must be empty \((.+?)\): (.+)$/gm)].map(
    ([, of = "", query = ""]) => ({ of, query }),
  );
}
