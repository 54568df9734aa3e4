// The realtime spec: which signals and commands there are, printed by the generator (service.md
// "Realtime wire protocol").
import type { Validator } from "../../contract/validation.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { Operation } from "../../operations/operation.js";

export interface SignalDeclaration {
  /**
   * `durable` is kept in mailboxes until it is acknowledged; `ephemeral` only reaches those who are
   * connected.
   */
  readonly delivery: "durable" | "ephemeral";
  readonly audience: readonly ("principal" | "topic")[];
  /** Its first name, if it was renamed: mailboxes keep that name. */
  readonly was?: string;
  readonly validate: Validator<unknown>;
}

/**
 * Returns those of the requested topics that the caller may hear, usually by its read access to
 * their subject.
 */
export type TopicAuthorizer = (
  requested: readonly string[],
  context: ExecutionContext,
) => readonly string[] | Promise<readonly string[]>;

export type RealtimeTransport = "socketio" | "sse" | "websocket";

/** The realtime plane of a service as generated code declares it. */
export interface RealtimeSpec {
  /**
   * Where the endpoints are: `<path>/sse`, `<path>/sse/ack`, `<path>/ws`, `<path>/socket.io`,
   * `<path>/history`.
   */
  readonly path: string;
  readonly transports: readonly RealtimeTransport[];
  readonly events: Readonly<Record<string, SignalDeclaration>>;
  /** Operations that are called by frames, by the name of their event. */
  // oxlint-disable-next-line typescript/no-explicit-any -- input and result are tied together inside each operation
  readonly commands: Readonly<Record<string, Operation<any, any>>>;
  /** Null grants no topic. */
  readonly authorizeTopics: TopicAuthorizer | null;
  /** Whether those who hear a topic are told who else does. */
  readonly presence: boolean;
  readonly retentionSeconds: number;
  readonly retentionEntries: number;
}

/** Declares the realtime plane of a service. */
export function realtime(spec: RealtimeSpec): RealtimeSpec {
  return spec;
}
