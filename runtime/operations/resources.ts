// What every invocation of a service works with.
import type { AnswerBudget } from "./answer-budget.js";
import type { Attempts } from "./attempts.js";
import type { SignalPlane } from "../ports/signals.js";
import type { Objects } from "../ports/objects.js";
import type { Clock } from "../ports/clock.js";
import type { Database } from "../ports/database.js";
import type { Keys } from "./keys.js";
import type { Log } from "../ports/log.js";
import type { Observer } from "../ports/observer.js";
import type { RateLimiter } from "../ports/rate-limiter.js";
import type { Sealer } from "./sealer.js";
import type { Signer } from "../ports/signer.js";
import type { StoreKey } from "../ports/store-key.js";
import type { ExecutionContext } from "./context.js";

/** How much a read of many documents may take; null is without bound (service.md "Limits"). */
export interface ReadLimits {
  /** Documents that a read without a size returns. */
  readonly documents: number | null;
  /** The highest page number that lists scan for. */
  readonly pages: number | null;
}

/** What one query may cost, by who asks, in the units of `query-cost.ts`; null is without bound. */
export interface QueryBudgets {
  readonly callers: number | null;
  readonly anonymous: number | null;
}

/** An integration event as it is staged. */
export interface StagedEvent {
  readonly id: string;
  readonly name: string;
  readonly tenant: string;
  /** Sealed, and bound to the id. */
  readonly payload: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** What every invocation of a service works with. */
export interface Resources {
  /** The deadline of operations that declare none, in seconds. */
  readonly deadlineSeconds: number;
  readonly clock: Clock;
  readonly database: Database;
  readonly log: Log;
  readonly signer: Signer;
  readonly keys: Keys;
  /** Seals the payloads of the outbox. */
  readonly sealer: Sealer;
  readonly limiter: RateLimiter;
  readonly readLimits: ReadLimits;
  readonly queryBudgets: QueryBudgets;
  readonly answers: AnswerBudget;
  readonly objects: Objects;
  /** See `ExecutionContext.publicUrl`. */
  readonly publicUrl: () => string;
  /** Seconds after which an unfinished upload in parts is removed. */
  readonly uploadSeconds: number;
  /** Attempts at passwords. */
  readonly loginAttempts: Attempts;
  /** Requests of password resets. */
  readonly resetAttempts: Attempts;
  /** The realtime plane. */
  readonly signals: SignalPlane;
  /** Learns what has been committed for others. */
  readonly observer: Observer;
  /** What the families of the service have read of the environment, by member; see `settingsOf`. */
  readonly familySettings: Readonly<Record<string, unknown>>;
  /** Has families do what they do with an integration event, in the transaction that stages it. */
  readonly staged: (context: ExecutionContext, event: StagedEvent) => Promise<void>;
  /** Wakes whoever does the work that waits in the store of this key. */
  readonly wake: (key: StoreKey<unknown>) => void;
}
