// Pools of connections to one of the servers that a URL names: the one that accepts writes.
import { unavailable } from "../../contract/errors.js";
import { Socket } from "node:net";
import { callbackify } from "node:util";
import type { Client, ClientConfig, PoolClient } from "pg";
import type { Lifetime } from "../../ports/lifetime.js";
import type { ServerAddresses } from "./addresses.js";
import { answeredIn } from "./answered-in.js";
import { givesUpStandby } from "./faults.js";
import type { SessionManner, Sessions } from "./sessions.js";
import { WritingServer } from "./writing-server.js";
import { drawBytes } from "../../ports/ambient.js";

/** Milliseconds to wait for a new connection; fewer where another server may be the right one. */
const connectMillis = { toTheOnly: 5_000, toOneOfSeveral: 2_000 } as const;

const usualClient = {
  // A statement doesn't wait for the previous one's answer.
  pipeline: true,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
} as const;

/** Reads a value's text by the OID of its type. */
export type TypeParser = (oid: number, format: never) => unknown;

/** The part of `pg` that is used here. */
export type Driver = Pick<typeof import("pg"), "Client" | "Pool">;

/** A connection, its socket, and the application name by which the server knows it. */
export interface Known {
  readonly client: PoolClient;
  readonly name: string;
  readonly socket: Socket;
  /** How to speak on it. */
  readonly manner: SessionManner;
  /** Whether its server has committed without the standbys that a commit waits for. */
  readonly heard: { readonly isLonely: boolean };
}

export interface ConnectionPool {
  /**
   * Takes a connection; a new one is made to the server of the last one. If that refuses or is
   * slow, all are asked at once which one accepts writes. Rejects with the reason if the work is
   * over before there is one, and with the driver's error if no server takes it.
   */
  connect(lifetime: Lifetime): Promise<Known>;
  end(): Promise<void>;
}

/** Makes pools of a size. They share which server is the right one. */
export function poolsOf(
  { Client: Base, Pool }: Driver,
  { urls, mustWrite }: ServerAddresses,
  sessions: Sessions,
  typeParser: TypeParser,
): (size: number) => ConnectionPool {
  const known = new WeakMap<Client, Omit<Known, "client" | "manner">>();
  const manners = new WeakMap<Client, SessionManner>();
  const millis = connectMillis[urls.length > 1 ? "toOneOfSeveral" : "toTheOnly"];
  const isShared = sessions.startup.options === undefined;

  const writer = new WritingServer(urls.length, async (server) => {
    const client = new Named({ server, connectionTimeoutMillis: millis, ...sessions.startup });
    try {
      await client.connect();
      const settled = await answeredIn(millis, sessions.settle(client as unknown as PoolClient));
      if (settled.isReadOnly) throw new Error("it accepts no writes");
      client.end().catch(() => undefined);
    } catch (error) {
      known.get(client)?.socket.destroy();
      throw error;
    }
  });

  class Named extends Base {
    constructor({ server = writer.current, ...config }: NamedConfig = {}) {
      const socket = new Socket();
      const connectionString = urls[server] ?? "";
      super({ ...usualClient, ...config, connectionString, stream: () => socket });
      writer.connecting(socket, server);
      const parameters = parametersOf(this);
      const prefix = applicationName(parameters.application_name);
      // What the URL or the environment says would go into the startup packet.
      if (isShared) for (const setting of startupSettings) parameters[setting] = undefined;
      // Cancels find a backend by it, so no two connections have the same one. A pooler would set
      // it anew with each session that it lends, and passes cancels on by itself.
      const name = isShared ? prefix : `${prefix} ${drawBytes(6).toString("hex")}`;
      parameters.application_name = name;
      known.set(this, { name, socket, heard: hearNotices(this) });
      // The pool replaces it if it breaks while idle. Unheard, its error would end the process.
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
    const manner = manners.get(client);
    if (found === undefined || manner === undefined)
      throw unavailable(new Error("a connection of another pool"));
    return { client, ...found, manner };
  };

  /**
   * Settles a session before its first use. As libpq asks, a server that must write is asked
   * whether it does: a standby says `on`, and so does a server that was made read-only.
   */
  const verify = async (client: PoolClient): Promise<void> => {
    // Otherwise a silence here would hold the place of a connection for ever.
    const settled = answeredIn(millis, sessions.settle(client));
    settled.catch(() => known.get(client)?.socket.destroy());
    const { manner, isReadOnly } = await settled;
    if (mustWrite && isReadOnly)
      throw new Error(`the server ${client.host}:${client.port} accepts no writes`);
    manners.set(client, manner);
    writer.settled(known.get(client)?.socket);
  };

  return (size) => {
    const pool = new Pool({
      Client: Named,
      max: size,
      connectionTimeoutMillis: millis,
      ...sessions.startup,
      types: { getTypeParser: typeParser as never },
      verify: callbackify(verify),
    });
    pool.on("error", () => undefined);
    return {
      connect: (lifetime) => writer.reach(() => taken(pool.connect(), lifetime), lifetime),
      end: () => pool.end(),
    };
  };
}

/** What the notices of a connection have said so far. */
function hearNotices(client: Client): Known["heard"] {
  const heard = { isLonely: false };
  client.on("notice", ({ routine }) => (heard.isLonely ||= givesUpStandby(routine)));
  return heard;
}

interface NamedConfig extends ClientConfig {
  /** The index of the server; the one that accepts writes if left out. */
  readonly server?: number;
}

/** Settings that `pg` takes from a URL or the environment, and puts into the startup packet. */
const startupSettings = [
  "options",
  "statement_timeout",
  "lock_timeout",
  "idle_in_transaction_session_timeout",
] as const;

/** A name with room for ours. The server replaces what isn't ASCII, and cuts it at 63 bytes. */
function applicationName(given: string | undefined): string {
  return (given ?? "opwright").replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 40);
}

/** What `pg` has read of a URL, and its types don't say. */
function parametersOf(client: Client) {
  const { connectionParameters } = client as unknown as {
    readonly connectionParameters: Record<
      "application_name" | (typeof startupSettings)[number],
      string | undefined
    >;
  };
  return connectionParameters;
}
