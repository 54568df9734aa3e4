// A version of a project as processes of their own: its server bundled, its commands run as an operator runs them.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import type { TestProject } from "./project-service.js";

const runtime = new URL("../../dist/served/runtime.js", import.meta.url).pathname;

export interface VersionProcess {
  readonly child: ChildProcess;
  readonly output: () => string;
  /** Resolves with the exit code, or the signal's name. */
  readonly exited: Promise<number | string>;
  /** Resolves with what a pattern finds in the output, once it does. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
}

export interface Version {
  /** Starts its server, or one of its commands. */
  spawn(environment: Readonly<Record<string, string>>, ...args: readonly string[]): VersionProcess;
  /** Runs a command to its end. */
  run(environment: Readonly<Record<string, string>>, ...args: readonly string[]): VersionRun;
  /** The same in a working folder. */
  runIn(
    folder: string,
    environment: Readonly<Record<string, string>>,
    ...args: readonly string[]
  ): VersionRun;
}

interface VersionRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Makes a project's server ready to run; `dist` has the runtime. */
export async function versionOf({ root }: TestProject): Promise<Version> {
  if (!existsSync(runtime)) throw new Error("the runtime is not compiled: npm run build");
  const entry = join(root, "dist/server.mjs");
  await build({
    entryPoints: [join(root, "generated/server.ts")],
    bundle: true,
    format: "esm",
    platform: "node",
    sourcemap: true,
    outfile: entry,
    plugins: [
      {
        name: "runtime",
        setup: ({ onResolve }) =>
          onResolve({ filter: /^opwright\/runtime$/ }, () => ({ path: runtime, external: true })),
      },
    ],
  });
  const data = mkdtempSync(join(tmpdir(), "opwright-version-"));
  const environmentOf = (given: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
    PATH: process.env["PATH"],
    PORT: "0",
    DATA_DIR: data,
    ...given,
  });
  const runIn = (
    cwd: string,
    given: Readonly<Record<string, string>>,
    args: readonly string[],
  ): VersionRun => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [entry, ...args], {
      cwd,
      env: environmentOf(given),
      encoding: "utf8",
    });
    return { code: status, stdout, stderr };
  };
  return {
    spawn: (given, ...args) =>
      watched(spawn(process.execPath, [entry, ...args], { env: environmentOf(given) })),
    run: (given, ...args) => runIn(process.cwd(), given, args),
    runIn: (folder, given, ...args) => runIn(folder, given, args),
  };
}

function watched(child: ChildProcess): VersionProcess {
  // A test that fails half-way must not leave a process behind.
  const kill = (): boolean => child.kill("SIGKILL");
  process.once("exit", kill);
  let output = "";
  const listeners = new Set<() => void>();
  const add = (chunk: Buffer): void => {
    output += chunk.toString();
    for (const listener of listeners) listener();
  };
  child.stdout?.on("data", add);
  child.stderr?.on("data", add);
  const exited = new Promise<number | string>((resolve) => {
    child.on("close", (code, signal) => {
      process.off("exit", kill);
      resolve(code ?? signal ?? "gone");
    });
  });
  return {
    child,
    output: () => output,
    exited,
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = pattern.exec(output);
          if (found === null) return;
          listeners.delete(look);
          resolve(found);
        };
        listeners.add(look);
        look();
        void exited.then((code) => {
          look();
          reject(new Error(`it ended with ${code} and did not say ${String(pattern)}: ${output}`));
        });
      }),
  };
}
