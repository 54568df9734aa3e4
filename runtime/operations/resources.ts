// What every invocation of a service works with.
import type { Erased, ErasedCounts } from "./erased.js";
import type { ExportedLine, ExportedPerson } from "./exported.js";
import type { Recorded } from "./recorded.js";
import type { Clock } from "../ports/clock.js";
import type { KeptForms } from "./kept-values.js";
import type { Log } from "../ports/log.js";
import type { AnswerBudget } from "./answer-budget.js";
import type { SignalPlane } from "../ports/signals.js";
import type { Database } from "../ports/database.js";
import type { Observer } from "../ports/observer.js";
import type { RateLimiter } from "../ports/rate-limiter.js";
import type { ResourceKey } from "../ports/resource-key.js";
import type { Sealer } from "./sealer.js";
import type { Signer } from "../ports/signer.js";
import type { StoreKey } from "../ports/store-key.js";
import type { Tracer } from "../ports/tracer.js";
import type { QueryBudgets, ReadLimits, Departed, StagedEvent } from "./invocation-facts.js";

/** What every invocation of a service works with. */
export interface Resources {
  /** The deadline of operations that declare none, in seconds. */
  readonly deadlineSeconds: number;
  readonly clock: Clock;
  readonly database: Database;
  readonly log: Log;
  /** Begins traces; null if nobody records them. */
  readonly tracer: Tracer | null;
  readonly signer: Signer;
  /** Seals the payloads of the outbox. */
  readonly sealer: Sealer;
  /** How values are kept that another version may read. */
  readonly kept: KeptForms;
  readonly limiter: RateLimiter;
  readonly readLimits: ReadLimits;
  readonly queryBudgets: QueryBudgets;
  readonly answers: AnswerBudget;
  /** See `ExecutionContext.publicUrl`. */
  readonly publicUrl: () => string;
  /** The realtime plane. */
  readonly signals: SignalPlane;
  /** Learns of events that were committed for others. */
  readonly observer: Observer;
  /**
   * A family's resource. Throws `core.configuration` if the service doesn't use that family.
   */
  of<Resource>(key: ResourceKey<Resource>): Resource;
  /** The settings of the service's families, by member; see `settingsOf`. */
  readonly familySettings: Readonly<Record<string, unknown>>;
  /**
   * Has families do what they do with an integration event, in the transaction of the context that
   * stages it.
   */
  staged(context: object, event: StagedEvent): Promise<void>;
  /**
   * Has families end what they keep of somebody who has left, in the transaction of the context.
   */
  departed(context: object, who: Departed): Promise<void>;
  /**
   * Has families keep what a transaction has changed, at the end of the transaction of the context.
   * Null where none does.
   */
  readonly recorded: ((context: object, changes: readonly Recorded[]) => Promise<void>) | null;
  /** What families keep of somebody, read as it is asked for. */
  exported(context: object, who: ExportedPerson): AsyncIterable<ExportedLine>;
  /** Has families remove what they keep of somebody, each in transactions of its own. */
  erased(context: object, who: Erased): Promise<ErasedCounts>;
  /** Wakes whoever does the work that waits in the store of this key. */
  readonly wake: (key: StoreKey<unknown>) => void;
}
