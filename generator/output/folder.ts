// The generated folder on disk: reads it, and carries out changes to it.
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, sep } from "node:path";
import type { EmittedFile } from "../print/file.js";
import { databasePath, emptyDatabase } from "../database/schema.js";
import type { MigrationHistory } from "../emit/migrations.js";
import type { Report } from "../diagnostics.js";
import { projectEntry } from "../load/project-file.js";
import { folderContent, type FolderContent } from "../load/project-folder.js";
import { hashOf, manifestName, readOwnership, type Ownership } from "./manifest.js";
import { historyIn, migrationPath, type FolderTexts } from "./migration-history.js";
import { isRemoval, type FileChange } from "./plan.js";

/** The generated folder of a project. Its files are listed once, when the object is made. */
export class GeneratedFolder {
  readonly #root: string;
  readonly #project: string;
  /** Relative to the project. */
  readonly #name: string;
  readonly #found: FolderContent;
  readonly #present: ReadonlySet<string>;

  constructor(project: string, name: string) {
    this.#root = join(project, name);
    this.#project = project;
    this.#name = name;
    this.#found = folderContent(project, name);
    this.#present = new Set(this.#found.files);
  }

  /**
   * The text of a file, or undefined if there was none when the folder was listed. Line ends are always LF, as in the
   * commit, even if the checkout has CRLF.
   */
  read(path: string): string | undefined {
    this.#fileOf(path);
    if (!this.#present.has(`${this.#name}/${path}`)) return undefined;
    const entry = projectEntry(this.#project, `${this.#name}/${path}`);
    return entry.kind === "file"
      ? readFileSync(entry.real, "utf8").replaceAll("\r\n", "\n")
      : undefined;
  }

  /** Files of the folder that are neither owned nor `wanted`. */
  foreign(wanted: Iterable<string>, ownership: Ownership): readonly string[] {
    const known = new Set([...wanted, ...ownership.keys(), manifestName]);
    return this.#paths().filter((path) => !known.has(path));
  }

  /** The files that the manifest lists as ours. */
  ownership(): Ownership {
    return readOwnership(this.read(manifestName));
  }

  /** The ownership, plus every migration on disk, whoever wrote it: those of a base commit will replace them. */
  ownershipWithMigrations(): Ownership {
    const paths = [...this.#migrationsPresent(), databasePath];
    const texts = paths.map((path) => [path, new Set([hashOf(this.read(path) ?? "")])] as const);
    return new Map([...this.ownership(), ...texts]);
  }

  /** Its files, for whoever only reads. */
  texts(): FolderTexts {
    return { paths: this.#paths(), read: (path) => this.read(path) };
  }

  /**
   * Migrations of earlier runs. Reports those that aren't whole (OPW085), and links that can't be followed: then it returns an
   * empty history.
   */
  history(report: Report): MigrationHistory {
    if (this.#leadsElsewhere(report)) return { files: [], database: emptyDatabase };
    return historyIn(this.texts(), (path, what) =>
      report({
        code: "OPW085",
        message: `${path} ${what}`,
        at: { file: `${this.#name}/${path}`, path: [] },
      }),
    );
  }

  /** `base` in place of the folder's migrations, which aren't checked. Links that can't be followed are reported as well. */
  historyOf(base: MigrationHistory, report: Report): MigrationHistory {
    return this.#leadsElsewhere(report) ? { files: [], database: emptyDatabase } : base;
  }

  #leadsElsewhere(report: Report): boolean {
    const { refused } = this.#found;
    for (const { path, why } of refused)
      report({ code: "OPW086", message: `${path} ${why}`, at: { file: path, path: [] } });
    return refused.length > 0;
  }

  #migrationsPresent(): readonly string[] {
    return this.#paths().filter((path) => migrationPath.test(path));
  }

  /** The files that were found, relative to the folder. */
  #paths(): readonly string[] {
    return this.#found.files.map((path) => path.slice(this.#name.length + 1));
  }

  /** Carries out changes, and removes folders that become empty. */
  apply(changes: readonly FileChange[]): void {
    for (const change of changes) {
      if (isRemoval(change)) this.#remove(change.path);
      else if (change.kind !== "stale" && change.text !== undefined)
        this.write({ path: change.path, text: change.text });
    }
  }

  /** Writes a file by renaming a temporary one, so that nobody reads half a file. */
  write({ path, text }: EmittedFile): void {
    const file = this.#fileOf(path);
    mkdirSync(dirname(file), { recursive: true });
    const temporary = `${file}.${process.pid}.tmp`;
    writeFileSync(temporary, text);
    renameSync(temporary, file);
  }

  #remove(path: string): void {
    const file = this.#fileOf(path);
    rmSync(file, { force: true });
    let folder = dirname(file);
    while (
      folder !== this.#root &&
      folder.startsWith(this.#root) &&
      readdirSync(folder).length === 0
    ) {
      rmdirSync(folder);
      folder = dirname(folder);
    }
  }

  /** The absolute path. Throws if it leaves the folder, which is a bug of an emitter. */
  #fileOf(path: string): string {
    const file = join(this.#root, path);
    if (!file.startsWith(this.#root + sep)) throw new Error(`${path} leaves the generated folder`);
    return file;
  }
}
