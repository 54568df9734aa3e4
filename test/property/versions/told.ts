// What versions tell others: signals that wait for a caller, deliveries that a receiver gets.
import { isDeepStrictEqual } from "node:util";
import type { Side } from "./common.js";
import { callerOf } from "./documents.js";
import { soldBy } from "./things.js";
import type { World } from "./world.js";

/** How long a delivery may take, in milliseconds; what is lost is waited for that long. */
const patience = 5_000;

/** Subscribes to the events of a version by a webhook. */
export async function subscribe(world: World, side: Side): Promise<void> {
  const caller = callerOf(world, side);
  const event = soldBy(caller);
  if (event === undefined) return;
  const body = { url: `${world.receiver.url}/hook/${side}`, events: [event] };
  const answer = await caller.call("webhooks.create", { body, about: [event] });
  if (answer?.status === 201) world.hooked = event;
}

/** Reads the mailbox of the caller with a version: each signal is one of the version's events, as its document says. */
export async function hear(world: World, side: Side): Promise<void> {
  const caller = callerOf(world, side);
  const answer = await caller.call("realtime.history", { parameters: { limit: 100 } });
  if (answer?.status !== 200) return;
  for (const { event, id, data } of answer.body.signals) {
    const fault = caller.version.frameFault(event, { id, data });
    if (fault === undefined) continue;
    caller.note("signal", [event], `${event} ${fault}: ${JSON.stringify(data)}`);
  }
}

/** Waits until all events that were staged have arrived, and looks at what they carry. */
export async function receive(world: World): Promise<void> {
  const { receiver, staged, versions, callers } = world;
  const arrived = (event: string, id: string): boolean => {
    const paths = receiver.deliveries.flatMap((one) =>
      one.event === event && one.data.id === id ? [one.path] : [],
    );
    const isHeard = !isHooked(world, event) || paths.some((path) => path.startsWith("/hook/"));
    return isHeard && paths.some((path) => path.endsWith("/shop"));
  };
  const until = Date.now() + patience;
  // An event without this destination goes elsewhere, and tells nobody here.
  const awaited = staged.filter(({ event }) => goesTo(world, event));
  const missing = () => awaited.filter(({ event, id }) => !arrived(event, id));
  while (missing().length > 0 && Date.now() < until) await receiver.more(until - Date.now());
  const [caller] = callers.values();
  for (const { by, event, id } of missing())
    caller?.note("lost", [event, "webhooks"], `${event} of ${by} for ${id} does not arrive`);
  for (const { path, event, data } of receiver.deliveries) {
    const [, first = "", second = ""] = path.split("/");
    // A webhook hears of either version, as it is subscribed to both.
    const senders = first === "hook" ? (["before", "after"] as const) : ([first] as Side[]);
    const faults = senders.map((side) => {
      const type = versions[side].model.outbox?.[event]?.typeName ?? null;
      return type === null ? `no event ${event}` : versions[side].faultOf(type, data);
    });
    if (faults.includes(undefined)) continue;
    const text = `${event} to ${first} ${second}: ${faults.join(", ")}: ${JSON.stringify(data)}`;
    caller?.note("delivery", [event], text);
  }
  staged.length = 0;
}

/** Whether the caller's webhook hears of an event, from either version alike. */
function isHooked({ hooked, versions: { before, after } }: World, event: string): boolean {
  return hooked === event && isDeepStrictEqual(before.model.webhooks, after.model.webhooks);
}

/** Whether an event goes to the receiver, whichever of the running versions sends it. */
function goesTo({ callers }: World, event: string): boolean {
  return [...callers.values()].every(
    ({ version }) => version.model.outbox?.[event]?.destination === "shop",
  );
}
