// What a connection to PostgreSQL knows of its session: whether it is its own, or each transaction
// gets another one from a pooler (PgBouncer's `pool_mode = transaction`), so that nothing that is
// set, prepared or locked in it outlives a transaction.
import type { ClientConfig, PoolClient } from "pg";
import { drawBytes } from "../../ports/ambient.js";
import { beginning } from "./begun-query.js";
import { sessionOptions, sessionSettings, settleSession } from "./session-settings.js";
import type { SessionSetting } from "./startup-options.js";

/** How to speak on a connection. */
export interface SessionManner {
  /** The text that begins a transaction. */
  readonly begin: string;
  /** Whether it may be sent in one message with a first statement, as it is prepared. */
  readonly isBegunTogether: boolean;
  /**
   * Whether each transaction may get another session: then a statement alone needs a transaction,
   * too.
   */
  readonly isShared: boolean;
  /** Whether statements may be named, so that they are prepared only once. */
  readonly carriesNames: boolean;
}

/** What a new connection has learned of its session. */
export interface SettledSession {
  readonly manner: SessionManner;
  /** Whether its transactions can't write, by default. */
  readonly isReadOnly: boolean;
}

/** How connections get sessions. */
export interface Sessions {
  /** What goes into the startup packet. */
  readonly startup: Pick<
    ClientConfig,
    "options" | "statement_timeout" | "idle_in_transaction_session_timeout"
  >;
  /** The first statements of a connection. */
  settle(client: PoolClient): Promise<SettledSession>;
}

/** How sessions are made. */
export interface SessionOptions {
  /** The session settings in the URL's `options`; undefined if it has none. */
  readonly options: string | undefined;
  /**
   * Milliseconds after which the server itself ends a statement or an idle transaction that nobody
   * else has ended.
   */
  readonly statementMillis: number;
}

/** Sessions that last as long as their connections. */
export function ownSessions({ options, statementMillis }: SessionOptions): Sessions {
  const manner: SessionManner = {
    begin: beginning.text,
    isBegunTogether: true,
    isShared: false,
    carriesNames: true,
  };
  return {
    startup: {
      options: sessionOptions(options),
      statement_timeout: statementMillis,
      idle_in_transaction_session_timeout: statementMillis,
    },
    async settle(client) {
      const [{ rows }] = await Promise.all([
        client.query<{ readonly readOnly: string }>(settleSession),
        // This prepares it.
        client.query(beginning),
        client.query("ROLLBACK"),
      ]);
      return { manner, isReadOnly: rows[0]?.readOnly !== "off" };
    },
  };
}

/**
 * Sessions that a pooler lends for a transaction each. Its startup packets take no settings, so
 * each transaction sets its own, in the message that begins it.
 */
export function sharedSessions({ options, statementMillis }: SessionOptions): Sessions {
  return {
    startup: {},
    async settle(client) {
      // If one of these fails, the connection isn't used.
      await client.query(beginWith(statementMillis));
      const { rows } = await client.query<{ readonly name: string; readonly value: string }>(
        askSettings,
      );
      const usual = new Map(rows.map(({ name, value }) => [name, value]));
      const manner = {
        begin: beginLent(usual, { options, statementMillis }),
        isBegunTogether: false,
        isShared: true,
        carriesNames: await carriesNames(client),
      };
      await client.query("COMMIT");
      return { manner, isReadOnly: usual.get("transaction_read_only") !== "off" };
    },
  };
}

/**
 * Begins a transaction. The timeout is set by itself and first: what somebody has left behind in
 * the session may be too short for the rest.
 */
function beginWith(statementMillis: number, access = ""): string {
  return `BEGIN ISOLATION LEVEL READ COMMITTED${access} NOT DEFERRABLE; SET LOCAL statement_timeout = ${statementMillis}`;
}

/** Timeouts that the engine sets itself, or that end no statement. */
const ownTimeouts = ["statement_timeout", "transaction_timeout", "idle_session_timeout"];

/**
 * The text that begins a transaction in a lent session: as the role's sessions begin (`usual`),
 * with the URL's options, with our own settings, and as nobody but the role.
 */
function beginLent(
  usual: ReadonlyMap<string, string>,
  { options, statementMillis }: SessionOptions,
): string {
  const all = new Map<string, string>();
  for (const name of ["search_path", "synchronous_commit", "default_transaction_read_only"])
    all.set(name, usual.get(name) ?? "");
  // Names of settings have no case.
  for (const [name, value] of sessionSettings(options)) all.set(name.toLowerCase(), value);
  all.set("idle_in_transaction_session_timeout", String(statementMillis));
  all.set("synchronous_commit", settledCommit(all.get("synchronous_commit")));
  all.set("search_path", withoutTemporary(all.get("search_path") ?? ""));
  for (const name of ownTimeouts) all.delete(name);
  if (usual.has("transaction_timeout")) all.set("transaction_timeout", "0");
  const isReadOnly = /^(?:on|true|yes|1)$/i.test(all.get("default_transaction_read_only") ?? "");
  const begin = beginWith(statementMillis, isReadOnly ? " READ ONLY" : " READ WRITE");
  const own = [...all].filter(([name]) => !name.startsWith("default_transaction_"));
  return `${begin}; SET LOCAL SESSION AUTHORIZATION DEFAULT; SET LOCAL role TO DEFAULT; ${setAll(own)}`;
}

/**
 * A search path in which temporary tables, which somebody may have left behind in the session, come
 * last: PostgreSQL looks at them first where the path doesn't name them.
 */
function withoutTemporary(path: string): string {
  return path === "" || /\bpg_temp\b/.test(path) ? path : `${path}, pg_temp`;
}

/**
 * What the role's sessions begin with (`reset_val`), not what somebody else has left behind in this
 * one; and whether it writes.
 */
const askSettings = `SELECT name, CASE name WHEN 'transaction_read_only' THEN setting ELSE reset_val END AS "value"
  FROM pg_settings
  WHERE name IN ('search_path', 'synchronous_commit', 'transaction_timeout',
    'transaction_read_only', 'default_transaction_read_only')`;

/** Commits wait for the server's disk: see `settleSession`. */
function settledCommit(value: string | undefined): string {
  return value === undefined || /^(?:off|false|no|0|)$/i.test(value) ? "on" : value;
}

/** One statement that sets all of them until the transaction ends. */
function setAll(settings: readonly SessionSetting[]): string {
  const rows = settings.map(([name, value]) => `(${quote(name)}, ${quote(value)})`);
  return `SELECT count(set_config(name, value, true)) FROM (VALUES ${rows.join(", ")}) AS s(name, value)`;
}

/** A literal that reads the same whatever `standard_conforming_strings` is. */
function quote(text: string): string {
  const doubled = text.replaceAll("'", "''");
  return text.includes("\\") ? `E'${doubled.replaceAll("\\", String.raw`\\`)}'` : `'${doubled}'`;
}

/**
 * Whether the pooler keeps prepared statements apart: then it prepares them in each session under a
 * name of its own (PgBouncer from 1.21, with `max_prepared_statements`).
 */
async function carriesNames(client: PoolClient): Promise<boolean> {
  const name = `ow_probe_${drawBytes(6).toString("hex")}`;
  // It finds itself, by the name under which the server knows it.
  const text = `SELECT name FROM pg_prepared_statements WHERE statement LIKE '%${name}%'`;
  const { rows } = await client.query<{ readonly name: string }>({ name, text });
  const isOurs = rows.some((row) => row.name === name);
  if (isOurs) await client.query(`DEALLOCATE ${name}`);
  return rows.length > 0 && !isOurs;
}
