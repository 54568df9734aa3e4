// Both versions at work on one database and one folder, with one caller, and what has been acknowledged so far.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { issueSession } from "../../../runtime/families/identity/operations.js";
import { silentLog, type Log } from "../../../runtime/ports/log.js";
import type { ServiceDefinition } from "../../../runtime/server/service.js";
import { peopleOf } from "../../../runtime/testing/people.js";
import type { TestService } from "../../support/service.js";
import { sharedDatabase, type TestEngine } from "../../support/engines.js";
import { Caller } from "./caller.js";
import type { Body, Side, Versions } from "./common.js";
import type { Failure } from "./failures.js";
import { receiver, type Receiver } from "./receiver.js";

/** A document that was acknowledged, with its latest answer. */
export interface Kept {
  readonly table: string;
  readonly id: string;
  by: Side;
  body: Body;
  isGone: boolean;
}

/** An answer under an Idempotency-Key, and the request that it answered. */
export interface Replayable {
  readonly by: Side;
  readonly operation: string;
  readonly key: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly answer: Body;
}

/** A file that was acknowledged. */
export interface KeptFile {
  readonly place: string;
  readonly key: string;
  readonly text: string;
}

export interface World {
  readonly versions: Versions;
  readonly receiver: Receiver;
  readonly failures: Failure[];
  /** Answers by the verb of their operation and their status. */
  readonly stats: Record<string, number>;
  readonly documents: Kept[];
  readonly files: KeptFile[];
  readonly replayable: Replayable[];
  /** Events that must arrive, by the id of the document that they carry. */
  readonly staged: { readonly by: Side; readonly event: string; readonly id: string }[];
  readonly callers: Map<Side, Caller>;
  principalId: string;
  /** The event of which the caller has a webhook. */
  hooked: string | null;
  /** What a version has last logged as an error. */
  lastError: string;
  /** A number that no other call has got. */
  next(): number;
  start(side: Side): Promise<void>;
  stop(side: Side): Promise<void>;
  end(): Promise<void>;
}

/** A secret that both versions have. */
const secret = (name: string): string => createHash("sha256").update(name).digest("base64url");

function told(fields: Readonly<Record<string, unknown>>): string {
  const { err } = fields;
  return err instanceof Error ? String(err.stack).slice(0, 600) : JSON.stringify(fields);
}

/** A fresh world, in which nothing runs. */
export async function worldOf(
  engine: TestEngine,
  versions: Versions,
  seed: number,
): Promise<World> {
  const { same, drop } = await sharedDatabase(engine);
  const data = mkdtempSync(join(tmpdir(), "opwright-versions-"));
  const receiving = await receiver();
  const running = new Map<Side, TestService>();
  let tenant: string | null = null;
  let count = seed % 1_000_000;
  const environmentOf = (side: Side): Readonly<Record<string, string>> => ({
    DATA_DIR: data,
    METRICS: "off",
    DOCS: "off",
    BUS_URL: "none",
    READERS: "1",
    DATABASE_POOL: "4",
    DRAIN_SECONDS: "1",
    DESTINATION_SHOP: `${receiving.url}/${side}/shop`,
    DESTINATION_MAIL: "log:",
    DESTINATION_NOTIFICATIONS: "log:",
    DESTINATION_DEFAULT: "log:",
    OUTBOX_BACKOFF_SECONDS: "0.05",
    WEBHOOK_BACKOFF_SECONDS: "0.05",
    WEBHOOK_ADDRESSES: "any",
    SECRETS_SIGNING: secret("signing"),
    SECRETS_WEBHOOK: secret("webhook"),
    SECRETS_OBJECTS: secret("objects"),
  });
  const world: World = {
    versions,
    receiver: receiving,
    failures: [],
    stats: {},
    documents: [],
    files: [],
    replayable: [],
    staged: [],
    callers: new Map(),
    principalId: "",
    hooked: null,
    lastError: "",
    next: () => (count += 1),
    async start(side) {
      const version = versions[side];
      const log: Log = { ...silentLog, error: (fields) => void (world.lastError = told(fields)) };
      const options = { environment: environmentOf(side), signsIn: false, log };
      const service = await version.project.start(same, options);
      running.set(side, service);
      const { identity } = (
        (await version.project.load("generated/service.ts")) as {
          readonly service: ServiceDefinition;
        }
      ).service;
      const { connection } = service.running;
      if (identity === undefined) throw new Error("a version without callers");
      let token: string;
      if (world.principalId === "") {
        const everything = { permissions: ["admin"], everywhere: ["admin"] };
        const signedIn = await peopleOf(connection, identity).signIn("ann", everything);
        ({ principalId: world.principalId, tenantId: tenant } = signedIn);
        token = signedIn.tokens.access_token;
      } else {
        const to = identity.hasTenancy ? tenant : null;
        const tokens = await connection.write("test.session", (context) =>
          issueSession(identity, context, { principalId: world.principalId, tenant: to }),
        );
        token = tokens.access_token;
      }
      const note = (failure: Failure): void => {
        const because = failure.kind === "broken" ? ` because ${world.lastError}` : "";
        world.failures.push({ ...failure, text: `${failure.text}${because}` });
      };
      const count = (what: string): void => {
        world.stats[what] = (world.stats[what] ?? 0) + 1;
      };
      world.callers.set(side, new Caller(side, version, { url: service.url, token, note, count }));
    },
    async stop(side) {
      const service = running.get(side);
      running.delete(side);
      world.callers.delete(side);
      await service?.stop();
    },
    async end() {
      await Promise.all([...running.values()].map((service) => service.stop()));
      receiving.close();
      await drop();
      rmSync(data, { recursive: true, force: true });
    },
  };
  return world;
}
