// The one place that touches the disk: reading and writing the generated folder.
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
import { emptyStorage, type StorageSchema } from "../emit/storage-schema.js";
import type { MigrationHistory } from "../emit/migrations.js";
import type { Report } from "../diagnostics.js";
import { projectEntry } from "../load/project-file.js";
import { folderContent, type FolderContent } from "../load/project-folder.js";
import { hashOf, manifestName, readOwnership, type Ownership } from "./manifest.js";
import { isRemoval, type Change } from "./plan.js";

/** Paths of migrations below the generated folder. */
export const migrationPath = /^migrations\/\w+\/\d{4}_\w+\.sql$/;

const storagePath = "migrations/storage.json";

/** The generated folder of a project. */
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

  /** The text of a file, or undefined where there was none when the folder was looked through. Line ends are those of the commit, not of the checkout. */
  read(path: string): string | undefined {
    this.#fileOf(path);
    if (!this.#present.has(`${this.#name}/${path}`)) return undefined;
    const entry = projectEntry(this.#project, `${this.#name}/${path}`);
    return entry.kind === "file"
      ? readFileSync(entry.real, "utf8").replaceAll("\r\n", "\n")
      : undefined;
  }

  /** Files of the folder that are neither ours nor among those that should be. */
  foreign(wanted: Iterable<string>): readonly string[] {
    const known = new Set([...wanted, ...this.ownership().keys(), manifestName]);
    return this.#paths().filter((path) => !known.has(path));
  }

  ownership(): Ownership {
    return readOwnership(this.read(manifestName));
  }

  /** The ownership with all migrations that are there, whoever wrote them, since others take their place. */
  ownershipWithMigrations(): Ownership {
    const paths = [...this.#migrationsPresent(), storagePath];
    const texts = paths.map((path) => [path, new Set([hashOf(this.read(path) ?? "")])] as const);
    return new Map([...this.ownership(), ...texts]);
  }

  /**
   * Migrations of earlier runs. Reports migration files that are missing, edited or not owned, two of one number, and a
   * storage.json that does not belong to them: databases may have applied them, so nothing is guessed. Reports what of
   * the folder leads elsewhere as well.
   */
  history(report: Report): MigrationHistory {
    if (this.#leadsElsewhere(report)) return { files: [], storage: emptyStorage };
    const ownership = this.ownership();
    const lost = (path: string, what: string): void =>
      report({
        code: "OPW085",
        message: `${path} ${what}`,
        at: { file: `${this.#name}/${path}`, path: [] },
      });
    const owned = [...ownership].filter(([path]) => migrationPath.test(path));
    const files = owned.flatMap(([path, hashes]): readonly EmittedFile[] => {
      const text = this.read(path);
      if (text !== undefined && hashes.has(hashOf(text))) return [{ path, text }];
      lost(path, text === undefined ? "is missing" : "was edited");
      return [];
    });
    for (const path of this.#migrationsPresent()) {
      if (!ownership.has(path)) lost(path, "is not in the manifest");
    }
    const numbers = owned.map(([path]) => path.replace(/_\w+\.sql$/, ""));
    for (const [index, number] of numbers.entries()) {
      if (numbers.indexOf(number) !== index)
        lost(owned[index]?.[0] ?? number, "has a number that is taken");
    }
    return {
      files: files.sort((left, right) => (left.path < right.path ? -1 : 1)),
      storage: owned.length === 0 ? emptyStorage : this.#storage(ownership, lost),
    };
  }

  /** The migrations of `base` in the place of its own. What of the folder leads elsewhere is reported all the same. */
  historyOf(base: MigrationHistory, report: Report): MigrationHistory {
    return this.#leadsElsewhere(report) ? { files: [], storage: emptyStorage } : base;
  }

  #leadsElsewhere(report: Report): boolean {
    const { refused } = this.#found;
    for (const { path, why } of refused)
      report({ code: "OPW086", message: `${path} ${why}`, at: { file: path, path: [] } });
    return refused.length > 0;
  }

  #storage(ownership: Ownership, lost: (path: string, what: string) => void): StorageSchema {
    const path = storagePath;
    const text = this.read(path);
    if (text !== undefined && ownership.get(path)?.has(hashOf(text)) === true) {
      // The hash says that we printed this text from a StorageSchema.
      return JSON.parse(text) as StorageSchema;
    }
    lost(path, text === undefined ? "is missing" : "was edited");
    return emptyStorage;
  }

  #migrationsPresent(): readonly string[] {
    return this.#paths().filter((path) => migrationPath.test(path));
  }

  /** What is there, relative to the folder. */
  #paths(): readonly string[] {
    return this.#found.files.map((path) => path.slice(this.#name.length + 1));
  }

  /** Carries out changes: each file through a temporary one; folders that become empty go as well. */
  apply(changes: readonly Change[]): void {
    for (const change of changes) {
      if (isRemoval(change)) this.#remove(change.path);
      else if (change.kind !== "stale" && change.text !== undefined)
        this.write({ path: change.path, text: change.text });
    }
  }

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

  /** The absolute path; a path that leaves the folder is a bug of an emitter. */
  #fileOf(path: string): string {
    const file = join(this.#root, path);
    if (!file.startsWith(this.#root + sep)) throw new Error(`${path} leaves the generated folder`);
    return file;
  }
}
