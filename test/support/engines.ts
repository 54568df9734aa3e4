// The SQL engines that tests run on, each as a fresh, empty database.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";

export interface FreshDatabase {
  readonly url: string;
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
    return {
      url: `sqlite:${join(folder, "test.db")}`,
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
    return { url: url.href, drop: () => onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
  },
};

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
  /** The engine, with this database whenever one is asked for. */
  readonly same: TestEngine;
  drop(): Promise<void>;
}> {
  const { url, drop } = await engine.create();
  const create = async () => ({ url, drop: async () => undefined });
  return { url, same: { ...engine, create }, drop };
}
