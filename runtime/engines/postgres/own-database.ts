// A database of its own on a server, for one test: made empty, and dropped with whoever is still connected.
import { randomBytes } from "node:crypto";
import { Client } from "pg";

export interface OwnDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Makes a database beside the one of the URL, whose user must be allowed to. */
export async function createOwnDatabase(server: string): Promise<OwnDatabase> {
  const name = `opwright_test_${randomBytes(8).toString("hex")}`;
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
