// Which of several servers accepts writes. If the one of the last connection refuses or is slow,
// all are asked at once, so that a server that doesn't answer holds nobody up.
import type { Socket } from "node:net";
import type { Lifetime } from "../../ports/lifetime.js";
import { startTimer } from "../../ports/ambient.js";
import { isOfTable } from "./faults.js";

/** The others are asked once one hasn't answered for so many milliseconds. */
const slowMillis = 500;
/** The server may change twice while a connection is made. */
const mostTries = 3;

export class WritingServer {
  /** The index of the server that new connections go to. */
  current = 0;
  readonly #count: number;
  readonly #expectWriter: (server: number) => Promise<void>;
  /** Sockets that are being connected, and to which server. */
  readonly #connecting = new Map<Socket, number>();
  #searching: Promise<number> | undefined;

  /**
   * `expectWriter` asks one of `count` servers, on a connection that is for nothing else, and
   * rejects if it doesn't accept writes.
   */
  constructor(count: number, expectWriter: (server: number) => Promise<void>) {
    this.#count = count;
    this.#expectWriter = expectWriter;
  }

  /** Notes that a socket is being connected to a server, until it is settled or closed. */
  connecting(socket: Socket, server: number): void {
    this.#connecting.set(socket, server);
    socket.once("close", () => this.#connecting.delete(socket));
  }

  /** Notes that a connection is ready for use. */
  settled(socket: Socket | undefined): void {
    if (socket !== undefined) this.#connecting.delete(socket);
  }

  /** Runs `connect`, again if another server turns out to be the right one. */
  async reach<T>(connect: () => Promise<T>, lifetime: Lifetime): Promise<T> {
    if (this.#count === 1) return connect();
    for (let tries = 1; ; tries += 1) {
      const tried = this.current;
      const slow = startTimer(() => void this.#lookElsewhere(tried), slowMillis).unref();
      try {
        return await connect();
      } catch (error) {
        if (isOfTable(error) || tries === mostTries) throw error;
        if (!(await lifetime.race(this.#lookElsewhere(tried), "the database"))) throw error;
      } finally {
        clearTimeout(slow);
      }
    }
  }

  /**
   * Goes to the server that accepts writes, if it is another one than was tried; who waits for the
   * one that was tried no longer does. Resolves with whether there is one.
   */
  async #lookElsewhere(tried: number): Promise<boolean> {
    if (this.current !== tried) return true;
    const found = await this.#search().catch(() => null);
    if (found !== null && found !== tried && this.current === tried) {
      this.current = found;
      for (const [socket, server] of this.#connecting) if (server === tried) socket.destroy();
    }
    return found !== null;
  }

  #search(): Promise<number> {
    const ask = async (server: number): Promise<number> => {
      await this.#expectWriter(server);
      return server;
    };
    const askAll = (): Promise<number> =>
      Promise.any(Array.from({ length: this.#count }, (_none, server) => ask(server)));
    return (this.#searching ??= askAll().finally(() => {
      this.#searching = undefined;
    }));
  }
}
