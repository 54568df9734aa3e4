// Tells tabs when one of them has ended, even if it couldn't say so: each holds a lock (Web Locks).
import { onAbort } from "../signals.js";
import type { Locks } from "./platform.js";

/** The locks of tabs. */
export interface TabLocks {
  readonly locks: Locks;
  /** Before the names of tabs. */
  readonly name: string;
}

/** Has the lock of a tab until a signal aborts; `begun` is called once it has. */
export function live(
  { locks, name }: TabLocks,
  tab: string,
  signal: AbortSignal,
  begun: () => void,
): void {
  const hold = (): Promise<void> => {
    begun();
    return new Promise((resolve) => onAbort(signal, resolve));
  };
  locks.request(`${name} ${tab}`, { signal }, hold).catch(() => undefined);
}

/** Tells when another tab has ended, unless a signal aborts first. */
export function onceGone(
  { locks, name }: TabLocks,
  tab: string,
  signal: AbortSignal,
  gone: () => void,
): void {
  locks.request(`${name} ${tab}`, { signal }, async () => gone()).catch(() => undefined);
}
