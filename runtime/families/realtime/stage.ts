// Sending signals from operations: durable ones with the transaction, ephemeral ones after it
// (decisions.md §2).
import { fail } from "../../contract/errors.js";
import type { ExecutionContext } from "../../operations/context.js";
import { callTogether } from "../../operations/held-calls.js";
import { uuidv7 } from "../../ports/uuid.js";
import type { SignalTarget } from "../../ports/signals.js";
import { Signal } from "../../ports/signal.js";
import { keptAs } from "./signal-names.js";
import type { RealtimeSpec } from "./spec.js";
import { mailboxStore } from "../../ports/mailbox.js";

/** Puts a durable signal into mailboxes, typed by its name. */
export type StageSignal<Events> = <Name extends keyof Events & string>(
  context: ExecutionContext,
  name: Name,
  data: Events[Name],
  to: { readonly principals: readonly string[] },
) => Promise<void>;

/** Sends an ephemeral signal, typed by its name. */
export type PublishSignal<Events> = <Name extends keyof Events & string>(
  context: ExecutionContext,
  name: Name,
  data: Events[Name],
  to: SignalTarget,
) => void;

/**
 * Stages durable signals of a service: they are delivered once the transaction has committed, and
 * never if it is undone.
 */
export function stagingOf<Events>(events: RealtimeSpec["events"]): StageSignal<Events> {
  // Signals that are staged at once are written together.
  return (context, name, data, { principals }) =>
    callTogether(context, "stageSignal", () =>
      stageText(context, name, checkedText(events, name, "durable", data), principals, {
        storedAs: keptAs(events, name),
      }),
    );
}

/** Stages a signal whose payload is JSON that has been checked. */
export async function stageText(
  context: ExecutionContext,
  name: string,
  data: string,
  principals: readonly string[],
  { storedAs = name }: { readonly storedAs?: string } = {},
): Promise<void> {
  const { tenant, clock } = context;
  const form = context.resources.kept.signals(name);
  const stored = { name: storedAs, data: form.stored(data), shape: form.shape };
  const signal = { eventId: uuidv7(), ...stored, traceparent: traceOf(context) };
  await context.transaction.of(mailboxStore).stage(tenant, signal, principals, clock.now());
  context.follow(() => {
    const { observer, signals } = context.resources;
    observer.signal({ name, data, tenant, to: { principals } });
    signals.wake();
  });
}

/**
 * Publishes ephemeral signals of a service, after the commit: whoever is connected hears them, at
 * most once.
 */
export function publishingOf<Events>(events: RealtimeSpec["events"]): PublishSignal<Events> {
  return (context, name, data, to) => {
    publishText(context, name, checkedText(events, name, "ephemeral", data), to);
  };
}

/** Publishes a signal whose payload is JSON that has been checked. */
export function publishText(
  context: ExecutionContext,
  name: string,
  data: string,
  to: SignalTarget,
): void {
  const { tenant, resources } = context;
  const signal = new Signal(name, data, null, null, traceOf(context));
  context.follow(() => {
    resources.observer.signal({ name, data, tenant, to });
    resources.signals.publish(tenant, to, signal);
  });
}

/** The trace that others are told of: what this service records, and nothing that callers say. */
function traceOf({ trace }: ExecutionContext): string | null {
  return trace?.traceparent ?? null;
}

/**
 * The JSON of a payload that matches its event's declaration; any other is a fault of the service.
 */
function checkedText(
  events: RealtimeSpec["events"],
  name: string,
  delivery: "durable" | "ephemeral",
  data: unknown,
): string {
  const declared = Object.hasOwn(events, name) ? events[name] : undefined;
  const faults = declared?.validate(data) ?? null;
  if (declared?.delivery === delivery && faults === null) return JSON.stringify(data);
  const cause = new Error(`${name} is not ${delivery}, or its payload is not as declared`);
  throw fail("core.configuration", {}, { cause });
}
