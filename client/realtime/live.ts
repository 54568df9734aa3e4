// The options and the interface of a realtime connection. Types only.
import type { ApiError, Call, ClientCode, Operation } from "../core.js";
import type { CommandCode, CommandOptions, CommandType } from "./commands.js";
import type { SignalOf } from "./lane.js";
import type { KeyValueStore } from "./platform.js";
import type { Transport } from "./port.js";

/** The facts of the realtime plane that a generated client passes on. */
export interface RealtimeSpec {
  readonly path: string;
  /** The operations that commands call. */
  readonly commands: Readonly<Record<string, Operation>>;
}

/** `waiting` comes back by itself; `closed` does not. */
export type LiveStatus = "connecting" | "open" | "waiting" | "closed";

export interface LiveOptions {
  readonly transport: Transport;
  readonly topics?: readonly string[];
  /** A new device begins with signals from now on; by default, with all that the service keeps. */
  readonly from?: "now";
  /**
   * Whose cursor the service keeps; one of the tab's own, or of the browser's where tabs share,
   * where left out. It has one connection: where another one names it, this one closes with
   * `realtime_device_replaced`.
   */
  readonly deviceId?: string;
  /** Stores the device and its last signal over a reload; by default, the browser's storage. */
  readonly store?: KeyValueStore;
  /** `open` follows each new line: ephemeral signals may be missing. `error` says why it closed. */
  readonly onStatus?: (status: LiveStatus, error: ApiError | null) => void;
  /**
   * A handler has failed. Where its signal is kept by the service, the handler is given it again.
   */
  readonly onError?: (error: unknown) => void;
}

export interface Live<Events, Commands extends { readonly [Name in keyof Commands]: CommandType }> {
  readonly status: LiveStatus;
  /**
   * Hears one event; returns what ends that. A kept signal is acknowledged once what its handlers
   * return has resolved.
   */
  on<Name extends keyof Events & string>(
    name: Name,
    handle: (data: Events[Name], id: string | null) => unknown,
  ): () => void;
  /** Hears every event, told apart by `name`. */
  listen(handle: (signal: SignalOf<Events>) => unknown): () => void;
  /** Calls an operation, as soon as there is a connection. */
  command<Name extends keyof Commands & string>(
    name: Name,
    payload: Commands[Name]["input"],
    options?: CommandOptions,
  ): Call<Commands[Name]["output"], Commands[Name]["code"] | CommandCode | ClientCode>;
  /**
   * Replaces the topics of the open or opening connection, without missing a signal of those that
   * stay. Resolves once they are subscribed. Rejects with `ApiError` if the service refuses one,
   * which closes the connection, and with `client.aborted` if they are set again before.
   */
  setTopics(topics: readonly string[]): Promise<void>;
  /** Resolves once the connection is open; rejects if it closes for good. */
  opened(): Promise<void>;
  close(): void;
}
