// What an operation knows about its invocation. Passed as an argument, never ambient.
import type { Attempts } from "../authn/attempts.js";
import { everything, type Filter } from "../query/ast.js";
import type { CredentialScope, SignalPlane } from "../realtime/plane-port.js";
import type { Objects } from "../storage/port.js";
import type { Database, Transaction } from "./database.js";
import type { Identity } from "./identity.js";
import type { Keys } from "./keys.js";
import type { Lifetime } from "./lifetime.js";
import type { Log } from "./log.js";
import type { RateLimiter } from "./rate-limiter.js";
import type { Sealer } from "./sealer.js";
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

/** How much a read of many documents may take; null is without bound (service.md "Limits"). */
export interface ReadLimits {
  /** Documents that a read without a size returns. */
  readonly documents: number | null;
  /** The highest page number that lists scan for. */
  readonly pages: number | null;
}

/** What every invocation of a service works with. */
export interface Resources {
  readonly database: Database;
  readonly log: Log;
  readonly signer: Signer;
  readonly keys: Keys;
  /** Seals the payloads of the outbox. */
  readonly sealer: Sealer;
  readonly limiter: RateLimiter;
  readonly readLimits: ReadLimits;
  readonly objects: Objects;
  /** Seconds after which an upload in parts that has not ended is given up. */
  readonly uploadSeconds: number;
  /** Attempts at passwords. */
  readonly loginAttempts: Attempts;
  /** Requests of password resets. */
  readonly resetAttempts: Attempts;
  /** The realtime plane. */
  readonly signals: SignalPlane;
  /** Called after a commit that staged an event. */
  readonly wakeRelay: () => void;
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
  readonly resources: Resources;
  /** What the audit log says of this invocation besides who called. */
  readonly notes: Record<string, string> = {};
  readonly #scopes = new Map<string, Filter>();
  #transaction: Transaction;
  readonly #onCommit: (() => void)[] = [];

  constructor(
    resources: Resources,
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
    this.resources = resources;
    this.#transaction = resources.database.reader;
  }

  get log(): Log {
    return this.resources.log;
  }

  get keys(): Keys {
    return this.resources.keys;
  }

  /** Aborts at the deadline and when the caller goes away. */
  get signal(): AbortSignal {
    return this.lifetime.signal;
  }

  /** The running transaction; outside one (in `before` and `wrap` hooks, in reading operations) committed state, read only. */
  get transaction(): Transaction {
    return this.#transaction;
  }

  /**
   * Runs `work` in a write transaction of its own: for operations that must not hold one all along. `exclusive` is a
   * name that one write may hold at a time.
   */
  async commit<T>(
    work: (transaction: Transaction) => Promise<T>,
    exclusive?: string | undefined,
  ): Promise<T> {
    const { database } = this.resources;
    this.#onCommit.length = 0;
    const options = { lifetime: this.lifetime, exclusive };
    const result = await database.write(options, async (transaction) => {
      this.#transaction = transaction;
      try {
        return await work(transaction);
      } finally {
        this.#transaction = database.reader;
      }
    });
    for (const work of this.#onCommit.splice(0)) work();
    return result;
  }

  /** Names something for the audit log, such as the principal that a login turned out to be. Never a secret. */
  note(fields: Readonly<Record<string, string>>): void {
    Object.assign(this.notes, fields);
  }

  /** Runs `work` once the running transaction has committed, and not where it does not; outside one, at once. */
  whenCommitted(work: () => void): void {
    if (this.#transaction === this.resources.database.reader) work();
    else this.#onCommit.push(work);
  }

  /** Once the running transaction has committed, connections whose credential has ended in it end too. */
  endsCredentials(of: CredentialScope): void {
    this.whenCommitted(() => this.resources.signals.credentialsEnded(of));
  }

  /** From here on the invocation sees only those rows of a document that pass the filter as well. */
  narrow(document: string, filter: Filter): void {
    const before = this.scopeOf(document);
    const filters = before === everything ? [filter] : [before, filter];
    this.#scopes.set(document, { kind: "all", filters });
  }

  /** What rows of a document must pass, besides its tenant; `everything` where nothing narrows it. */
  scopeOf(document: string): Filter {
    return this.#scopes.get(document) ?? everything;
  }
}
