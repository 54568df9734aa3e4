// Browser interfaces that some Node.js versions lack, so that clients compile without DOM types.
import type { Dial } from "./port.js";

/**
 * Topics as a query has them: with commas between them, or as JSON where one has a comma, or looks
 * like JSON.
 */
function topicsText(topics: readonly string[]): string {
  const text = topics.join(",");
  const isPlain = !text.startsWith('["') && topics.every((topic) => !topic.includes(","));
  return isPlain ? text : JSON.stringify(topics);
}

/** A text by its key, such as `localStorage`. */
export interface KeyValueStore {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

export interface Socket {
  send(data: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "open" | "error", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(
    type: "close",
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void;
}

export interface Channel {
  postMessage(message: unknown): void;
  close(): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
}

/** Web Locks. */
export interface Locks {
  request(
    name: string,
    /** `steal` takes the lock from whoever has it, whose request then rejects. */
    options: { readonly signal?: AbortSignal; readonly steal?: boolean },
    held: () => Promise<void>,
  ): Promise<void>;
}

type PageEvent = "online" | "pagehide" | "pageshow";

interface Platform {
  readonly WebSocket?: new (url: string, protocols: string[]) => Socket;
  readonly BroadcastChannel?: new (name: string) => Channel;
  readonly navigator?: { readonly locks?: Locks };
  readonly document?: {
    readonly visibilityState: string;
    addEventListener(type: "visibilitychange", listener: () => void): void;
    removeEventListener(type: "visibilitychange", listener: () => void): void;
  };
  readonly location?: { readonly href: string };
  readonly localStorage?: KeyValueStore;
  readonly sessionStorage?: KeyValueStore;
  addEventListener?(
    type: PageEvent,
    listener: (event: { readonly persisted?: boolean }) => void,
  ): void;
  removeEventListener?(
    type: PageEvent,
    listener: (event: { readonly persisted?: boolean }) => void,
  ): void;
}

/** The global scope, of which any part may be missing. */
export const platform = globalThis as unknown as Platform;

/** A store of the browser's, where there is one. */
export function storeOf(name: "localStorage" | "sessionStorage"): KeyValueStore | undefined {
  try {
    return platform[name];
  } catch {
    // A browser that is told to keep nothing throws.
    return undefined;
  }
}

/**
 * A store that also remembers by itself: one that is full or forbidden keeps things over a reload
 * no more, that is all.
 */
export function withMemory(store: KeyValueStore | undefined): KeyValueStore {
  const kept = new Map<string, string>();
  return {
    getItem(key) {
      try {
        return kept.get(key) ?? store?.getItem(key) ?? null;
      } catch {
        return null;
      }
    },
    setItem(key, value) {
      kept.set(key, value);
      try {
        store?.setItem(key, value);
      } catch {
        // It is remembered until the page is left.
      }
    },
  };
}

/** An address of the service, which may be the page's own origin. */
export function addressOf(baseUrl: string, path: string): URL {
  return new URL(`${baseUrl}${path}`, platform.location?.href);
}

/** The address of a line, with the parameters of its handshake (service.md "Connect handshake"). */
export function lineAddress(
  { client, path, deviceId, topics, lastEventId, from }: Dial,
  endpoint: string,
): URL {
  const url = addressOf(client.baseUrl, `${path}/${endpoint}`);
  url.searchParams.set("protocol", "1");
  url.searchParams.set("device_id", deviceId);
  if (topics.length > 0) url.searchParams.set("topics", topicsText(topics));
  if (lastEventId !== null) url.searchParams.set("last_event_id", lastEventId);
  if (from !== undefined) url.searchParams.set("from", from);
  return url;
}
