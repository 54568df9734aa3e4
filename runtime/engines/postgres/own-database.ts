// A database for one test: created empty, and dropped even if somebody is still connected.
import { Client } from "pg";
import { drawBytes } from "../../ports/ambient.js";

export interface OwnDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * Creates a database with a random name on the URL's server; the URL's user needs the right to do
 * so.
 */
export async function createOwnDatabase(server: string): Promise<OwnDatabase> {
  const name = `opwright_test_${drawBytes(8).toString("hex")}`;
  await onServer(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: () => onServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

async function onServer(connectionString: string, statement: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
