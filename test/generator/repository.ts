// A project in a git repository of its own, as several people work on it: branches, commits, merges.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cli, type CliResult } from "./cli.js";
import { writeProject } from "./scenario.js";

/** Code and output of a git command that may fail, such as a merge with conflicts. */
export interface GitResult {
  readonly code: number | null;
  readonly output: string;
}

interface Storage {
  readonly tables: Readonly<
    Record<string, { readonly shape: { readonly members: unknown; readonly steps: unknown } }>
  >;
}

/** A repository on the branch `main`, without a commit. */
export class Repository {
  readonly root: string;
  readonly remove: () => void;

  constructor(files: Readonly<Record<string, string>>) {
    ({ root: this.root, remove: this.remove } = writeProject({
      ".gitignore": ".data/\n",
      ...files,
    }));
    this.git("init", "-q", "-b", "main");
  }

  at(path: string): string {
    return join(this.root, path);
  }

  has(path: string): boolean {
    return existsSync(this.at(path));
  }

  read(path: string): string {
    return readFileSync(this.at(path), "utf8");
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    writeFileSync(this.at(path), text);
  }

  delete(path: string): void {
    rmSync(this.at(path), { recursive: true, force: true });
  }

  async cli(...args: readonly string[]): Promise<CliResult> {
    return await cli(this.root, ...args);
  }

  /** Runs git. Throws if it fails. */
  git(...args: readonly string[]): string {
    const { code, output } = this.tryGit(...args);
    if (code !== 0) throw new Error(`git ${args.join(" ")}: ${output}`);
    return output;
  }

  tryGit(...args: readonly string[]): GitResult {
    const identity = [
      "-c",
      "user.name=t",
      "-c",
      "user.email=t@example.test",
      "-c",
      "core.editor=true",
    ];
    const { status, stdout, stderr } = spawnSync("git", [...identity, ...args], {
      cwd: this.root,
      encoding: "utf8",
    });
    return { code: status, output: stdout + stderr };
  }

  commit(message = "next"): void {
    this.git("add", "-A");
    this.git("commit", "-q", "-m", message);
  }

  /** Writes files of the registry, generates and commits, on a branch that begins at another one if it is new. */
  async develop(
    branch: string,
    files: Readonly<Record<string, string | null>>,
    from = "main",
  ): Promise<void> {
    const isThere = this.tryGit("rev-parse", "--verify", "-q", branch).code === 0;
    if (isThere) this.git("checkout", "-q", branch);
    else this.git("checkout", "-q", "-b", branch, from);
    for (const [path, text] of Object.entries(files))
      if (text === null) this.delete(path);
      else this.write(path, text);
    const { code, stdout, stderr } = await this.cli("generate");
    if (code !== 0) throw new Error(stdout + stderr);
    this.commit(branch);
  }

  /** The names of the migrations, which are the same for both engines. */
  migrations(): readonly string[] {
    return readdirSync(this.at("generated/migrations/sqlite")).sort();
  }

  /** The members of a table and the steps between its shapes. */
  shapeOf(table: string): unknown {
    const { tables } = JSON.parse(this.read("generated/migrations/storage.json")) as Storage;
    return tables[table]?.shape;
  }
}
