// The generated folder on disk: what is in it, and whether its migrations can be gone on from.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { EmittedFile } from "../print/file.js";
import { databasePath, isOfMigrations, migrationPath } from "../database/schema.js";
import { noMigrations, type MigrationHistory } from "../emit/migrations.js";
import type { Finding, Report } from "../diagnostics/diagnostics.js";
import { hasConflict } from "../load/conflict-marks.js";
import { projectEntry } from "../load/project-file.js";
import { folderContent, type FolderContent } from "../load/project-folder.js";
import { finishChanges, leftBehind } from "./interrupted.js";
import { hashOf, manifestName, readOwnership, readPending, type Ownership } from "./manifest.js";
import { historyIn, type FolderTexts, type Loss } from "./migration-history.js";
import type { FileChange } from "./plan.js";
import { fileIn, stageChanges, type StagedChanges } from "./staged-changes.js";

/** The generated folder of a project. Its files are listed once, when the object is made. */
export class GeneratedFolder {
  readonly #root: string;
  readonly #project: string;
  /** Relative to the project. */
  readonly #name: string;
  readonly #found: FolderContent;
  readonly #present: ReadonlySet<string>;
  readonly #manifest: string | undefined;

  constructor(project: string, name: string) {
    this.#root = join(project, name);
    this.#project = project;
    this.#name = name;
    this.#found = folderContent(project, name);
    this.#present = new Set(this.#found.files);
    this.#manifest = this.read(manifestName);
  }

  /**
   * The text of a file, or undefined if there was none when the folder was listed. Line ends are
   * always LF, as in the commit, even if the checkout has CRLF.
   */
  read(path: string): string | undefined {
    fileIn(this.#root, path);
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
    return readOwnership(this.#manifest);
  }

  /**
   * The ownership, plus every migration on disk, whoever wrote it: those of a base commit will
   * replace them.
   */
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
   * Migrations of earlier runs. Reports those that aren't whole (OPW085), and links that can't be
   * followed: then it returns an empty history.
   */
  history(report: Report): MigrationHistory {
    if (this.#leadsElsewhere(report) || this.#isInterrupted(report)) return noMigrations;
    return historyIn(this.texts(), (path, what) =>
      report({
        code: "OPW085",
        message: `${path} ${what}`,
        at: { file: `${this.#name}/${path}`, path: [] },
        hint: adviceOnLoss(what, `${this.#name}/${path}`),
      }),
    );
  }

  /**
   * `base` in place of the folder's migrations, which aren't checked. Links that can't be followed
   * are reported as well.
   */
  historyOf(base: MigrationHistory, report: Report): MigrationHistory {
    return this.#leadsElsewhere(report) || this.#isInterrupted(report) ? noMigrations : base;
  }

  #leadsElsewhere(report: Report): boolean {
    const { refused } = this.#found;
    for (const { path, why } of refused)
      report({ code: "OPW086", message: `${path} ${why}`, at: { file: path, path: [] } });
    return refused.length > 0;
  }

  /** Reports an interrupted run, and files that were edited before or since. */
  #isInterrupted(report: Report): boolean {
    const isPending = readPending(this.#manifest) !== undefined;
    if (!isPending && leftBehind(this.#paths()).length === 0) return false;
    const at = (path: string): Finding["at"] => ({ file: `${this.#name}/${path}`, path: [] });
    report({
      code: "OPW094",
      message: "an earlier generate was interrupted: run it again",
      at: at(manifestName),
    });
    for (const [path, hashes] of this.ownership()) {
      const text = this.read(path);
      if (text === undefined || hashes.has(hashOf(text)) || hasConflict(text)) continue;
      report({
        code: isOfMigrations(path) ? "OPW085" : "OPW083",
        message: `${this.#name}/${path} was edited by hand`,
        at: at(path),
      });
    }
    return true;
  }

  #migrationsPresent(): readonly string[] {
    return this.#paths().filter((path) => migrationPath.test(path));
  }

  /** The files that were found, relative to the folder. */
  #paths(): readonly string[] {
    return this.#found.files.map((path) => path.slice(this.#name.length + 1));
  }

  /** Writes what changes beside its place; the result puts it there. */
  stage(changes: readonly FileChange[], manifest: EmittedFile): StagedChanges {
    return stageChanges(this.#root, { changes, manifest, earlier: this.#manifest });
  }

  /**
   * Finishes what an earlier run had begun to write when it ended, and removes what it left behind.
   * Returns whether there was anything of the kind. The object still says what was there before.
   */
  finishInterrupted(): boolean {
    // Nothing is written through a link; `history` reports it.
    if (this.#found.refused.length > 0) return false;
    return finishChanges(this.#root, {
      pending: readPending(this.#manifest),
      paths: this.#paths(),
      read: (path) => this.read(path),
    });
  }
}

/**
 * How a migration is made whole again. Git keeps untracked files where they are when it stashes or
 * changes the branch.
 */
function adviceOnLoss(what: Loss, path: string): string | undefined {
  switch (what) {
    case "is not in the manifest":
      return `If you stashed or changed the branch, git left this file behind, because it wasn't committed: \`git stash pop\` brings the rest back. To give the change up, remove the file, unless a database has applied it.`;
    case "is missing":
    case "was edited":
      return `After a merge, run \`opwright generate\`: it writes your migrations after those of the base branch. Otherwise restore the file: \`git checkout HEAD -- ${path}\`.`;
    case "has a number that is taken":
      return undefined;
  }
}
