// A PostgreSQL whose client is listened to: what it says, message by message.
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server } from "node:net";
import pg from "pg";
import { afterEach, beforeEach } from "vitest";
import {
  openConnections,
  type HeldConnection,
  type PostgresConnections,
} from "../../runtime/engines/postgres/connections.js";
import { OpenTransaction } from "../../runtime/engines/postgres/open-transaction.js";
import { Lifetime } from "../../runtime/ports/lifetime.js";
import { engines } from "./engines.js";

/** The engine; undefined where there is none. */
export const postgres = engines.find(({ name, isAvailable }) => name === "postgres" && isAvailable);

export interface WatchedPostgres {
  /** The types of the messages since the transaction began; of queries, their texts as well. */
  readonly said: string[];
  /** Keeps the server's answers back; the function that it returns lets them pass again. */
  holdAnswers(): () => void;
  /** A connection that nobody listens to. The database has a table `things` of an `id`. */
  readonly admin: pg.Client;
  readonly connections: PostgresConnections;
  /** Called behind the test, the last one first. */
  readonly closing: (() => unknown)[];
  begin(): Promise<{ readonly connection: HeldConnection; readonly open: OpenTransaction }>;
  /** The ids of the table. */
  stored(): Promise<readonly number[]>;
}

/** Begins anew for each test. */
export function watchPostgres(): WatchedPostgres {
  const said: string[] = [];
  const held: (() => void)[] = [];
  let isHolding = false;
  const closing: (() => unknown)[] = [];
  let admin: pg.Client;
  let connections: PostgresConnections;

  beforeEach(async () => {
    isHolding = false;
    held.length = 0;
    if (postgres === undefined) throw new Error("there is no PostgreSQL");
    const { url, drop } = await postgres.create();
    closing.push(drop);
    admin = new pg.Client({ connectionString: url });
    await admin.connect();
    closing.push(() => admin.end());
    await admin.query("CREATE TABLE things (id int PRIMARY KEY)");
    const { hostname, port } = new URL(url);
    const server: Server = createServer((near) => {
      const far = connect({ host: hostname, port: Number(port || 5432) });
      near.on("data", listen(said)).pipe(far);
      far.on("data", (chunk) => {
        if (isHolding) held.push(() => near.write(chunk));
        else near.write(chunk);
      });
      near.on("close", () => far.destroy());
      far.on("close", () => near.destroy());
      for (const socket of [near, far]) socket.on("error", () => socket.destroy());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => server.close());
    const watched = new URL(url);
    watched.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    connections = openTo(watched.href);
    closing.push(() => connections.close());
  });
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  return {
    said,
    closing,
    get admin() {
      return admin;
    },
    get connections() {
      return connections;
    },

    holdAnswers() {
      isHolding = true;
      return () => {
        isHolding = false;
        for (const pass of held.splice(0)) pass();
      };
    },

    async begin() {
      const lifetime = Lifetime.within(20_000);
      const connection = await connections.acquire({ lifetime, payer: null });
      // Where a test fails, nobody else releases it.
      closing.push(() => connection.release(true));
      said.length = 0;
      return { connection, open: new OpenTransaction(connection, lifetime) };
    },

    async stored() {
      const { rows } = await admin.query<{ id: number }>("SELECT id FROM things ORDER BY id");
      return rows.map(({ id }) => id);
    },
  };
}

/** Adds a row to `things`, and waits for it. */
export function insertThing({ session }: OpenTransaction, id: number): Promise<number> {
  return session.run(insertion, [id]);
}

/** The same without waiting. */
export function pipelineThing({ session }: OpenTransaction, id: number): Promise<void> {
  return session.runPipelined(insertion, [id]);
}

const insertion = "INSERT INTO things VALUES ($1)";

/** What a client says, message by message (PostgreSQL's manual, "Message Formats"). */
function listen(said: string[]): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  let isStarted = false;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const head = isStarted ? 1 : 0;
      if (rest.length < head + 4) return;
      const size = head + rest.readInt32BE(head);
      if (rest.length < size) return;
      const type = isStarted ? rest.toString("latin1", 0, 1) : "startup";
      said.push(type === "Q" ? `Q ${rest.toString("utf8", 5, size - 1)}` : type);
      rest = rest.subarray(size);
      isStarted = true;
    }
  };
}

/** Connections of a service, four at most. */
export function openTo(url: string): PostgresConnections {
  return openConnections(pg, {
    url,
    size: 4,
    isShared: false,
    statementMillis: 60_000,
    typeParser: (oid, format) => pg.types.getTypeParser(oid, format),
  });
}
