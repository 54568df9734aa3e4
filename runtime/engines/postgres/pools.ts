// Pools of connections to one of the servers that a URL names: the one that accepts writes.
import { unavailable } from "../../contract/errors.js";
import { Socket } from "node:net";
import type { Client, ClientConfig, PoolClient } from "pg";
import type { Lifetime } from "../../ports/lifetime.js";
import type { ServerAddresses } from "./addresses.js";
import { isOfTable } from "./faults.js";
import { sessionOptions, settleSession } from "./session-settings.js";
import { drawBytes } from "../../ports/ambient.js";

/** Milliseconds to wait for a new connection. */
const connectMillis = 5_000;
const keepAliveMillis = 10_000;

export interface PoolOptions {
  /**
   * Milliseconds after which the server itself ends a statement or an idle transaction that nobody
   * else has ended.
   */
  readonly statementMillis: number;
  readonly typeParser: (oid: number, format: never) => unknown;
}

/** The part of `pg` that is used here. */
export type Driver = Pick<typeof import("pg"), "Client" | "Pool">;

/** A connection, its socket, and the application name by which the server knows it. */
export interface Known {
  readonly client: PoolClient;
  readonly name: string;
  readonly socket: Socket;
}

export interface ConnectionPool {
  /**
   * Takes a connection; a new one is made to the server of the last one, then to the others.
   * Rejects with the reason if the work is over before there is one, and with the driver's error if
   * no server takes it.
   */
  connect(lifetime: Lifetime): Promise<Known>;
  end(): Promise<void>;
}

/** Makes pools of a size. They share which server is the right one. */
export function poolsOf(
  { Client: Base, Pool }: Driver,
  { urls, mustWrite, options }: ServerAddresses,
  { statementMillis, typeParser }: PoolOptions,
): (size: number) => ConnectionPool {
  const known = new WeakMap<Client, Omit<Known, "client">>();
  let current = 0;
  const connectionString = (): string => urls[current] ?? "";

  class Named extends Base {
    constructor(config?: ClientConfig) {
      const socket = new Socket();
      const name = `opwright ${drawBytes(6).toString("hex")}`;
      const own = { connectionString: connectionString(), application_name: name };
      super({ ...config, ...own, stream: () => socket });
      known.set(this, { name, socket });
      // The pool replaces a connection that breaks while idle. Without a listener, its error would
      // end the process.
      this.on("error", () => undefined);
    }
  }

  const taken = async (connecting: Promise<PoolClient>, lifetime: Lifetime): Promise<Known> => {
    let client: PoolClient;
    try {
      client = await lifetime.race(connecting, "the database");
    } catch (error) {
      // The connection may still arrive; then it goes back for others to use.
      connecting.then(
        (late) => late.release(),
        () => undefined,
      );
      throw error;
    }
    const found = known.get(client);
    if (found === undefined) throw unavailable(new Error("a connection of another pool"));
    return { client, ...found };
  };

  return (size) => {
    const pool = new Pool({
      Client: Named,
      max: size,
      // A statement doesn't wait for the previous one's answer.
      pipeline: true,
      connectionTimeoutMillis: connectMillis,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMillis,
      options: sessionOptions(options),
      statement_timeout: statementMillis,
      idle_in_transaction_session_timeout: statementMillis,
      types: { getTypeParser: typeParser as never },
      verify: verifySession(mustWrite),
    });
    pool.on("error", () => undefined);
    return {
      async connect(lifetime) {
        for (let tries = 1; ; tries += 1) {
          const tried = current;
          try {
            return await taken(pool.connect(), lifetime);
          } catch (error) {
            if (isOfTable(error)) throw error;
            if (current === tried) current = (tried + 1) % urls.length;
            if (tries >= urls.length) throw error;
          }
        }
      },
      end: () => pool.end(),
    };
  };
}

/**
 * Settles a session before its first use. As libpq asks, a server that must write is asked whether
 * it does: a standby says `on`, and so does a server that was made read-only.
 */
function verifySession(mustWrite: boolean) {
  return (client: PoolClient, done: (error?: Error) => void): void => {
    client.query<{ readonly readOnly: string }>(
      settleSession,
      (error: Error | undefined, answer) => {
        if (error) return done(error);
        if (!mustWrite || answer.rows[0]?.readOnly === "off") return done();
        done(new Error(`the server ${client.host}:${client.port} accepts no writes`));
      },
    );
  };
}
