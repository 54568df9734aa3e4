// The hub of one process: which connections hear what (architecture.md "Realtime").
import type { SignalTarget } from "../../ports/signals.js";
import type { MailboxOwner, NumberedEntry } from "../../ports/mailbox.js";
import type { Signal } from "../../ports/signal.js";
import type { TellEntry } from "./told-entries.js";
import { runNextTurn } from "../../ports/ambient.js";

/** A connection as the hub knows it. */
export interface HubMember extends MailboxOwner {
  /** A new entry of the principal's mailbox. */
  hint(signal: Signal): void;
  /** Ephemeral signals, of one of its topics or its own. */
  signals(signals: readonly Signal[]): void;
  /** The position that the mailbox has reached, whatever hints have arrived. */
  wants(position: number): void;
}

export interface Hub {
  /** Adds a connection, which hears its principal's own signals. */
  join(member: HubMember): void;
  leave(member: HubMember): void;
  /** A connection hears a topic from now on. */
  hear(member: HubMember, topic: string): void;
  unhear(member: HubMember, topic: string): void;
  entries(entries: readonly NumberedEntry[]): void;
  /** A mailbox has reached this position: its connections read the entries that they lack. */
  position(owner: MailboxOwner, position: number): void;
  /** An ephemeral signal for those of its audience who are here at the end of this tick. */
  publish(tenant: string, to: SignalTarget, signal: Signal): void;
  /** The same, for those who are here now, except for some. */
  tell(tenant: string, to: SignalTarget, signal: Signal, except: ReadonlySet<HubMember>): void;
  /** Whose mailboxes have connections here. */
  owners(): readonly MailboxOwner[];
}

/** What one audience is told at the end of a tick. */
interface DueSignals {
  readonly tenant: string;
  readonly to: SignalTarget;
  readonly signals: Signal[];
}

/** The hub of a process. `tell` makes signals of entries. */
export function memoryHub(tell: TellEntry): Hub {
  const byOwner = new Map<string, Set<HubMember>>();
  const byTopic = new Map<string, Set<HubMember>>();
  const ownerKey = ({ tenant, principalId }: MailboxOwner): string => `${tenant}\0${principalId}`;
  const topicKey = (tenant: string, topic: string): string => `${tenant}\0${topic}`;
  const add = (index: Map<string, Set<HubMember>>, key: string, member: HubMember): void => {
    const members = index.get(key) ?? new Set();
    index.set(key, members.add(member));
  };
  const remove = (index: Map<string, Set<HubMember>>, key: string, member: HubMember): void => {
    const members = index.get(key);
    members?.delete(member);
    if (members?.size === 0) index.delete(key);
  };
  const audience = (tenant: string, to: SignalTarget): ReadonlySet<HubMember> | undefined =>
    "topic" in to
      ? byTopic.get(topicKey(tenant, to.topic))
      : byOwner.get(ownerKey({ tenant, principalId: to.principal }));
  /**
   * Signals to send at the end of this tick: each connection is visited once, however many there
   * are. Who hears them is asked then, because a connection may take the place of another in the
   * meantime.
   */
  let due = new Map<string, DueSignals>();
  const tellDue = (): void => {
    const telling = due;
    due = new Map();
    for (const { tenant, to, signals } of telling.values())
      for (const member of audience(tenant, to) ?? []) member.signals(signals);
  };
  return {
    join: (member) => add(byOwner, ownerKey(member), member),
    leave: (member) => remove(byOwner, ownerKey(member), member),
    hear: (member, topic) => add(byTopic, topicKey(member.tenant, topic), member),
    unhear: (member, topic) => remove(byTopic, topicKey(member.tenant, topic), member),
    entries(entries) {
      for (const entry of entries) {
        const members = byOwner.get(ownerKey(entry));
        if (members === undefined) continue;
        const signal = tell(entry);
        for (const member of members)
          // Entries that aren't signals are passed over when the mailbox is read.
          if (typeof signal === "string") member.wants(entry.position);
          else member.hint(signal);
      }
    },
    position(owner, position) {
      for (const member of byOwner.get(ownerKey(owner)) ?? []) member.wants(position);
    },
    publish(tenant, to, signal) {
      const isTopic = "topic" in to;
      const key = `${isTopic ? "topic" : "own"}\0${tenant}\0${isTopic ? to.topic : to.principal}`;
      const waiting = due.get(key);
      if (waiting === undefined) due.set(key, { tenant, to, signals: [signal] });
      else waiting.signals.push(signal);
      if (due.size === 1 && waiting === undefined) runNextTurn(tellDue);
    },
    tell(tenant, to, signal, except) {
      for (const member of audience(tenant, to) ?? [])
        if (!except.has(member)) member.signals([signal]);
    },
    owners: () => [...byOwner.values()].flatMap((members) => [...members].slice(0, 1)),
  };
}
