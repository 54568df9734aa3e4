// The compiled service under test, with somebody who may write and the probes that must tell the truth.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { firstToken, startProcess, type ServiceProcess } from "../support/process.js";
import { newClient, type Client, type Outcome } from "./client.js";

export interface Subject {
  readonly process: ServiceProcess;
  readonly url: string;
  /** May do everything in one tenant. */
  readonly client: Client;
  /** Sends no credential, from another address. */
  readonly stranger: Client;
  readonly environment: Readonly<Record<string, string>>;
  /** Holds that `/livez` answers 200 now. */
  expectAlive(): Promise<void>;
  /** Waits until `/readyz` says that exactly this is missing; a list of nothing is ready. */
  expectMissing(...missing: readonly string[]): Promise<void>;
  /** Waits until `/readyz` is 200 and names exactly this as degraded. */
  expectDegraded(...degraded: readonly string[]): Promise<void>;
  /** Starts the process anew, on the same data and port, after it has ended. */
  restarted(environment?: Readonly<Record<string, string>>): Promise<Subject>;
  /** SIGTERM; resolves with the milliseconds until the process had ended with 0. */
  stop(): Promise<number>;
  /** Ends it in any case, and removes its folder. */
  dispose(): Promise<void>;
}

/** Secrets that each process of a test shares. */
const secrets = Object.fromEntries(
  ["SIGNING", "ACCESS_TOKEN", "REFRESH_PEPPER", "RESET_PEPPER", "OBJECTS"].map((name) => [
    `SECRETS_${name}`,
    randomBytes(32).toString("base64url"),
  ]),
);

/**
 * Starts the service and makes its first member with a command, whose settings are `past`: it must not go by a proxy of this
 * process, which waits for it. null makes nobody, and the client sends no credential.
 */
export async function startSubject(
  given: Readonly<Record<string, string>>,
  past: Readonly<Record<string, string>> | null = {},
): Promise<Subject> {
  const data = mkdtempSync(join(tmpdir(), "opwright-faults-"));
  const environment = {
    DATA_DIR: data,
    LOG_LEVEL: "info",
    SETTLE_SECONDS: "0.2",
    DRAIN_SECONDS: "3",
    DATABASE_URL: `sqlite:${join(data, "service.db")}`,
    ...secrets,
    ...given,
  };
  const process = await startProcess(environment);
  const token = past === null ? "" : await firstToken(process.url, { ...environment, ...past });
  return subjectOf(process, environment, token, data);
}

function subjectOf(
  process: ServiceProcess,
  environment: Readonly<Record<string, string>>,
  token: string,
  data: string,
): Subject {
  const { url, child } = process;
  const client = newClient(url, { token });
  const stranger = newClient(url, { address: "127.0.0.2" });
  const probe = (path: string): Promise<Outcome> =>
    stranger.call("GET", path, { patienceMillis: 6_000 });
  const readiness = async (): Promise<Readonly<Record<string, unknown>>> => {
    const { status: http, body, fault } = await probe("/readyz");
    return { http: http === 0 ? fault : http, ...body };
  };
  const becomes = (expected: object): Promise<void> =>
    expect.poll(readiness, { timeout: 20_000, interval: 100 }).toMatchObject(expected);
  return {
    process,
    url,
    client,
    stranger,
    environment,
    async expectAlive() {
      const { status, fault, millis } = await probe("/livez");
      expect([status, fault]).toEqual([200, ""]);
      expect(millis).toBeLessThan(2_000);
    },
    expectMissing: (...missing) =>
      becomes(
        missing.length === 0
          ? { http: 200, status: "ready" }
          : { http: 503, status: "not ready", missing },
      ),
    expectDegraded: (...degraded) => becomes({ http: 200, status: "ready", degraded }),
    async restarted(changes = {}) {
      await process.exited;
      client.close();
      stranger.close();
      const next = { ...environment, ...changes, PORT: new URL(url).port };
      return subjectOf(await startProcess(next), environment, token, data);
    },
    async stop() {
      const began = performance.now();
      child.kill("SIGTERM");
      const code = await Promise.race([process.exited, sleep(30_000, "no end", { ref: false })]);
      expect(code).toBe(0);
      return performance.now() - began;
    },
    async dispose() {
      client.close();
      stranger.close();
      child.kill("SIGKILL");
      await process.exited;
      rmSync(data, { recursive: true, force: true });
    },
  };
}
