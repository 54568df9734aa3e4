// State of a connection that survives a reload: its device's name, and the last handled signal.
import { randomKey } from "../core.js";
import { withMemory, storeOf, type KeyValueStore } from "./platform.js";

export interface MemoryOptions {
  /** The address of the realtime plane, which begins all names. */
  readonly place: string;
  readonly deviceId: string | undefined;
  readonly store: KeyValueStore | undefined;
  /** Whether the tabs of a browser have one line, and so one device. */
  readonly isShared: boolean;
}

export class Memory {
  readonly #place: string;
  readonly #store: KeyValueStore;
  /**
   * Of this tab alone, where tabs share the other: what each has handled over a reload is its own.
   */
  readonly #ownStore: KeyValueStore | null;
  #deviceId: string;

  constructor({ place, deviceId, store, isShared }: MemoryOptions) {
    this.#place = place;
    this.#store = withMemory(store ?? storeOf(isShared ? "localStorage" : "sessionStorage"));
    const hasOwn = isShared && store === undefined;
    this.#ownStore = hasOwn ? withMemory(storeOf("sessionStorage")) : null;
    this.#deviceId = deviceId ?? this.#store.getItem(this.#key("device")) ?? randomKey();
    if (deviceId === undefined) this.#keepDevice();
  }

  get deviceId(): string {
    return this.#deviceId;
  }

  /** Continues under another name, after the last signal handled under the previous one. */
  takeNewDevice(owner: string | null): void {
    const last = this.lastOf(owner);
    this.#deviceId = randomKey();
    this.#keepDevice();
    if (last !== null) this.keepLast(owner, last, true);
  }

  /**
   * The last signal that a caller has handled; whose signals they are must be known to go on behind
   * one.
   */
  lastOf(owner: string | null): string | null {
    if (owner === null) return null;
    const key = this.#lastKey(owner);
    const own = this.#ownStore?.getItem(key) ?? null;
    if (own !== null) return own;
    const last = this.#store.getItem(key);
    // From here on this tab has its own position, independent of the others.
    if (last !== null) this.#ownStore?.setItem(key, last);
    return last;
  }

  /** A caller has handled nothing yet, and begins behind this signal. */
  begin(owner: string | null, id: string): void {
    if (owner === null) return;
    this.keepLast(owner, id, this.#store.getItem(this.#lastKey(owner)) === null);
  }

  /** `isForAll` if the other tabs of the browser get it from this one. */
  keepLast(owner: string | null, id: string, isForAll: boolean): void {
    if (owner === null) return;
    const key = this.#lastKey(owner);
    this.#ownStore?.setItem(key, id);
    if (isForAll) this.#store.setItem(key, id);
  }

  #keepDevice(): void {
    this.#store.setItem(this.#key("device"), this.#deviceId);
  }

  #lastKey(owner: string): string {
    return `${this.#key("last")} ${this.#deviceId} ${owner}`;
  }

  #key(of: string): string {
    return `opwright ${this.#place} ${of}`;
  }
}
