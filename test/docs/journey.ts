// A page followed as a reader follows it: its files are written, its commands run in one shell, its answers compared.
import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const root = new URL("../..", import.meta.url).pathname;

/** What a page tells its reader to do. */
export type Step =
  | { readonly kind: "file"; readonly path: string; readonly text: string }
  | { readonly kind: "command"; readonly command: string; readonly shown: string };

/** A heading of the second level, with the steps below it. */
export interface Section {
  readonly title: string;
  readonly steps: readonly Step[];
}

/** Reads the steps of a page. A block of code begins with its path, a command with `$`. */
export function sectionsOf(page: string): readonly Section[] {
  return page
    .split(/^## /m)
    .slice(1)
    .map((text) => ({ title: text.slice(0, text.indexOf("\n")), steps: stepsOf(text) }))
    .filter(({ steps }) => steps.length > 0);
}

function stepsOf(section: string): readonly Step[] {
  return [...section.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].flatMap(
    ([, language, text = ""]): readonly Step[] =>
      language === "console" ? commandsOf(text) : [fileOf(text)],
  );
}

function fileOf(block: string): Step {
  const [, path, text] = /^(?:#|\/\/) (\S+)\n([^]*)$/.exec(block) ?? [];
  if (path === undefined || text === undefined)
    throw new Error(`a block does not begin with its path:\n${block}`);
  return { kind: "file", path, text };
}

function commandsOf(block: string): readonly Step[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((entry) => {
      const end = entry.indexOf("\n");
      return { kind: "command", command: entry.slice(0, end), shown: entry.slice(end + 1) };
    });
}

/** What an output must look like where a page shows `…` for what differs from time to time. */
export function patternOf(shown: string): RegExp {
  const quoted = shown.trim().replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return new RegExp(`^${quoted.replaceAll("…", "[^]*?")}$`);
}

/** The shell of a reader, in an empty folder, with npm's registry and their own PostgreSQL stood in for. */
export class Journey {
  readonly #folder = mkdtempSync(join(tmpdir(), "opwright-journey-"));
  readonly #shell: ChildProcessWithoutNullStreams;
  readonly #port: number;
  #service: ChildProcess | undefined;

  constructor(port: number, modules: readonly string[]) {
    this.#port = port;
    const installed = join(this.#folder, "installed");
    mkdirSync(join(installed, ".bin"), { recursive: true });
    symlinkSync(root, join(installed, "opwright"));
    symlinkSync("../typescript/bin/tsc", join(installed, ".bin/tsc"));
    for (const name of modules) {
      mkdirSync(dirname(join(installed, name)), { recursive: true });
      symlinkSync(join(root, "node_modules", name), join(installed, name));
    }
    this.#shell = spawn("bash", { cwd: this.#folder, env: this.#environment(), stdio: "pipe" });
    this.#shell.stdin.write(
      `exec 2>&1\nnpx() { shift; "${process.execPath}" "${root}bin/opwright.mjs" "$@"; }\n` +
        `npm() { if [ "$1" != install ]; then command npm "$@"; elif [ ! -e node_modules ]; then cp -a "${installed}" node_modules; fi; }\n` +
        "createdb() { :; }\n",
    );
  }

  /** Does one step. The result is what the shell printed, with the port that the page names. */
  async take(step: Step, database: string | undefined): Promise<string> {
    if (step.kind === "file") {
      const path = join((await this.#run("pwd")).trim(), step.path);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, this.#here(step.text));
      return "";
    }
    const [, url] = /^(?:DATABASE_URL=(\S+) )?npm start$/.exec(step.command) ?? [null, null];
    const output =
      url === null
        ? await this.#run(this.#here(step.command))
        : await this.#start(url === undefined ? {} : { DATABASE_URL: database });
    return output.replaceAll(`:${this.#port}`, ":4400").trim();
  }

  /** Stops what runs and removes the folder. */
  async end(): Promise<void> {
    await this.#stop();
    this.#shell.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #here(text: string): string {
    return text.replaceAll("localhost:4400", `localhost:${this.#port}`);
  }

  #environment(): Record<string, string | undefined> {
    return { PATH: process.env["PATH"], HOME: this.#folder, PORT: String(this.#port) };
  }

  async #run(command: string): Promise<string> {
    this.#shell.stdin.write(`${command}\nprintf '\\n<ended %s>\\n' $?\n`);
    let text = "";
    for (;;) {
      const chunk = this.#shell.stdout.read() as Buffer | null;
      if (chunk === null) await once(this.#shell.stdout, "readable");
      else text += chunk.toString();
      const ended = /\n<ended (\d+)>\n$/.exec(text);
      if (ended === null) continue;
      if (ended[1] !== "0") throw new Error(`${command} ended with ${ended[1]}:\n${text}`);
      return text.slice(0, ended.index);
    }
  }

  async #start(more: Record<string, string | undefined>): Promise<string> {
    await this.#stop();
    const service = spawn("npm", ["start"], {
      cwd: (await this.#run("pwd")).trim(),
      env: { ...this.#environment(), ...more },
      stdio: ["ignore", "pipe", "inherit"],
      // npm, its shell and the service end together.
      detached: true,
    });
    this.#service = service;
    let text = "";
    return new Promise((resolve, reject) => {
      service.stdout.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        if (text.includes(" is ready")) resolve(text);
      });
      service.once("exit", () => reject(new Error(`the service ended:\n${text}`)));
    });
  }

  async #stop(): Promise<void> {
    const service = this.#service;
    this.#service = undefined;
    if (service?.pid === undefined || service.exitCode !== null) return;
    const exited = once(service, "exit");
    process.kill(-service.pid, "SIGTERM");
    await exited;
  }
}
