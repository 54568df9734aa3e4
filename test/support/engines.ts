// The SQL engines that tests run on, each as a fresh, empty database.
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { Client } from "pg";
import { expect } from "vitest";
import { pooledEnvironment, throughPort } from "./pgbouncer.js";

export interface FreshDatabase {
  /** The server's own URL, for tests that look past the service. */
  readonly url: string;
  /** What a service is told of the database. */
  readonly environment: Readonly<Record<string, string>>;
  drop(): Promise<void>;
}

export interface TestEngine {
  readonly name: "sqlite" | "postgres";
  /** False where global-setup.ts found no server; such suites are skipped, and it has said so. */
  readonly isAvailable: boolean;
  create(): Promise<FreshDatabase>;
}

const sqlite: TestEngine = {
  name: "sqlite",
  isAvailable: true,
  async create() {
    const folder = mkdtempSync(join(tmpdir(), "opwright-sqlite-"));
    const url = `sqlite:${join(folder, "test.db")}`;
    return {
      url,
      environment: { DATABASE_URL: url },
      drop: async () => rmSync(folder, { recursive: true, force: true }),
    };
  },
};

const server = process.env["OPWRIGHT_TEST_POSTGRES"];

const postgres: TestEngine = {
  name: "postgres",
  isAvailable: server !== undefined,
  async create() {
    const name = `opwright_test_${randomBytes(6).toString("hex")}`;
    await onServer(`CREATE DATABASE ${name}`);
    const url = new URL(server ?? "");
    url.pathname = `/${name}`;
    const drop = () => onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    return { url: url.href, environment: environmentOf(url.href), drop };
  },
};

/** A database by its URL, for a service that reaches it directly; somebody else drops it where left out. */
export function databaseAt(
  url: string,
  drop: FreshDatabase["drop"] = async () => undefined,
): FreshDatabase {
  return { url, environment: { DATABASE_URL: url }, drop };
}

/**
 * A third of the test files have their services reach PostgreSQL through a pooler in transaction mode: always the same
 * ones, by their names. With OPWRIGHT_TEST_POOLED=all all of them do, with `none` none.
 */
function environmentOf(direct: string): Readonly<Record<string, string>> {
  const port = process.env["OPWRIGHT_TEST_POOLER"];
  const which = process.env["OPWRIGHT_TEST_POOLED"] ?? "third";
  if (port === undefined || which === "none" || (which === "third" && !isOfThird()))
    return { DATABASE_URL: direct };
  return pooledEnvironment(throughPort(direct, port), direct);
}

function isOfThird(): boolean {
  const name = basename(expect.getState().testPath ?? "");
  return (createHash("sha256").update(name).digest()[0] ?? 0) % 3 === 0;
}

async function onServer(statement: string): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

export const engines: readonly TestEngine[] = [sqlite, postgres];

/** One database of an engine for several services, which goes with `drop`. */
export async function sharedDatabase(engine: TestEngine): Promise<{
  readonly url: string;
  /** What a service is told of it. */
  readonly environment: Readonly<Record<string, string>>;
  /** The engine, with this database whenever one is asked for. */
  readonly same: TestEngine;
  drop(): Promise<void>;
}> {
  const { url, environment, drop } = await engine.create();
  const create = async () => ({ url, environment, drop: async () => undefined });
  return { url, environment, same: { ...engine, create }, drop };
}
