// What an operation knows about its invocation. Passed as an argument, never ambient.
import type { LoginThrottle } from "../authn/login-throttle.js";
import type { Database, Transaction } from "./database.js";
import type { Identity } from "./identity.js";
import type { Keys } from "./keys.js";
import type { Lifetime } from "./lifetime.js";
import type { Log } from "./log.js";
import type { Signer } from "./signer.js";

/** Identifiers of one invocation (decisions.md "Idempotency, deadlines, metadata"). */
export interface InvocationMetadata {
  /** Ours, fresh for each request. */
  readonly requestId: string;
  /** The caller's UUID where it sent a well-formed one, else fresh. */
  readonly correlationId: string;
  readonly causationId: string;
  /** W3C `traceparent`, where the caller sent a well-formed one. */
  readonly traceparent: string | undefined;
}

/** What every invocation of a service works with. */
export interface Resources {
  readonly database: Database;
  readonly log: Log;
  readonly signer: Signer;
  readonly keys: Keys;
  readonly loginThrottle: LoginThrottle;
}

/** The context of one invocation. */
export class ExecutionContext {
  readonly operationId: string;
  readonly metadata: InvocationMetadata;
  /** Who is calling, or null. */
  readonly identity: Identity | null;
  /** The tenant whose data this invocation sees. */
  readonly tenant: string;
  /** Where the request comes from, "" for work of the service itself. Of IPv6 it is the /64. */
  readonly clientAddress: () => string;
  readonly idempotencyKey: string | undefined;
  readonly lifetime: Lifetime;
  readonly log: Log;
  readonly signer: Signer;
  readonly keys: Keys;
  readonly loginThrottle: LoginThrottle;
  readonly #database: Database;
  #transaction: Transaction;

  constructor(
    { database, log, signer, keys, loginThrottle }: Resources,
    fields: {
      readonly operationId: string;
      readonly metadata: InvocationMetadata;
      readonly tenant: string;
      readonly idempotencyKey: string | undefined;
      readonly lifetime: Lifetime;
      readonly clientAddress?: () => string;
      readonly identity?: Identity | null;
    },
  ) {
    this.operationId = fields.operationId;
    this.metadata = fields.metadata;
    this.tenant = fields.tenant;
    this.idempotencyKey = fields.idempotencyKey;
    this.lifetime = fields.lifetime;
    this.clientAddress = fields.clientAddress ?? (() => "");
    this.identity = fields.identity ?? null;
    this.log = log;
    this.signer = signer;
    this.keys = keys;
    this.loginThrottle = loginThrottle;
    this.#database = database;
    this.#transaction = database.reader;
  }

  /** Aborts at the deadline and when the caller goes away. */
  get signal(): AbortSignal {
    return this.lifetime.signal;
  }

  /** The running transaction; outside one (in `before` and `wrap` hooks, in reading operations) committed state, read only. */
  get transaction(): Transaction {
    return this.#transaction;
  }

  /** Runs `work` in a write transaction of its own: for operations that must not hold one all along. */
  commit<T>(work: () => Promise<T>): Promise<T> {
    return this.#database.write({ lifetime: this.lifetime }, (transaction) =>
      this.within(transaction, work),
    );
  }

  /** Runs `work` with `transaction` bound. The pipeline alone calls this. */
  async within<T>(transaction: Transaction, work: () => Promise<T>): Promise<T> {
    this.#transaction = transaction;
    try {
      return await work();
    } finally {
      this.#transaction = this.#database.reader;
    }
  }
}
