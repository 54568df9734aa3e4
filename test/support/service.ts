// The reference service on a fresh database, and a client that speaks nothing but HTTP.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { service } from "../../generated/service.js";
import { issueSession } from "../../runtime/families/identity/operations.js";
import type { IdentitySpec } from "../../runtime/families/identity/spec.js";
import { uuidv7 } from "../../runtime/ports/uuid.js";
import type { ServiceDefinition } from "../../runtime/server/service.js";
import { readSettings } from "../../runtime/server/settings.js";
import { start, type RunningService } from "../../runtime/server/start.js";
import type { Clock } from "../../runtime/ports/clock.js";
import type { Log } from "../../runtime/ports/log.js";
import { silentLog } from "../../runtime/ports/log.js";
import type { TestEngine } from "./engines.js";
import { addPrincipal } from "./principals.js";
import { tenantStore } from "../../runtime/ports/tenants.js";

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
  /** Who is signed in: `call` and `post` send its token unless they are given another credential, or none (""). */
  readonly tester: Tester;
  call(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Stops it and starts it anew on the same port and data, after a while. */
  restart(pauseMillis?: number): Promise<void>;
  stop(): Promise<void>;
}

/** A principal with every permission in one tenant and everywhere, and a token that is scoped to that tenant. */
export interface Tester {
  readonly id: string;
  readonly tenantId: string;
  readonly token: string;
}

export const nobody: Tester = { id: "", tenantId: "", token: "" };

export const generated = new URL("../../generated", import.meta.url).pathname;

/** Starts a service (the reference one where none is given) on a port of the system's choice. */
export async function startTestService(
  engine: TestEngine,
  options: {
    readonly definition?: ServiceDefinition;
    /** The generated folder of the definition; that of the reference service where none is given. */
    readonly folder?: string;
    readonly environment?: Readonly<Record<string, string>>;
    readonly log?: Log;
    /** false sends no credential unless a call gives one. */
    readonly signsIn?: boolean;
    /** The machine's where none is given. */
    readonly clock?: Clock;
  } = {},
): Promise<TestService> {
  const database = await engine.create();
  const data = mkdtempSync(join(tmpdir(), "opwright-data-"));
  const environment = {
    PORT: "0",
    DATA_DIR: data,
    // A test that names a database means that one, and no pooler in front of another.
    ...(options.environment?.["DATABASE_URL"] === undefined ? database.environment : {}),
    ...options.environment,
  };
  const definition = options.definition ?? service;
  const begin = (given: Readonly<Record<string, string>>): Promise<RunningService> =>
    start(definition, {
      settings: readSettings(definition, given),
      folder: options.folder ?? generated,
      log: options.log ?? silentLog,
      ...(options.clock === undefined ? {} : { clock: options.clock }),
    });
  let running = await begin(environment);
  const { url } = running;
  const { identity } = definition;
  const tester =
    identity === undefined || options.signsIn === false
      ? nobody
      : await signIn(running.connection, identity);
  const call: TestService["call"] = async (method, path, { body, headers: given } = {}) => {
    const { authorization = `Bearer ${tester.token}`, ...others } = given ?? {};
    const isAnonymous = authorization === "" || authorization === "Bearer ";
    const headers = isAnonymous ? others : { authorization, ...others };
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(body === undefined || body instanceof FormData
          ? {}
          : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : {
            body:
              typeof body === "string" || body instanceof FormData ? body : JSON.stringify(body),
          }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parsed(text) };
  };
  return {
    url,
    get running() {
      return running;
    },
    tester,
    call,
    post: (path, body, headers = {}) => call("POST", path, { body, headers }),
    async restart(pauseMillis = 0) {
      await running.stop();
      await new Promise((resolve) => setTimeout(resolve, pauseMillis));
      running = await begin({ ...environment, PORT: new URL(url).port });
    },
    async stop() {
      await running.stop();
      await database.drop();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

let testers = 0;

async function signIn(
  connection: RunningService["connection"],
  identity: IdentitySpec,
): Promise<Tester> {
  const name = `tester${(testers += 1)}`;
  const login = `${name}@example.test`;
  const id = await addPrincipal(connection, login);
  const tenantId = uuidv7();
  const tokens = await connection.write("test.people", async (context) => {
    const tenants = context.transaction.of(tenantStore);
    await tenants.addTenant({ id: tenantId, key: name, isActive: true });
    await tenants.addMember(tenantId, id);
    await tenants.grant(tenantId, id, "admin");
    await tenants.grant(null, id, "admin");
    return issueSession(identity, context, { principalId: id, tenant: tenantId });
  });
  return { id, tenantId, token: tokens.access_token };
}

function parsed(text: string): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}
