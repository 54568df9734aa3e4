// The reference service on a fresh database, and a client that speaks nothing but HTTP.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { service } from "../../generated/service.js";
import type { ServiceDefinition } from "../../runtime/server/service.js";
import { readSettings } from "../../runtime/server/settings.js";
import { start, type RunningService } from "../../runtime/server/start.js";
import type { Log } from "../../runtime/operations/log.js";
import { silentLog } from "../../runtime/operations/log.js";
import type { TestEngine } from "../engines.js";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON body, or the text where it is no JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a black-box test looks at whatever comes back
  readonly body: any;
}

export interface RequestOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestService {
  readonly url: string;
  readonly running: RunningService;
  call(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  stop(): Promise<void>;
}

export const generated = new URL("../../generated", import.meta.url).pathname;

/** Starts a service (the reference one where none is given) on a port of the system's choice. */
export async function startTestService(
  engine: TestEngine,
  options: {
    readonly definition?: ServiceDefinition;
    readonly environment?: Readonly<Record<string, string>>;
    readonly log?: Log;
  } = {},
): Promise<TestService> {
  const database = await engine.create();
  const data = mkdtempSync(join(tmpdir(), "opwright-data-"));
  const environment = {
    PORT: "0",
    DATA_DIR: data,
    DATABASE_URL: database.url,
    ...options.environment,
  };
  const running = await start(options.definition ?? service, {
    settings: readSettings("tracker", environment),
    folder: generated,
    log: options.log ?? silentLog,
  });
  const call: TestService["call"] = async (method, path, { body, headers } = {}) => {
    const response = await fetch(`${running.url}${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parsed(text) };
  };
  return {
    url: running.url,
    running,
    call,
    post: (path, body, headers = {}) => call("POST", path, { body, headers }),
    async stop() {
      await running.stop();
      await database.drop();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

function parsed(text: string): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}
