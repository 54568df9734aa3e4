// The realtime plane of a process: who is connected, and what takes durable signals from their
// transactions to them (architecture.md "Realtime").
import type { Resources } from "../../operations/resources.js";
import { repeat, type Repeated } from "../../work/repeat.js";
import { admit, concerns, recheck, type Admittance, type ConnectRequest } from "./admission.js";
import { pumpSource, type Admitted } from "./admitted.js";
import type { BusMessage, SignalBus } from "../../ports/bus.js";
import type { Log } from "../../ports/log.js";
import { memoryHub, type Hub } from "./hub.js";
import { announcedLosses } from "./losses.js";
import { oncePerScope } from "./once-per-scope.js";
import type { RealtimeCounters, RealtimeLimits } from "./limits.js";
import { PrincipalConnections } from "./principal-connections.js";
import type { CredentialScope, SignalPlane } from "../../ports/signals.js";
import type { MailboxOwner, NumberedEntry } from "../../ports/mailbox.js";
import { entriesTold, publishedElsewhere, publishedHere } from "./told-entries.js";
import { startNumbering } from "./numbering.js";
import { startPresence, type Presence } from "./presence.js";
import type { Occupants } from "./presence-topics.js";
import { recheckTopics } from "./topic-checks.js";
import { Signal } from "../../ports/signal.js";
import { tracedHub } from "./signal-trace.js";
import type { RealtimeSpec } from "./spec.js";
import { mailboxStore } from "../../ports/mailbox.js";
import { drawBytes, drawFraction, sleep } from "../../ports/ambient.js";

/**
 * Without a bus, signals that other processes have numbered are found within so many milliseconds.
 */
const pollMillis = 1_000;
/** A credential or a permission that has ended is noticed within so many milliseconds. */
const recheckMillis = 3_000;
/**
 * Other processes are told within so many milliseconds that something was lost on its way to them.
 */
const lossMillis = 1_000;
const reportMillis = 60_000;
/** Signals that a bus has lost unnoticed are found within so many milliseconds. */
const healMillis = 10_000;
const failed = "the realtime plane failed";
/** Milliseconds between the ends of two connections when the service stops. */
const leavePauseMillis = 5;
/**
 * How long an SSE stream may go without a sign of life, in milliseconds. With presence it is
 * shorter, so that others learn within a minute that somebody has gone: this time, an interval
 * between checks, and the wait of presence together.
 */
const silentMillis = { present: 50_000, otherwise: 300_000 };

export interface RealtimePlane extends SignalPlane {
  /**
   * Admits a connection, in the place of an earlier one of its device; `begin` starts its delivery.
   * Throws `realtime_topics_unauthorized`, `realtime_connections_limit`, `core.unavailable`,
   * `service_draining`.
   */
  connect(request: ConnectRequest): Promise<Admittance>;
  /**
   * Who hears a topic, after a principal, in the order of their ids; nobody if presence is not
   * told.
   */
  present(tenant: string, topic: string, after: string, limit: number): Occupants;
  /** A device of a principal is alive: its connection may continue, on whichever process it is. */
  sign(owner: MailboxOwner, device: string): void;
  /**
   * Ends every connection, and resolves when nothing is under way. The ends are spread over up to
   * so many milliseconds, so that what reconnects elsewhere does not come all at once.
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
  const hub = tracedHub(memoryHub(entriesTold(spec, resources)), resources.tracer);
  const presence = spec.presence
    ? startPresence(
        (tenant, topic, signal, except) => hub.tell(tenant, { topic }, signal, except),
        (message) => bus?.send(message),
      )
    : null;
  const admitted = new Set<Admitted>();
  const nextSignalId = signalIds();
  const silence = silenceOf(spec, limits);
  const places = { most: limits.connections, silentMillis: silence, counters };
  const byPrincipal = new PrincipalConnections(places);
  let isStopped = false;
  const parts = { spec, resources, hub, presence, byPrincipal, admitted, counters };
  const admission = { ...parts, source: pumpSource(spec, resources), isStopped: () => isStopped };
  const numbering = startNumbering(resources, (entries) => {
    hub.entries(entries);
    bus?.send({ kind: "positions", mailboxes: positionsOf(entries) });
  });

  /**
   * Reads the positions of mailboxes, whatever hints have arrived, because other processes number
   * too.
   */
  const checkPositions = async (): Promise<void> => {
    const heads = await database.reader.of(mailboxStore).heads(hub.owners());
    for (const { head, ...owner } of heads) hub.position(owner, head);
  };
  const onFault = (error: unknown): void => log.error({ err: error }, failed);
  const rights = rightsOf(spec, admitted, log, onFault);
  const losses = announcedLosses(spec, admitted, () => bus?.send({ kind: "lost" }));
  const repeated = [
    repeat(bus === null ? pollMillis : healMillis, checkPositions, onFault),
    ...rights.repeated,
    repeat(lossMillis, losses.tellOthers, onFault),
    repeat(Math.min(recheckMillis, silence / 2), () => byPrincipal.endSilent(), onFault),
    repeat(reportMillis, droppedReport(log, counters), onFault),
  ];
  const told = publishedElsewhere(spec, resources);
  const audience = { hub, byPrincipal, presence, told, ended: rights.ended, losses };
  bus?.listen({
    heard: (message) => heard(message, audience),
    lost: losses.hasLost,
    resumed() {
      presence?.announce();
      losses.announce();
      checkPositions().catch(onFault);
    },
  });
  presence?.announce();

  return {
    wake: numbering.wake,

    credentialsEnded(of) {
      rights.ended(of);
      bus?.send({ kind: "ended", of });
    },

    publish(tenant, to, { name, data, traceparent }) {
      const signal = new Signal(name, data, null, nextSignalId(), traceparent);
      hub.publish(tenant, to, signal);
      bus?.send({ kind: "signal", tenant, to, ...publishedHere(signal, spec, resources) });
    },

    connect: (request) => admit(admission, request),

    present: (tenant, topic, after, limit) =>
      presence?.page(tenant, topic, after, limit) ?? { principals: [], count: 0, hasMore: false },

    sign(owner, device) {
      if (byPrincipal.sign(owner, device)) bus?.send({ kind: "sign", ...owner, device });
    },

    async stop(spreadMillis) {
      isStopped = true;
      for (const one of repeated) one.stop();
      losses.stop();
      await leaveSpread([...admitted], spreadMillis);
      presence?.stop();
      await numbering.stop();
    },
  };
}

/** How long a stream may go without a sign of life, in milliseconds. */
function silenceOf({ presence }: RealtimeSpec, { silentSeconds }: RealtimeLimits): number {
  const usual = presence ? silentMillis.present : silentMillis.otherwise;
  return silentSeconds === null ? usual : silentSeconds * 1_000;
}

/** Checks that connections repeat: their credentials, and the topics that they may hear. */
function rightsOf(
  spec: RealtimeSpec,
  admitted: ReadonlySet<Admitted>,
  log: Log,
  onFault: (error: unknown) => void,
): { readonly repeated: readonly Repeated[]; readonly ended: (of: CredentialScope) => void } {
  const checkTopics = (of: CredentialScope | null): Promise<void> =>
    recheckTopics(
      spec,
      [...admitted].filter((one) => concerns(of, one)),
      log,
    );
  return {
    repeated: [
      repeat(recheckMillis, () => recheck(admitted, null), onFault),
      repeat(recheckMillis, () => checkTopics(null), onFault),
    ],
    ended: oncePerScope(async (of) => {
      await Promise.all([recheck(admitted, of), checkTopics(of)]);
    }, onFault),
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
  const ends = all.map(async ({ caller }) => {
    await sleep(drawFraction() * span);
    await caller.leave();
  });
  await Promise.all(ends);
}

/** The subject of another process's message. */
interface Audience {
  readonly hub: Hub;
  readonly byPrincipal: PrincipalConnections;
  readonly presence: Presence | null;
  readonly told: ReturnType<typeof publishedElsewhere>;
  readonly ended: (of: CredentialScope) => void;
  readonly losses: { readonly announce: () => void };
}

/** Passes on a message of another process. */
function heard(
  message: BusMessage,
  { hub, byPrincipal, presence, told, ended, losses }: Audience,
): void {
  switch (message.kind) {
    case "signal": {
      const signal = told(message);
      if (signal !== null) hub.publish(message.tenant, message.to, signal);
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
    case "lost":
      losses.announce();
      break;
    case "presence":
      presence?.heard(message);
  }
}

/**
 * Ids of the ephemeral signals that this process publishes: a client that hears two processes tells
 * equal signals apart.
 */
function signalIds(): () => string {
  const process = drawBytes(6).toString("base64url");
  let count = 0;
  return () => `${process}.${(count += 1).toString(36)}`;
}

/** Logs how many signals were dropped since the last time. */
function droppedReport(log: Log, { signals }: RealtimeCounters): () => void {
  let before = 0;
  return () => {
    const all = Object.values(signals).reduce((sum, { dropped }) => sum + dropped, 0);
    if (all > before)
      log.warn({ dropped: all - before }, "signals on topics were dropped for slow readers");
    before = all;
  };
}
