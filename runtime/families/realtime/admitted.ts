// A connection that is admitted: its places among the principal's connections and in the hub, and
// how what it hears reaches it (architecture.md "Realtime").
import type { Resources } from "../../operations/resources.js";
import type { Identity } from "../../operations/identity.js";
import { Lifetime } from "../../ports/lifetime.js";
import { mailboxStore } from "../../ports/mailbox.js";
import { Signal } from "../../ports/signal.js";
import type { Connection } from "./connection.js";
import type { ConnectionCaller } from "./connection-caller.js";
import { Ephemeral } from "./ephemeral.js";
import type { HubMember, Hub } from "./hub.js";
import type { RealtimeCounters } from "./limits.js";
import type { Presence } from "./presence.js";
import type { PrincipalConnections, PrincipalConnection } from "./principal-connections.js";
import { Pump, type PumpSource } from "./pump.js";
import { traceSent } from "./signal-trace.js";
import type { RealtimeSpec } from "./spec.js";
import { Subscriptions, type TopicEar } from "./subscriptions.js";
import { entriesTold } from "./told-entries.js";

/** Milliseconds for one read of a mailbox. */
const readMillis = 10_000;

/** What connections are admitted to. */
export interface Admission {
  readonly spec: RealtimeSpec;
  readonly resources: Pick<Resources, "clock" | "database" | "kept" | "log" | "tracer">;
  readonly hub: Hub;
  readonly presence: Presence | null;
  readonly byPrincipal: PrincipalConnections;
  readonly admitted: Set<Admitted>;
  readonly source: PumpSource;
  /** Whether the plane takes no connection any more. */
  readonly isStopped: () => boolean;
  readonly counters: RealtimeCounters;
}

/**
 * One connection of many that are idle most of the time: an object instead of closures, which take
 * several times its memory.
 */
export class Admitted implements HubMember, PrincipalConnection, TopicEar {
  readonly tenant: string;
  readonly principalId: string;
  readonly device: string | null;
  readonly connection: Connection;
  readonly caller: ConnectionCaller;
  readonly subscriptions: Subscriptions;
  readonly ephemeral: Ephemeral;
  readonly #admission: Admission;
  #wanted = 0;
  /** There is none before the delivery begins: until then nobody is told of the connection. */
  #pump: Pump | undefined;

  /** `device` is the one that the client named. */
  constructor(
    admission: Admission,
    tenant: string,
    device: string | null,
    connection: Connection,
    caller: ConnectionCaller,
  ) {
    this.#admission = admission;
    this.tenant = tenant;
    this.principalId = caller.identity.principalId;
    this.device = device;
    this.connection = connection;
    this.caller = caller;
    this.subscriptions = new Subscriptions(admission.spec, this);
    this.ephemeral = new Ephemeral(this, admission.counters);
  }

  /**
   * Takes its places, in that of an earlier connection of its device: every signal that is numbered
   * from now on is either heard or read. Throws `realtime_connections_limit`, `core.unavailable`.
   */
  enter(topics: readonly string[]): void {
    const { byPrincipal, hub, admitted } = this.#admission;
    byPrincipal.enter(this);
    this.subscriptions.begin(topics);
    hub.join(this);
    admitted.add(this);
  }

  /** Starts its delivery, of what the mailbox has after a position; nothing if it has ended. */
  begin(after: number): void {
    const { admitted, source } = this.#admission;
    if (!admitted.has(this)) return;
    this.#pump = new Pump(source, this, this.connection, after);
    for (const topic of this.subscriptions.topics) this.#show(topic);
    void this.#pump.start();
    this.#pump.wants(this.#wanted);
    this.ephemeral.begin();
  }

  /** Gives up its places. */
  end(): void {
    const { byPrincipal, hub, admitted } = this.#admission;
    if (!admitted.delete(this)) return;
    byPrincipal.leave(this);
    this.subscriptions.end();
    hub.leave(this);
  }

  hint(signal: Signal): void {
    if (this.#pump === undefined) this.wants(signal.position ?? 0);
    else this.#pump.hint(signal);
  }

  signals(signals: readonly Signal[]): void {
    this.ephemeral.send(signals);
  }

  wants(position: number): void {
    this.#wanted = Math.max(this.#wanted, position);
    this.#pump?.wants(position);
  }

  hear(topic: string): void {
    this.#admission.hub.hear(this, topic);
    if (this.#pump !== undefined) this.#show(topic);
  }

  unhear(topic: string): void {
    const { hub, presence } = this.#admission;
    hub.unhear(this, topic);
    if (this.#pump !== undefined) presence?.leave([this.tenant, topic, this.principalId], this);
  }

  ended(topics: readonly string[]): void {
    this.#admission.counters.topicsEnded += topics.length;
    // Written whether or not the reader is behind: there are no more of these than topics.
    if (!this.connection.hasEnded) this.connection.write(topicsEnded(topics));
  }

  /** Signals have not reached it, and it has been told so: it is told again who is present. */
  missed(): void {
    const { presence } = this.#admission;
    for (const topic of this.subscriptions.topics) presence?.again(this.tenant, topic, this);
  }

  #show(topic: string): void {
    this.#admission.presence?.enter([this.tenant, topic, this.principalId], this);
  }
}

/** `realtime.unsubscribed`: the topics that ended, and why. */
function topicsEnded(topics: readonly string[]): Signal {
  const data = { topics, code: "realtime_topics_unauthorized" };
  return new Signal("realtime.unsubscribed", JSON.stringify(data), null);
}

/**
 * The mailboxes of a process, as pumps read them. Each read counts as the principal's work and has
 * a deadline of its own, since the connection may live for days.
 */
export function pumpSource(
  spec: RealtimeSpec,
  resources: Pick<Resources, "database" | "kept" | "log" | "tracer">,
): PumpSource {
  const { database, log, tracer } = resources;
  return {
    mailbox({ principalId }: Pick<Identity, "principalId">) {
      const payer = { key: principalId, isAnonymous: false };
      return database.read({ lifetime: Lifetime.within(readMillis), payer }).of(mailboxStore);
    },
    tell: entriesTold(spec, resources),
    wrote: (signal) => traceSent(tracer, signal),
    onFault: (error) => log.error({ err: error }, "a mailbox could not be delivered"),
  };
}
