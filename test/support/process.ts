// The reference service as a process of its own, for what only a real process can show.
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { callerOver } from "./over-http.js";

const root = new URL("../..", import.meta.url).pathname;

/** Where a server is, and from which folder it runs. */
export interface ServerPlace {
  readonly entry: string;
  readonly cwd: string;
}

/**
 * The reference service as it was compiled; or, if OPWRIGHT_TEST_ARTEFACT names a folder, as `opwright build` has written
 * it there.
 */
const artefact = process.env["OPWRIGHT_TEST_ARTEFACT"];
const reference: ServerPlace =
  artefact === undefined
    ? { entry: join(root, "dist/service/generated/server.js"), cwd: root }
    : { entry: join(artefact, "server.js"), cwd: artefact };

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
  { entry, cwd } = reference,
): Promise<ServiceProcess> {
  if (!existsSync(entry))
    throw new Error("the service is not compiled: npm run build && npm run build:service");
  const child = spawn(process.execPath, [entry], {
    cwd,
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
    const look = (): void => {
      const url = /"url":"([^"]+)"/.exec(output)?.[1];
      if (url === undefined) return;
      // What it says afterwards may be much, and need not be searched.
      child.stdout.off("data", look);
      resolve(url);
    };
    child.stdout.on("data", look);
    void exited.then((code) => reject(new Error(`the server ended with ${code}: ${output}`)));
  });
  return { child, url: await ready, output: () => output, exited };
}

const password = "correct horse battery staple";

interface CommandOptions {
  readonly input?: string;
  readonly place?: ServerPlace;
}

/**
 * Runs a command of the compiled server to its end. A service in this process goes on meanwhile: it
 * may hold SQLite's lock, which the command waits for.
 */
export async function runCommand(
  environment: Readonly<Record<string, string>>,
  args: readonly string[],
  { input = `${password}\n`, place: { entry, cwd } = reference }: CommandOptions = {},
) {
  const child = spawn(process.execPath, [entry, ...args], {
    cwd,
    env: { PATH: process.env["PATH"], LOG_LEVEL: "silent", ...environment },
  });
  // A command that needs no input may end before it has read any.
  child.stdin.on("error", () => undefined).end(input);
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { status: await ended, stdout, stderr };
}

/**
 * Gives a running service its first administrator, a tenant and every permission in it, as an operator would: by the
 * command and by HTTP. Resolves with a token that is scoped to the tenant.
 */
export async function firstToken(
  url: string,
  environment: Readonly<Record<string, string>>,
  place = reference,
): Promise<string> {
  const login = "root@example.test";
  const made = await runCommand(environment, ["create-principal", login, "--grant", "admin"], {
    place,
  });
  if (made.status !== 0) throw new Error(made.stderr);
  const post = async (
    path: string,
    body?: object,
    token?: string,
  ): Promise<Record<string, string>> => {
    const { status, body: answer } = await callerOver(url, token).call("POST", path, body);
    if (status >= 400) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`);
    return answer;
  };
  const { access_token: root } = await post("/auth/login", { login, password });
  const { tenant_id: tenantId } = await post("/admin/tenants", { tenant_key: "first" }, root);
  const member = { tenant_id: tenantId, principal_id: made.stdout.trim() };
  await post("/admin/memberships", member, root);
  const scoped = await post(`/tenants/${tenantId}/activate`, undefined, root);
  return scoped["access_token"] ?? "";
}
