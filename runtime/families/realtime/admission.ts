// Admits connections to the realtime plane of a process, in place of earlier ones of their devices,
// and checks their credentials again later.
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { subjectsOf } from "../../operations/identity.js";
import type { CredentialScope } from "../../ports/signals.js";
import { beginDevice } from "./acknowledge.js";
import { Admitted, type Admission } from "./admitted.js";
import type { Connection } from "./connection.js";
import { sessionOf, type ConnectionCaller } from "./connection-caller.js";
import { checkTopics, deviceOf, resumePoint, type Handshake } from "./handshake.js";

/** Sessions that are checked at once. */
const rechecksAtOnce = 8;

export interface ConnectRequest {
  readonly context: ExecutionContext;
  readonly handshake: Handshake;
  readonly connection: Connection;
  readonly caller: ConnectionCaller;
}

/** An admitted connection, and the position after which its delivery begins. */
export interface Admittance {
  readonly one: Admitted;
  readonly after: number;
}

/**
 * Admits a connection, in the place of an earlier one of its device; `begin` starts its delivery.
 * Throws `realtime_topics_unauthorized`, `realtime_connections_limit`, `core.unavailable`,
 * `service_draining`.
 */
export async function admit(admission: Admission, request: ConnectRequest): Promise<Admittance> {
  const { spec, resources, source, isStopped } = admission;
  const { context, handshake, connection, caller } = request;
  const { topics, named, lastEventId, fromNow } = handshake;
  await checkTopics(spec, topics, context);
  if (isStopped()) throw fail("service_draining");
  // A connection that has ended in the meantime must not replace a live one.
  const own = connection.hasEnded ? null : named;
  const one = new Admitted(admission, context.tenant, own, connection, caller);
  one.enter(topics);
  try {
    const device = deviceOf(handshake, caller.identity);
    const from = { device, lastEventId, fromNow };
    const after = await resumePoint(source.mailbox(one), one, from, (position) =>
      beginDevice(resources, one, device, position),
    );
    if (isStopped()) throw fail("service_draining");
    return { one, after };
  } catch (error) {
    one.end();
    throw error;
  }
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
    const shared = sessionOf(one.caller) ?? one;
    const group = groups.get(shared);
    if (group === undefined) groups.set(shared, [one]);
    else group.push(one);
  }
  const waiting = [...groups.values()];
  const work = async (): Promise<void> => {
    for (let group = waiting.shift(); group !== undefined; group = waiting.shift())
      if ((await group[0]?.caller.isGood()) === false)
        for (const { connection } of group) connection.refuse("core.authentication");
  };
  await Promise.all(Array.from({ length: rechecksAtOnce }, work));
}

/** Whether the end of credentials or permissions may be about a connection. */
export function concerns(
  of: CredentialScope | null,
  { tenant, caller }: Pick<Admitted, "tenant" | "caller">,
): boolean {
  if (of === null || "everywhere" in of) return true;
  if ("tenant" in of) return of.tenant === tenant;
  // If somebody acts for the principal, both must be permitted.
  return subjectsOf(caller.identity).includes(of.principalId);
}
