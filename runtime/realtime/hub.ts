// The hub of one process: which connections hear what (architecture.md "Realtime").
import type { SignalTarget } from "./plane-port.js";
import type { MailboxOwner, NumberedEntry } from "./port.js";
import { Signal } from "./signal.js";

/** A connection as the hub knows it. */
export interface HubMember extends MailboxOwner {
  readonly topics: readonly string[];
  /** A new entry of the principal's mailbox. */
  hint(signal: Signal): void;
  /** An ephemeral signal, of one of its topics or its own. */
  signal(signal: Signal): void;
  /** The mailbox is this far, whatever has been heard of it. */
  wants(position: number): void;
}

export interface Hub {
  /** Adds a connection; returns how to remove it. */
  join(member: HubMember): () => void;
  /** How many connections a principal has here. */
  count(owner: MailboxOwner): number;
  entries(entries: readonly NumberedEntry[]): void;
  /** A mailbox is this far: its connections read what they lack. */
  position(owner: MailboxOwner, position: number): void;
  /** An ephemeral signal for those of its audience who are here. */
  publish(tenant: string, to: SignalTarget, signal: Signal): void;
  /** Whose mailboxes are heard here. */
  owners(): readonly MailboxOwner[];
}

/** The hub of a process. */
export function memoryHub(): Hub {
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
  return {
    join(member) {
      add(byOwner, ownerKey(member), member);
      for (const topic of member.topics) add(byTopic, topicKey(member.tenant, topic), member);
      return () => {
        remove(byOwner, ownerKey(member), member);
        for (const topic of member.topics) remove(byTopic, topicKey(member.tenant, topic), member);
      };
    },
    count: (owner) => byOwner.get(ownerKey(owner))?.size ?? 0,
    entries(entries) {
      for (const entry of entries) {
        const members = byOwner.get(ownerKey(entry));
        if (members === undefined) continue;
        const signal = Signal.ofEntry(entry);
        for (const member of members) member.hint(signal);
      }
    },
    position(owner, position) {
      for (const member of byOwner.get(ownerKey(owner)) ?? []) member.wants(position);
    },
    publish(tenant, to, signal) {
      const members =
        "topic" in to
          ? byTopic.get(topicKey(tenant, to.topic))
          : byOwner.get(ownerKey({ tenant, principalId: to.principal }));
      for (const member of members ?? []) member.signal(signal);
    },
    owners: () => [...byOwner.values()].flatMap((members) => [...members].slice(0, 1)),
  };
}
