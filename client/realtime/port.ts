// The port of transports: WebSocket, Server-Sent Events, Socket.IO, or another tab.
import type { ApiError, Client, Operation } from "../core.js";
import { pause } from "../signals.js";

/** The address of a line, and its handshake. */
export interface Dial {
  readonly client: Client;
  /** The mount of the realtime plane, such as `/realtime`. */
  readonly path: string;
  readonly token: string | null;
  /** The line's caller, from the application; null if it doesn't say, or nobody is signed in. */
  readonly caller: string | null;
  readonly deviceId: string;
  readonly topics: readonly string[];
  /** The signal to go on behind. */
  readonly lastEventId: string | null;
  /** Keeps behind which signal the device begins, once a line that is shared has found out. */
  readonly begun: (id: string) => void;
  /** The start of an unknown device: after all present signals, or at the beginning. */
  readonly from?: "now" | undefined;
  /** The operations that commands call. */
  readonly commands: Readonly<Record<string, Operation>>;
}

/** Who listens on a line. Nothing is told after `ended`. */
export interface Receiver {
  /** The caller is admitted: topics are heard from now on. It may be told again. */
  opened(): void;
  /** `id` is null for ephemeral signals; `signalId` identifies those. An older service has none. */
  signal(
    name: string,
    id: string | null,
    data: unknown,
    signalId?: string,
    traceparent?: string,
  ): void;
  ended(ending: Ending): void;
}

/** A signal as it travels (service.md "Delivery envelope"). */
export interface Envelope {
  readonly id: string | null;
  readonly data: unknown;
  readonly signal_id?: string;
  /** Its trace, where somebody records that (W3C Trace Context). */
  readonly traceparent?: string;
}

/** The parts of a signal besides its name. */
export function contentOf({
  id,
  data,
  signal_id: signalId,
  traceparent,
}: Envelope): readonly [
  id: string | null,
  data: unknown,
  signalId: string | undefined,
  traceparent: string | undefined,
] {
  return [id, data, signalId, traceparent];
}

/** How a line came to its end. */
export interface Ending {
  /** A code of the error table, if the service sent one. */
  readonly code?: string;
  readonly detail?: string;
  /** Whether another try would meet with the same. */
  readonly isFinal?: boolean;
  /** When the service would like to be asked again. */
  readonly afterMillis?: number;
}

export interface Command {
  readonly name: string;
  readonly payload: unknown;
  readonly idempotencyKey: string | null;
  /** Aborts where nobody waits for the answer any more; milliseconds are how long that may take. */
  readonly signal: AbortSignal;
  readonly millis: number;
}

/** How a line ends whose device has connected again: a device has one line. */
export const deviceReplaced = "realtime_device_replaced";

/** How more topics are refused than a connection may hear. */
export const tooManyTopics = "realtime_topics_limit";
/** Refusals that are about topics. */
export const ofTopics: readonly string[] = ["realtime_topics_unauthorized", tooManyTopics];

/** Kinds of errors that pass. */
const passing = ["throttled", "unavailable", "timeout", "infrastructure", "internal"];

/** Whether another try would meet with an error of this kind again. */
export function isFinalKind(kind: string): boolean {
  return !passing.includes(kind);
}

/** One connection. */
export interface Line {
  /** Acknowledges everything up to an id. It may get lost: a later one stands for it. */
  acknowledge(upTo: string): void;
  /** Resolves with the answer. Rejects with `ApiError`, `client.network` if the line ended. */
  command(command: Command): Promise<unknown>;
  /** Continues with another token of the same caller; false if that needs a new line. */
  reauthenticate(token: string): Promise<boolean>;
  /**
   * Hears these topics from now on, and no others; `before` are those that it hears. Rejects where
   * that cannot be, or not on this line. A line without it has to be made anew.
   */
  setTopics?(topics: readonly string[], before: readonly string[]): Promise<void>;
  /** Checks that the other side is alive, and ends the line otherwise. */
  probe?(): void;
  /** Whether another tab has the connection, whose cursor this one must not move. */
  readonly isFollowing?: boolean;
  /** Ends the line; its receiver hears nothing more. */
  close(): void;
}

/** How long topics wait before they are asked for again where too much is under way. */
const busyMillis = 100;

/** Unsubscribes removed topics and subscribes new ones; topics in both sets are left alone. */
export async function changeTopics(
  topics: readonly string[],
  before: readonly string[],
  ask: (name: "realtime.subscribe" | "realtime.unsubscribe", topics: string[]) => Promise<unknown>,
): Promise<void> {
  const asked = async (name: Parameters<typeof ask>[0], some: string[]): Promise<void> => {
    for (;;) {
      try {
        await ask(name, some);
        return;
      } catch (error) {
        // As many commands are under way as the connection may have.
        if ((error as ApiError).code !== "realtime_commands_limit") throw error;
      }
      await pause(busyMillis);
    }
  };
  const gone = before.filter((topic) => !topics.includes(topic));
  const fresh = topics.filter((topic) => !before.includes(topic));
  // A line has a limit of topics: removed ones make room.
  if (gone.length > 0) await asked("realtime.unsubscribe", gone);
  if (fresh.length > 0) await asked("realtime.subscribe", fresh);
}

export interface Transport {
  open(dial: Dial, receiver: Receiver): Line;
  /** Whether one line serves all tabs of a browser. */
  readonly isShared?: true;
}
