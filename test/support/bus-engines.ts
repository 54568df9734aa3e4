// The buses that tests run on, each with a way to cut the connections of those who listen.
import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { createClient } from "redis";
import { openPostgresBus } from "../../runtime/engines/postgres/bus.js";
import { openRedisBus } from "../../runtime/engines/redis/bus.js";
import type { Log } from "../../runtime/ports/log.js";
import type { SignalBus } from "../../runtime/ports/bus.js";
import { engines } from "./engines.js";

export interface FreshBus {
  readonly url: string;
  open(log: Log): Promise<SignalBus>;
  /** Ends the connections of all who listen. */
  cut(): Promise<void>;
  /** Has those who listen hear a text. */
  disturb(text: string): Promise<void>;
  drop(): Promise<void>;
}

export interface TestBus {
  readonly name: "postgres" | "redis";
  /** False where global-setup.ts found no server; such suites are skipped, and it has said so. */
  readonly isAvailable: boolean;
  create(): Promise<FreshBus>;
}

const database = engines.find(({ name }) => name === "postgres");

const postgres: TestBus = {
  name: "postgres",
  isAvailable: database?.isAvailable === true,
  async create() {
    if (database === undefined) throw new Error("there is no PostgreSQL");
    const { url, drop } = await database.create();
    const admin = new Client({ connectionString: url });
    await admin.connect();
    return {
      url,
      open: (log) => openPostgresBus(url, log),
      async cut() {
        const { rowCount } = await admin.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'opwright bus' AND datname = current_database()",
        );
        if (rowCount === 0) throw new Error("nobody listens");
      },
      disturb: async (text) =>
        void (await admin.query("SELECT pg_notify('opwright_signals', $1)", [text])),
      async drop() {
        await admin.end();
        await drop();
      },
    };
  },
};

const server = process.env["OPWRIGHT_TEST_REDIS"];

const redis: TestBus = {
  name: "redis",
  isAvailable: server !== undefined,
  async create() {
    const url = server ?? "";
    const service = `test-${randomBytes(6).toString("hex")}`;
    const admin = createClient({ url });
    await admin.connect();
    return {
      url,
      open: (log) => openRedisBus(url, service, log),
      async cut() {
        const ended = await admin.sendCommand(["CLIENT", "KILL", "TYPE", "pubsub"]);
        if (Number(ended) === 0) throw new Error("nobody listens");
      },
      disturb: async (text) => void (await admin.publish(`opwright:${service}:signals`, text)),
      drop: () => admin.close(),
    };
  },
};

export const buses: readonly TestBus[] = [postgres, redis];
