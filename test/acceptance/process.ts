// The reference service as a process of its own, for what only a real process can show.
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = new URL("../..", import.meta.url).pathname;
const entry = join(root, "dist/service/generated/server.js");

export interface ServiceProcess {
  readonly child: ChildProcess;
  readonly url: string;
  /** Everything on stdout and stderr so far. */
  output(): string;
  /** Resolves with the exit code, or the signal's name. */
  readonly exited: Promise<number | string>;
}

/** Starts the compiled server and waits until it is ready. */
export async function startProcess(
  environment: Readonly<Record<string, string>>,
): Promise<ServiceProcess> {
  if (!existsSync(entry))
    throw new Error("the service is not compiled: npm run build && npm run build:service");
  const child = spawn(process.execPath, [entry], {
    cwd: root,
    env: {
      PATH: process.env["PATH"],
      PORT: "0",
      DATA_DIR: mkdtempSync(join(tmpdir(), "opwright-data-")),
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  // A test that fails half-way must not leave a server behind.
  process.once("exit", () => child.kill("SIGKILL"));
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const exited = new Promise<number | string>((resolve) => {
    child.on("exit", (code, signal) => resolve(code ?? signal ?? "gone"));
  });
  const ready = new Promise<string>((resolve, reject) => {
    child.stdout.on("data", () => {
      const url = /"url":"([^"]+)"/.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    });
    void exited.then((code) => reject(new Error(`the server ended with ${code}: ${output}`)));
  });
  return { child, url: await ready, output: () => output, exited };
}
