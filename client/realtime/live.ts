// What an application gives a realtime connection, and what it gets: types alone.
import type { ApiError, Call, ClientCode, Operation } from "../core.js";
import type { CommandCode, CommandOptions, CommandType } from "./commands.js";
import type { SignalOf } from "./lane.js";
import type { KeyValueStore } from "./platform.js";
import type { Transport } from "./port.js";

/** What a generated client knows of its realtime plane. */
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
  /** A device that is new begins with what comes from now on; where left out, with all that the service still keeps. */
  readonly from?: "now";
  /**
   * Whose cursor the service keeps; one of the tab's own, or of the browser's where tabs share, where left out. It has one
   * connection: where another one names it, this one closes with `realtime_device_replaced`.
   */
  readonly deviceId?: string;
  /** Where the device and its last signal are kept over a reload; storage of the browser where left out. */
  readonly store?: KeyValueStore;
  /** Told `open` each time that a line is made: what is not kept may have been missed before. `error` says why it is closed. */
  readonly onStatus?: (status: LiveStatus, error: ApiError | null) => void;
  /** A handler has failed. Where its signal is kept by the service, the handler is given it again. */
  readonly onError?: (error: unknown) => void;
}

export interface Live<Events, Commands extends { readonly [Name in keyof Commands]: CommandType }> {
  readonly status: LiveStatus;
  /** Hears one event; returns what ends that. A kept signal is acknowledged once what its handlers return has resolved. */
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
   * Hears these topics from now on, and no others, over the connection that there is or is being made: nothing is missed of
   * those that it heard before. Resolves once they are heard. Rejects with `ApiError` where the service refuses them, which
   * closes the connection, and with `client.aborted` where others were set before they were heard.
   */
  setTopics(topics: readonly string[]): Promise<void>;
  /** Resolves once the connection is open; rejects where it is closed for good. */
  opened(): Promise<void>;
  close(): void;
}
