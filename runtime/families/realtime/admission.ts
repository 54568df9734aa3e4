// Admits connections to the realtime plane of a process, in place of earlier ones of their devices,
// and checks their credentials again later.
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { Resources } from "../../operations/resources.js";
import { subjectsOf, type Identity } from "../../operations/identity.js";
import { Lifetime } from "../../ports/lifetime.js";
import { beginDevice } from "./acknowledge.js";
import { checkTopics, resumePoint, type Handshake } from "./handshake.js";
import type { HubMember, Hub } from "./hub.js";
import type { PrincipalConnections } from "./principal-connections.js";
import type { CredentialScope } from "../../ports/signals.js";
import { mailboxOf, type MailboxOwner, type MailboxStore } from "../../ports/mailbox.js";
import type { Presence } from "./presence.js";
import { Pump, type Sink } from "./pump.js";
import { Signal } from "../../ports/signal.js";
import { entriesTold } from "./told-entries.js";
import { traceSent } from "./signal-trace.js";
import type { RealtimeSpec, RealtimeTransport } from "./spec.js";
import { mailboxStore } from "../../ports/mailbox.js";
import { Ephemeral } from "./ephemeral.js";
import type { RealtimeCounters } from "./limits.js";
import { subscriptions, type Subscriptions } from "./subscriptions.js";
import type { Listening } from "./topic-checks.js";

/** Sessions that are checked at once. */
const rechecksAtOnce = 8;
/** Milliseconds for one read of a mailbox. */
const readMillis = 10_000;

/** A connection as its transport provides it. */
export interface Connection extends Sink {
  readonly transport: RealtimeTransport;
  /** Sends the written frames now. */
  flush(): void;
  /** Ends it because the service stops. */
  leave(): void;
  /**
   * Ends it because its credential has ended, its device has connected again, or something failed.
   */
  refuse(code: "core.authentication" | "core.internal" | "realtime_device_replaced"): void;
  /**
   * Ends it so that a live client comes back at once; null if the transport itself finds out
   * whether the other side is still there.
   */
  readonly reconnect: (() => void) | null;
}

export interface ConnectRequest {
  readonly context: ExecutionContext;
  readonly identity: Identity;
  readonly handshake: Handshake;
  readonly connection: Connection;
  /** Whether the credential is still valid. */
  readonly isGood: () => Promise<boolean>;
  /**
   * What connections have in common whose credentials end together: the session and what it is
   * scoped to; null is nothing.
   */
  readonly sharedBy: () => string | null;
  /** Who is calling now: another session may have taken the place of the first. */
  readonly identityNow: () => Identity;
  /** A context of the caller, as for a new request, with a deadline of its own. */
  readonly contextOf: () => ExecutionContext;
  /** Ends it once its running commands have been answered, because the service stops. */
  readonly leave: () => Promise<void>;
}

/** A connection that is admitted. */
export interface Admitted
  extends
    Pick<ConnectRequest, "connection" | "isGood" | "sharedBy" | "leave" | "identityNow">,
    Listening {
  readonly member: HubMember;
  readonly ephemeral: Ephemeral;
}

/** An admitted connection. */
export interface Admittance {
  /** Starts its delivery. */
  begin(): void;
  end(): void;
  readonly subscriptions: Subscriptions;
}

/** What connections are admitted to. */
export interface Admission {
  readonly spec: RealtimeSpec;
  readonly resources: Pick<Resources, "clock" | "database" | "kept" | "log" | "tracer">;
  readonly hub: Hub;
  readonly presence: Presence | null;
  readonly byPrincipal: PrincipalConnections;
  readonly admitted: Set<Admitted>;
  /** Whether the plane takes no connection any more. */
  readonly isStopped: () => boolean;
  readonly counters: RealtimeCounters;
}

/**
 * Admits a connection, in the place of an earlier one of its device; `begin` starts its delivery.
 * Throws `realtime_topics_unauthorized`, `realtime_connections_limit`, `core.unavailable`,
 * `service_draining`.
 */
export async function admit(admission: Admission, request: ConnectRequest): Promise<Admittance> {
  const { spec, resources, byPrincipal, admitted, isStopped } = admission;
  const { context, identity, handshake, connection } = request;
  const owner = mailboxOf(context, identity);
  const mailbox = mailboxReads(resources, owner);
  await checkTopics(spec, handshake.topics, context);
  if (isStopped()) throw fail("service_draining");
  const leavePlace = byPrincipal.enter({
    ...owner,
    // A connection that has ended in the meantime must not replace a live one.
    device: connection.hasEnded ? null : handshake.named,
    connection,
    end: () => end(),
  });
  const place = placeInHub(admission, request, owner);
  const { one } = place;
  admitted.add(one);
  const end = (): void => {
    if (!admitted.delete(one)) return;
    leavePlace();
    place.leave();
  };
  try {
    const after = await resumePoint(mailbox(), owner, handshake, (position) =>
      beginDevice(resources, owner, handshake.device, position),
    );
    if (isStopped()) throw fail("service_draining");
    return {
      begin() {
        if (admitted.has(one)) place.begin(pumpOf(admission, owner, mailbox, connection, after));
      },
      end,
      subscriptions: one.subscriptions,
    };
  } catch (error) {
    end();
    throw error;
  }
}

/**
 * A connection's place in the hub: it hears what is its own and its topics, and is told who else
 * hears them.
 */
interface PlaceInHub {
  readonly one: Admitted;
  /** Delivers from now on, kept entries by the pump. */
  begin(pump: Pump): void;
  leave(): void;
}

/** Takes a place: every signal that is numbered from now on is either heard or read. */
function placeInHub(
  { spec, hub, presence, counters }: Admission,
  { handshake, connection, isGood, sharedBy, leave, identityNow, contextOf }: ConnectRequest,
  owner: MailboxOwner,
): PlaceInHub {
  let pump: Pump | undefined;
  let wanted = 0;
  const wants = (position: number): void => {
    wanted = Math.max(wanted, position);
    pump?.wants(position);
  };
  const member: HubMember = {
    ...owner,
    hint: (signal) => (pump === undefined ? wants(signal.position ?? 0) : pump.hint(signal)),
    signals: (signals) => ephemeral.send(signals),
    wants,
  };
  const enter = (topic: string): (() => void) =>
    presence?.enter([owner.tenant, topic, owner.principalId], member) ?? (() => undefined);
  /** Before the delivery begins nobody is told of the connection. */
  const departures = new Map<string, () => void>();
  const topics = subscriptions(
    {
      spec,
      hear(topic) {
        const unhear = hub.hear(member, topic);
        if (pump !== undefined) departures.set(topic, enter(topic));
        return () => {
          unhear();
          departures.get(topic)?.();
          departures.delete(topic);
        };
      },
      ended(gone) {
        counters.topicsEnded += gone.length;
        // Written whether or not the reader is behind: there are no more of these than topics.
        if (!connection.hasEnded) connection.write(topicsEnded(gone));
      },
    },
    handshake.topics,
  );
  const ephemeral = new Ephemeral({
    connection,
    counters,
    topics: () => topics.topics,
    missed: () => {
      for (const topic of topics.topics) presence?.again(owner.tenant, topic, member);
    },
  });
  const unhear = hub.join(member);
  const caller = (): string => {
    const { principalId, actorId, sessionId } = identityNow();
    return JSON.stringify([owner.tenant, principalId, actorId, sessionId]);
  };
  const checked = { connection, isGood, sharedBy, leave, identityNow, contextOf, caller };
  return {
    one: { ...checked, member, ephemeral, subscriptions: topics },
    begin(started) {
      pump = started;
      for (const topic of topics.topics) departures.set(topic, enter(topic));
      void pump.start();
      pump.wants(wanted);
      ephemeral.begin();
    },
    leave() {
      topics.end();
      unhear();
    },
  };
}

/** `realtime.unsubscribed`: the topics that ended, and why. */
function topicsEnded(topics: readonly string[]): Signal {
  const data = { topics, code: "realtime_topics_unauthorized" };
  return new Signal("realtime.unsubscribed", JSON.stringify(data), null);
}

/**
 * Reads of a mailbox. Each counts as the principal's work and has a deadline of its own, since the
 * connection may live for days.
 */
function mailboxReads(
  { database }: Pick<Resources, "database">,
  { principalId }: MailboxOwner,
): () => MailboxStore {
  const payer = { key: principalId, isAnonymous: false };
  return () => database.read({ lifetime: Lifetime.within(readMillis), payer }).of(mailboxStore);
}

function pumpOf(
  { spec, resources }: Pick<Admission, "spec" | "resources">,
  owner: MailboxOwner,
  mailbox: () => MailboxStore,
  connection: Connection,
  after: number,
): Pump {
  return new Pump({
    owner,
    sink: connection,
    mailbox: {
      read: (...asked) => mailbox().read(...asked),
      state: (...asked) => mailbox().state(...asked),
    },
    tell: entriesTold(spec, resources),
    wrote: (signal) => traceSent(resources.tracer, signal),
    after,
    onFault: (error) => {
      resources.log.error({ err: error }, "a mailbox could not be delivered");
      connection.refuse("core.internal");
    },
  });
}

/** Ends connections whose credentials have ended; checks all, or those that a message concerns. */
export async function recheck(
  admitted: ReadonlySet<Admitted>,
  of: CredentialScope | null,
): Promise<void> {
  // One check covers all connections of a session.
  const groups = new Map<unknown, Admitted[]>();
  for (const one of admitted) {
    if (!concerns(of, one)) continue;
    const shared = one.sharedBy() ?? one;
    groups.set(shared, [...(groups.get(shared) ?? []), one]);
  }
  const waiting = [...groups.values()];
  const work = async (): Promise<void> => {
    for (let group = waiting.shift(); group !== undefined; group = waiting.shift())
      if ((await group[0]?.isGood()) === false)
        for (const { connection } of group) connection.refuse("core.authentication");
  };
  await Promise.all(Array.from({ length: rechecksAtOnce }, work));
}

/** Whether the end of credentials or permissions may be about a connection. */
export function concerns(
  of: CredentialScope | null,
  { member, identityNow }: Pick<Admitted, "member" | "identityNow">,
): boolean {
  if (of === null || "everywhere" in of) return true;
  if ("tenant" in of) return of.tenant === member.tenant;
  // If somebody acts for the principal, both must be permitted.
  return subjectsOf(identityNow()).includes(of.principalId);
}
