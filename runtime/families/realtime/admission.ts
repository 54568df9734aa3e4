// Admits connections to the realtime plane of a process, in place of earlier ones of their devices, and checks their
// credentials again later.
import { fail } from "../../contract/errors.js";
import type { ExecutionContext, Resources } from "../../operations/context.js";
import type { Identity } from "../../operations/identity.js";
import { Lifetime } from "../../ports/lifetime.js";
import { checkTopics, resumePoint, type Handshake } from "./handshake.js";
import type { HubMember, Hub } from "./hub.js";
import type { PrincipalConnections } from "./principal-connections.js";
import type { CredentialScope } from "../../ports/signals.js";
import { mailboxOf, type MailboxOwner, type MailboxStore } from "../../ports/mailbox.js";
import type { Presence } from "./presence.js";
import { Pump, type Sink } from "./pump.js";
import type { Signal } from "../../ports/signal.js";
import type { RealtimeSpec } from "./spec.js";
import { mailboxStore } from "../../ports/mailbox.js";

/** Sessions that are checked at once. */
const rechecksAtOnce = 8;
/** Milliseconds for one read of a mailbox. */
const readMillis = 10_000;

/** A connection as its transport provides it. */
export interface Connection extends Sink {
  /** Sends now what was written. */
  flush(): void;
  /** Ends it because the service stops. */
  leave(): void;
  /** Ends it because its credential has ended, its device has connected again, or something failed. */
  refuse(code: "core.authentication" | "core.internal" | "realtime_device_replaced"): void;
  /**
   * Ends it so that a live client comes back at once; null if the transport itself finds out whether the other side is
   * still there.
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
  /** What connections have in common whose credentials end together: the session and what it is scoped to; null is nothing. */
  readonly sharedBy: () => string | null;
  /** Ends it once its running commands have been answered, because the service stops. */
  readonly leave: () => Promise<void>;
}

/** A connection that is admitted. */
export interface Admitted extends Pick<
  ConnectRequest,
  "connection" | "isGood" | "sharedBy" | "leave"
> {
  readonly member: HubMember;
}

/** What connections are admitted to. */
export interface Admission {
  readonly spec: RealtimeSpec;
  readonly resources: Pick<Resources, "database" | "log">;
  readonly hub: Hub;
  readonly presence: Presence | null;
  readonly byPrincipal: PrincipalConnections;
  readonly admitted: Set<Admitted>;
  /** Whether the plane takes no connection any more. */
  readonly isStopped: () => boolean;
  /** Sends a signal that is not kept. */
  readonly sendEphemeral: (connection: Connection, signal: Signal) => void;
}

/**
 * Admits a connection, in the place of an earlier one of its device; `begin` starts its delivery. Throws
 * `realtime_topics_unauthorized`, `realtime_connections_limit`, `core.unavailable`, `service_draining`.
 */
export async function admit(
  { spec, resources, hub, presence, byPrincipal, admitted, isStopped, sendEphemeral }: Admission,
  { context, identity, handshake, connection, isGood, sharedBy, leave }: ConnectRequest,
): Promise<{ begin(): void; end(): void }> {
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
  const { topics } = handshake;
  let pump: Pump | undefined;
  let wanted = 0;
  let depart: (() => void) | undefined;
  const member: HubMember = {
    ...owner,
    topics,
    hint: (signal) => (pump === undefined ? keep(signal) : pump.hint(signal)),
    signals(signals) {
      if (pump === undefined) return;
      for (const signal of signals) sendEphemeral(connection, signal);
      connection.flush();
    },
    wants: (position) => {
      wanted = Math.max(wanted, position);
      pump?.wants(position);
    },
  };
  const keep = ({ position }: Signal): void => {
    wanted = Math.max(wanted, position ?? 0);
  };
  // Into the hub first: every signal that is numbered from now on is either heard or read.
  const unhear = hub.join(member);
  const one: Admitted = { member, connection, isGood, sharedBy, leave };
  admitted.add(one);
  const end = (): void => {
    if (!admitted.delete(one)) return;
    leavePlace();
    unhear();
    depart?.();
  };
  try {
    const after = await resumePoint(mailbox(), owner, handshake);
    if (isStopped()) throw fail("service_draining");
    return {
      begin() {
        if (!admitted.has(one)) return;
        depart = presence?.enter(
          topics.map((topic) => [owner.tenant, topic, owner.principalId] as const),
        );
        pump = pumpOf(resources, owner, mailbox, connection, after);
        if (presence !== null)
          for (const topic of topics)
            sendEphemeral(connection, presence.snapshot(owner.tenant, topic));
        void pump.start();
        pump.wants(wanted);
      },
      end,
    };
  } catch (error) {
    end();
    throw error;
  }
}

/** Reads of a mailbox. Each counts as the principal's work and has a deadline of its own, since the connection may live for days. */
function mailboxReads(
  { database }: Pick<Resources, "database">,
  { principalId }: MailboxOwner,
): () => MailboxStore {
  const payer = { key: principalId, isAnonymous: false };
  return () => database.read({ lifetime: Lifetime.within(readMillis), payer }).of(mailboxStore);
}

function pumpOf(
  { log }: Pick<Resources, "log">,
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
    after,
    onFault: (error) => {
      log.error({ err: error }, "a mailbox could not be delivered");
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
    if (!concerns(of, one.member)) continue;
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

function concerns(of: CredentialScope | null, member: HubMember): boolean {
  if (of === null) return true;
  return "tenant" in of ? of.tenant === member.tenant : of.principalId === member.principalId;
}
