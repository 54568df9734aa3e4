// The outbox spec: which integration events there are and where each goes, printed by the
// generator.
import type { FirstNames } from "../../contract/former-names.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { IntegrationEvent } from "./event.js";
import type { AnyMailRenderer } from "./mail.js";

/**
 * Where events go. Resolves once the event is safe there; rejecting leads to a further attempt. At
 * least once, unordered. The context is of the event's tenant and nobody's: it reads what is
 * committed, and its signal aborts when the attempt is given up.
 */
export type Destination = (event: IntegrationEvent, context: ExecutionContext) => Promise<void>;

export interface OutboxSpec {
  /** By event: a destination of the author's, or the name of one that the deployment chooses. */
  readonly events: Readonly<Record<string, Destination | string>>;
  /** What events were called first: they are stored under these names. */
  readonly was?: FirstNames;
  /** Turns events into mails if their destination is a mail server. */
  readonly mail?: AnyMailRenderer;
}

/** Declares the outbox of a service. */
export function outbox(spec: OutboxSpec): OutboxSpec {
  return spec;
}
