// Asks again who may hear what: a topic ends with the right to hear it, wherever that right was
// taken away (architecture.md "Realtime").
import { ServiceError } from "../../contract/errors.js";
import { maxTopics } from "../../contract/realtime.js";
import type { ExecutionContext } from "../../operations/context.js";
import type { Log } from "../../ports/log.js";
import { listenerOf, type ConnectionCaller } from "./connection-caller.js";
import { grantedTopics } from "./handshake.js";
import type { RealtimeSpec } from "./spec.js";
import type { HeldTopics, Subscriptions } from "./subscriptions.js";

/** The number of callers that are checked at once. */
const callersAtOnce = 8;

/**
 * An authorizer that throws one of these has answered: not authenticated, not permitted, not found.
 */
const refusals: readonly number[] = [401, 403, 404];

/** A connection whose topics are asked about. */
export interface Listening {
  readonly subscriptions: Subscriptions;
  readonly tenant: string;
  readonly caller: Pick<ConnectionCaller, "identity" | "newContext">;
}

/**
 * Asks again about the topics of these connections, and ends those that are not granted any more.
 * Each topic of a caller is asked about once, however many connections hear it; a few callers at a
 * time, so that none waits for all topics of another.
 */
export async function recheckTopics(
  spec: RealtimeSpec,
  connections: Iterable<Listening>,
  log: Log,
): Promise<void> {
  const callers = new Map<string, Listening[]>();
  for (const one of connections) {
    if (one.subscriptions.topics.length === 0) continue;
    const key = listenerOf(one.tenant, one.caller);
    const own = callers.get(key);
    if (own === undefined) callers.set(key, [one]);
    else own.push(one);
  }
  const waiting = [...callers.values()];
  const work = async (): Promise<void> => {
    for (let own = waiting.shift(); own !== undefined; own = waiting.shift())
      await recheckCaller(spec, own, log);
  };
  await Promise.all(Array.from({ length: callersAtOnce }, work));
}

/** Asks about the topics of one caller, in as many as one connection may have. */
async function recheckCaller(
  spec: RealtimeSpec,
  own: readonly Listening[],
  log: Log,
): Promise<void> {
  const held = own.map(({ subscriptions }) => [subscriptions, subscriptions.held()] as const);
  const topics = [...new Set(held.flatMap(([, one]) => [...one.keys()]))];
  const granted = new Set<string>();
  for (let at = 0; at < topics.length; at += maxTopics) {
    const some = topics.slice(at, at + maxTopics);
    for (const topic of await stillGranted(spec, some, own, log)) granted.add(topic);
  }
  for (const [subscriptions, one] of held) subscriptions.keep(one, granted);
}

async function stillGranted(
  spec: RealtimeSpec,
  topics: readonly string[],
  [first]: readonly Listening[],
  log: Log,
): Promise<Iterable<string>> {
  if (first === undefined) return topics;
  const context = first.caller.newContext();
  try {
    return await context.lifetime.race(grantedTopics(spec, topics, context));
  } catch (error) {
    // A refusal grants nothing. If the question itself fails, nothing ends: the next one will tell.
    if (error instanceof ServiceError && refusals.includes(error.status)) return [];
    log.error({ err: error }, "it could not be asked who may hear topics");
    return topics;
  } finally {
    context.release();
  }
}

/**
 * Asks about the topics of one connection, on behalf of a caller whose credential was just renewed.
 * Throws the errors of the authorizer.
 */
export async function recheckRenewed(
  spec: RealtimeSpec,
  { subscriptions }: Pick<Listening, "subscriptions">,
  context: ExecutionContext,
): Promise<() => void> {
  const held: HeldTopics = subscriptions.held();
  const granted = await grantedTopics(spec, [...held.keys()], context);
  return () => subscriptions.keep(held, granted);
}
