// The realtime plane of a process: who is connected, and what takes durable signals from their transactions to them
// (architecture.md "Realtime").
import { setTimeout as sleep } from "node:timers/promises";
import type { Resources } from "../../operations/context.js";
import type { Log } from "../../ports/log.js";
import { repeat } from "../../operations/repeat.js";
import {
  admit,
  recheck,
  type Admission,
  type Admitted,
  type Connection,
  type ConnectRequest,
} from "./admission.js";
import type { BusMessage, SignalBus } from "../../ports/bus.js";
import { memoryHub, type Hub } from "./hub.js";
import type { RealtimeCounters, RealtimeLimits } from "./limits.js";
import { PrincipalConnections } from "./principal-connections.js";
import type { CredentialScope, SignalPlane } from "../../ports/signals.js";
import type { MailboxOwner, NumberedEntry } from "../../ports/mailbox.js";
import { startNumbering } from "./numbering.js";
import { startPresence, type Presence } from "./presence.js";
import { Signal } from "../../ports/signal.js";
import type { RealtimeSpec } from "./spec.js";
import { mailboxStore } from "../../ports/mailbox.js";

/** Without a bus, signals that other processes have numbered are found within so many milliseconds. */
const pollMillis = 1_000;
/** A credential that has ended is noticed within so many milliseconds. */
const recheckMillis = 3_000;
const reportMillis = 60_000;
/** Signals that a bus has lost unnoticed are found within so many milliseconds. */
const healMillis = 10_000;
const failed = "the realtime plane failed";
/** Milliseconds between the ends of two connections when the service stops. */
const leavePauseMillis = 5;
/**
 * How long an SSE stream may go without a sign of life, in milliseconds. With presence it is shorter, so that others learn
 * within a minute that somebody has gone: this time, an interval between checks, and the wait of presence together.
 */
const silentMillis = { present: 50_000, otherwise: 300_000 };

export interface RealtimePlane extends SignalPlane {
  /**
   * Admits a connection, in the place of an earlier one of its device; `begin` starts its delivery. Throws
   * `realtime_topics_unauthorized`, `realtime_connections_limit`, `core.unavailable`, `service_draining`.
   */
  connect(request: ConnectRequest): Promise<{ begin(): void; end(): void }>;
  /** A device of a principal is alive: its connection may continue, on whichever process it is. */
  sign(owner: MailboxOwner, device: string): void;
  /**
   * Ends every connection, and resolves when nothing is under way. The ends are spread over up to so many milliseconds, so
   * that what reconnects elsewhere does not come all at once.
   */
  stop(spreadMillis: number): Promise<void>;
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
  const most = limits.connections;
  const byPrincipal = new PrincipalConnections({ most, silentMillis: silence, counters });
  let isStopped = false;
  const slow = slowReaders(log);
  const admission: Admission = {
    spec,
    resources,
    hub,
    presence,
    byPrincipal,
    admitted,
    isStopped: () => isStopped,
    sendEphemeral: slow.send,
  };
  const numbering = startNumbering(resources, (entries) => {
    hub.entries(entries);
    bus?.send({ kind: "positions", mailboxes: positionsOf(entries) });
  });

  /** Reads the positions of mailboxes, whatever hints have arrived, because other processes number too. */
  const checkPositions = async (): Promise<void> => {
    const heads = await database.reader.of(mailboxStore).heads(hub.owners());
    for (const { head, ...owner } of heads) hub.position(owner, head);
  };
  const onFault = (error: unknown): void => log.error({ err: error }, failed);
  const ended = (of: CredentialScope): void => void recheck(admitted, of).catch(onFault);
  const repeated = [
    repeat(bus === null ? pollMillis : healMillis, checkPositions, onFault),
    repeat(recheckMillis, () => recheck(admitted, null), onFault),
    repeat(Math.min(recheckMillis, silence / 2), () => byPrincipal.endSilent(), onFault),
    repeat(reportMillis, slow.report, onFault),
  ];
  bus?.listen({
    heard: (message) => heard(message, { hub, byPrincipal, presence, ended }),
    resumed() {
      presence?.announce();
      checkPositions().catch(onFault);
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

    connect: (request) => admit(admission, request),

    sign(owner, device) {
      if (byPrincipal.sign(owner, device)) bus?.send({ kind: "sign", ...owner, device });
    },

    async stop(spreadMillis) {
      isStopped = true;
      for (const one of repeated) one.stop();
      await leaveSpread([...admitted], spreadMillis);
      presence?.stop();
      await numbering.stop();
    },
  };
}

/** The positions of mailboxes after new entries. */
function positionsOf(
  entries: readonly NumberedEntry[],
): readonly (readonly [tenant: string, principalId: string, position: number])[] {
  const last = new Map(entries.map((entry) => [`${entry.tenant}\0${entry.principalId}`, entry]));
  return [...last.values()].map(
    ({ tenant, principalId, position }) => [tenant, principalId, position] as const,
  );
}

/** Ends connections one after the other, over up to so many milliseconds. */
async function leaveSpread(all: readonly Admitted[], spreadMillis: number): Promise<void> {
  const span = Math.min(all.length * leavePauseMillis, spreadMillis);
  const ends = all.map(async ({ leave }) => {
    await sleep(Math.random() * span);
    await leave();
  });
  await Promise.all(ends);
}

/** What a message of another process is about. */
interface Audience {
  readonly hub: Hub;
  readonly byPrincipal: PrincipalConnections;
  readonly presence: Presence | null;
  readonly ended: (of: CredentialScope) => void;
}

/** Passes on a message of another process. */
function heard(message: BusMessage, { hub, byPrincipal, presence, ended }: Audience): void {
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
      byPrincipal.hear(message, message.device);
      break;
    case "presence":
      presence?.heard(message);
  }
}

interface SlowReaders {
  /** Sends ephemeral signals; drops them if a connection is behind, since they would only delay it more. */
  send(connection: Connection, signal: Signal): void;
  /** Logs how many signals were dropped since the last time. */
  report(): void;
}

function slowReaders(log: Log): SlowReaders {
  let dropped = 0;
  return {
    send(connection, signal) {
      if (connection.hasEnded) return;
      if (connection.isWritable()) {
        connection.write(signal);
        return;
      }
      dropped += 1;
      // A connection that takes nothing at all is ended by its flow.
      void connection.writable();
    },
    report() {
      if (dropped > 0) log.warn({ dropped }, "signals on topics were dropped for slow readers");
      dropped = 0;
    },
  };
}
