// The one place that touches the disk: reading and writing the generated folder.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, sep } from "node:path";
import type { EmittedFile } from "../emit/file.js";
import { emptyStorage, type StorageSchema } from "../emit/storage-schema.js";
import type { MigrationHistory } from "../emit/migrations.js";
import type { Report } from "../diagnostics.js";
import { hashOf, manifestName, readOwnership, type Ownership } from "./manifest.js";
import type { Change } from "./plan.js";

/** The generated folder of a project. */
export class GeneratedFolder {
  readonly #root: string;
  /** Relative to the project, for messages. */
  readonly #name: string;

  constructor(project: string, name: string) {
    this.#root = join(project, name);
    this.#name = name;
  }

  /** The text of a file, or undefined where there is none. Line ends are those of the commit, not of the checkout. */
  read(path: string): string | undefined {
    const file = this.#fileOf(path);
    return existsSync(file) ? readFileSync(file, "utf8").replaceAll("\r\n", "\n") : undefined;
  }

  ownership(): Ownership {
    return readOwnership(this.read(manifestName));
  }

  /** Migrations of earlier runs. Reports files that the manifest owns and that are missing or were edited. */
  history(report: Report): MigrationHistory {
    const owned = [...this.ownership()].filter(([path]) =>
      /^migrations\/\w+\/\d{4}_\w+\.sql$/.test(path),
    );
    const files = owned.flatMap(([path, hashes]): readonly EmittedFile[] => {
      const text = this.read(path);
      if (text !== undefined && hashes.has(hashOf(text))) return [{ path, text }];
      const message = text === undefined ? `${path} is missing` : `${path} was edited`;
      report({ code: "OPW085", message, at: { file: `${this.#name}/${path}`, path: [] } });
      return [];
    });
    const storage = this.read("migrations/storage.json");
    return {
      files: files.sort((left, right) => (left.path < right.path ? -1 : 1)),
      storage:
        storage === undefined || owned.length === 0
          ? emptyStorage
          : (JSON.parse(storage) as StorageSchema),
    };
  }

  /** Carries out changes: each file through a temporary one; folders that become empty go as well. */
  apply(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.kind === "stale" || (change.kind === "edited" && change.text === undefined)) {
        this.#remove(change.path);
      } else if (change.text !== undefined) {
        this.write({ path: change.path, text: change.text });
      }
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
