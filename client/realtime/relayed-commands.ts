// The commands of a tab whose line another one has: they go through that tab, and wait here for its
// answers.
import { ApiError, errorOf } from "../core.js";
import type { Command } from "./port.js";
import { commandFreshMillis, type Message } from "./tab-messages.js";

type Asked = Extract<Message, { readonly kind: "command" }>;
type Answer = Extract<Message, { readonly kind: "answer" }>;

interface Waiting {
  readonly resolve: (data: unknown) => void;
  readonly reject: (error: ApiError) => void;
}

export class RelayedCommands {
  readonly #tab: string;
  readonly #waiting = new Map<number, Waiting>();
  #asked = 0;

  constructor(tab: string) {
    this.#tab = tab;
  }

  ask(
    { name, payload, idempotencyKey, millis }: Command,
    tell: (asked: Asked) => void,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const cid = (this.#asked += 1);
      const command = { name, json: JSON.stringify(payload), idempotencyKey, millis };
      this.#waiting.set(cid, { resolve, reject });
      const until = Date.now() + commandFreshMillis;
      tell({ kind: "command", tab: this.#tab, cid, until, command });
    });
  }

  answered({ tab, cid, data, error }: Answer): void {
    if (tab !== this.#tab) return;
    const waiting = this.#waiting.get(cid);
    this.#waiting.delete(cid);
    if (error === undefined) waiting?.resolve(data);
    else waiting?.reject(errorOf(error));
  }

  /** The tab that was asked is gone. */
  breakOff(): void {
    for (const { reject } of this.#waiting.values())
      reject(new ApiError("client.network", "the tab that had the connection is gone"));
    this.#waiting.clear();
  }
}
