// Migrations as files: numbered, append-only, each in parts that are applied completely or not at
// all.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** A migration; `checksum` is the SHA-256 of its text, in hex. */
export interface MigrationFile {
  readonly name: string;
  readonly checksum: string;
  readonly parts: readonly MigrationPart[];
  /** Checks of existing rows that must pass before anything is changed. */
  readonly checks: readonly RowCheck[];
}

/** A query that must find nothing; if it does, `of` could not be created. */
export interface RowCheck {
  readonly of: string;
  readonly query: string;
}

/**
 * A part of a migration: a script for one transaction, or statements that each run outside any
 * transaction.
 */
export type MigrationPart =
  | { readonly isOnline: false; readonly text: string }
  | { readonly isOnline: true; readonly statements: readonly string[] };

/** Reads the migrations of an engine in a generated folder (`0001_initial.sql` …), in order. */
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

/**
 * The name under which an applied part is recorded until its file is complete. `at` is its index: 0
 * gives `….sql#1`.
 */
export function partName(file: string, at: number): string {
  return `${file}#${at + 1}`;
}

/** The file of a recorded name, which may be that of a part. */
export function fileOfRecord(name: string): string {
  return name.replace(/#\d+$/, "");
}

/** The parts of a file. A part that begins with a line `-- online` has one statement per line. */
function partsOf(text: string): readonly MigrationPart[] {
  const [first = "", ...others] = text.split(/^-- online\b.*\n/m);
  const online = others.map((block): MigrationPart => ({
    isOnline: true,
    statements: block.split("\n").filter((line) => line !== "" && !line.startsWith("--")),
  }));
  const isEmpty = online.length > 0 && !/^(?!--)./m.test(first);
  return isEmpty ? online : [{ isOnline: false, text: first }, ...online];
}

/** The checks of a file: its lines `-- must be empty (…): SELECT …`. */
function checksOf(text: string): readonly RowCheck[] {
  return [...text.matchAll(/^-- must be empty \((.+?)\): (.+)$/gm)].map(
    ([, of = "", query = ""]) => ({ of, query }),
  );
}
