// The realtime plane of a process: who is connected, and what takes durable signals from their transactions to them
// (architecture.md "Realtime").
import { fail } from "../contract/errors.js";
import type { ExecutionContext, Resources } from "../operations/context.js";
import type { Identity } from "../operations/identity.js";
import { Lifetime } from "../operations/lifetime.js";
import type { SignalBus } from "./bus-port.js";
import { checkTopics, resumePoint, type Handshake } from "./handshake.js";
import { memoryHub, type HubMember } from "./hub.js";
import type { RealtimeCounters, RealtimeLimits } from "./limits.js";
import { Lines } from "./lines.js";
import type { CredentialScope, SignalPlane } from "./plane-port.js";
import { mailboxOf, type MailboxOwner, type MailboxStore, type NumberedEntry } from "./port.js";
import { startNumbering } from "./numbering.js";
import { startPresence } from "./presence.js";
import { Pump, type Sink } from "./pump.js";
import { Signal } from "./signal.js";
import type { RealtimeSpec } from "./spec.js";

/** Without a bus, what other processes have numbered is found within so many milliseconds. */
const pollMillis = 1_000;
/** A credential that has ended is noticed within so many milliseconds. */
const recheckMillis = 3_000;
/** Sessions that are asked about at once. */
const rechecksAtOnce = 8;
/** Milliseconds for one read of a mailbox. */
const readMillis = 10_000;
const reportMillis = 60_000;
/** What a bus has lost without noticing is found within so many milliseconds. */
const healMillis = 10_000;
const failed = "the realtime plane failed";
/** Between the ends of two connections when the service stops, in milliseconds. */
const leavePauseMillis = 5;
/**
 * How long a stream of events may go without a sign of life, in milliseconds. Where others are told who is there, they
 * are told within a minute that somebody is not: this, a look, and what presence waits for who breaks off.
 */
const silentMillis = { present: 50_000, otherwise: 300_000 };

/** A connection as its transport has it. */
export interface Connection extends Sink {
  /** Has what was written go out now. */
  flush(): void;
  /** Ends it: the service goes away. */
  leave(): void;
  /** Ends it: its credential has ended, its device has come again, or a fault. */
  refuse(code: "core.authentication" | "core.internal" | "realtime_device_replaced"): void;
  /**
   * Ends it so that whoever is still there comes back at once; null where the transport itself finds out whether the other
   * side is there.
   */
  readonly renew: (() => void) | null;
}

export interface ConnectRequest {
  readonly context: ExecutionContext;
  readonly identity: Identity;
  readonly handshake: Handshake;
  readonly connection: Connection;
  /** Whether the credential is still good. */
  readonly isGood: () => Promise<boolean>;
  /** What connections have in common whose credentials end together: the session and what it is scoped to; null is nothing. */
  readonly sharedBy: () => string | null;
  /** Ends it once what runs on it has been answered: the service goes away. */
  readonly leave: () => Promise<void>;
}

export interface RealtimePlane extends SignalPlane {
  /**
   * Admits a connection, in the place of an earlier one of its device; `begin` starts its delivery. Throws
   * `realtime_topics_unauthorized`, `realtime_connections_limit`, `core.unavailable`, `service_draining`.
   */
  connect(request: ConnectRequest): Promise<{ begin(): void; end(): void }>;
  /** A device of a principal lives: its connection may go on, on whichever process that is. */
  sign(owner: MailboxOwner, device: string): void;
  /**
   * Ends every connection, and resolves when nothing is under way. The ends are spread over up to so many milliseconds, so
   * that what reconnects elsewhere does not come all at once.
   */
  stop(spreadMillis: number): Promise<void>;
}

interface Admitted extends Pick<ConnectRequest, "connection" | "isGood" | "sharedBy" | "leave"> {
  readonly member: HubMember;
}

/** Starts the plane. */
export function startPlane(
  spec: RealtimeSpec,
  resources: Resources,
  bus: SignalBus | null,
  limits: RealtimeLimits,
  counters: RealtimeCounters,
): RealtimePlane {
  const { database, log } = resources;
  const hub = memoryHub();
  const presence = spec.presence
    ? startPresence(
        (tenant, topic, signal) => hub.tell(tenant, { topic }, signal),
        (message) => bus?.send(message),
      )
    : null;
  const admitted = new Set<Admitted>();
  const usualSilence = spec.presence ? silentMillis.present : silentMillis.otherwise;
  const silence = limits.silentSeconds === null ? usualSilence : limits.silentSeconds * 1_000;
  const lines = new Lines({ most: limits.connections, silentMillis: silence, counters });
  let isStopped = false;
  /** Ephemeral signals that slow readers did not get since this was told last. */
  let dropped = 0;
  /** What is not kept is dropped where a connection is behind: it would only be later still. */
  const sendEphemeral = (connection: Connection, signal: Signal): void => {
    if (connection.hasEnded) return;
    if (connection.isWritable()) {
      connection.write(signal);
      return;
    }
    dropped += 1;
    // Whoever takes nothing at all is ended.
    void connection.writable();
  };
  /** Tells other processes how far mailboxes are now. */
  const tell = (entries: readonly NumberedEntry[]): void => {
    if (bus === null) return;
    const last = new Map(entries.map((entry) => [`${entry.tenant}\0${entry.principalId}`, entry]));
    const mailboxes = [...last.values()].map(
      ({ tenant, principalId, position }) => [tenant, principalId, position] as const,
    );
    bus.send({ kind: "positions", mailboxes });
  };

  const numbering = startNumbering(resources, (entries) => {
    hub.entries(entries);
    tell(entries);
  });

  /** Where mailboxes are, whatever has been heard of them: other processes number too. */
  const checkPositions = async (): Promise<void> => {
    const heads = await database.reader.mailbox.heads(hub.owners());
    for (const { head, ...owner } of heads) hub.position(owner, head);
  };
  const recheck = async (of?: CredentialScope): Promise<void> => {
    // Connections of one session are asked about once.
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
  };
  const ended = (of: CredentialScope): void =>
    void recheck(of).catch((error: unknown) => log.error({ err: error }, failed));
  const reportDropped = async (): Promise<void> => {
    if (dropped > 0) log.warn({ dropped }, "signals on topics were dropped for slow readers");
    dropped = 0;
  };
  const repeat = (millis: number, work: () => Promise<void>): NodeJS.Timeout => {
    let running = false;
    return setInterval(() => {
      if (running) return;
      running = true;
      work()
        .catch((error: unknown) => log.error({ err: error }, failed))
        .finally(() => {
          running = false;
        });
    }, millis).unref();
  };
  const timers = [
    repeat(bus === null ? pollMillis : healMillis, checkPositions),
    repeat(recheckMillis, () => recheck()),
    setInterval(() => lines.endSilent(), Math.min(recheckMillis, silence / 2)).unref(),
    repeat(reportMillis, reportDropped),
  ];
  bus?.listen({
    heard(message) {
      switch (message.kind) {
        case "signal": {
          const { tenant, to, name, data } = message;
          hub.publish(tenant, to, new Signal(name, data, null));
          break;
        }
        case "positions":
          for (const [tenant, principalId, position] of message.mailboxes)
            hub.position({ tenant, principalId }, position);
          break;
        case "ended":
          ended(message.of);
          break;
        case "sign":
          lines.hear(message, message.device);
          break;
        case "presence":
          presence?.heard(message);
      }
    },
    resumed() {
      presence?.announce();
      checkPositions().catch((error: unknown) => log.error({ err: error }, failed));
    },
  });
  presence?.announce();

  return {
    wake: numbering.wake,

    credentialsEnded(of) {
      ended(of);
      bus?.send({ kind: "ended", of });
    },

    publish(tenant, to, signal) {
      hub.publish(tenant, to, signal);
      bus?.send({ kind: "signal", tenant, to, name: signal.name, data: signal.data });
    },

    async connect({ context, identity, handshake, connection, isGood, sharedBy, leave }) {
      const owner = mailboxOf(context, identity);
      // Each read is the principal's, with an end of its own: the connection may live for days.
      const payer = { key: owner.principalId, isAnonymous: false };
      const mailbox = (): MailboxStore =>
        database.read({ lifetime: Lifetime.within(readMillis), payer }).mailbox;
      await checkTopics(spec, handshake.topics, context);
      if (isStopped) throw fail("service_draining");
      const leaveLine = lines.enter({
        ...owner,
        // Who has gone in the meantime takes no place of one that is there.
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
      // Into the hub first: what is numbered from here on is heard of, or read.
      const unhear = hub.join(member);
      const one: Admitted = { member, connection, isGood, sharedBy, leave };
      admitted.add(one);
      const end = (): void => {
        if (!admitted.delete(one)) return;
        leaveLine();
        unhear();
        depart?.();
      };
      try {
        const after = await resumePoint(mailbox(), owner, handshake);
        if (isStopped) throw fail("service_draining");
        return {
          begin() {
            if (!admitted.has(one)) return;
            depart = presence?.enter(
              topics.map((topic) => [owner.tenant, topic, owner.principalId] as const),
            );
            pump = new Pump({
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
    },

    sign(owner, device) {
      if (lines.sign(owner, device)) bus?.send({ kind: "sign", ...owner, device });
    },

    async stop(spreadMillis) {
      isStopped = true;
      for (const timer of timers) clearInterval(timer);
      const span = Math.min(admitted.size * leavePauseMillis, spreadMillis);
      await Promise.all(
        [...admitted].map(async ({ leave }) => {
          await new Promise((resolve) => setTimeout(resolve, Math.random() * span));
          await leave();
        }),
      );
      presence?.stop();
      await numbering.stop();
    },
  };
}

function concerns(of: CredentialScope | undefined, member: HubMember): boolean {
  if (of === undefined) return true;
  return "tenant" in of ? of.tenant === member.tenant : of.principalId === member.principalId;
}
