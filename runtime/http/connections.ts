// The order and the bounds of the connections of an HTTP server: whatever arrives on one has its
// turn after what came before (decisions.md "One order per connection"), answers must be read, a
// first byte comes in time. RFC 9112 §9.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Exchange } from "./exchange.js";
import { Server as NetServer, type Socket } from "node:net";
import { writeWithOthers } from "./answer-writes.js";
import {
  monotonicMillis,
  nextTurn,
  runNextTurn,
  startInterval,
  startTimer,
} from "../ports/ambient.js";

export interface ConnectionLimits {
  /** Connections at a time; further ones are closed at once. */
  readonly most: number;
  /** Seconds within which a connection brings its first request. */
  readonly idleSeconds: number;
  /** Seconds that a client may read nothing of an answer. */
  readonly stallSeconds: number;
  /** Bytes of large answers that this process holds. */
  readonly answerBytes: number;
}

/** Requests that may wait on one connection; enough for all that one read of the socket brings. */
const maxPipelined = 4_096;
/**
 * For how many turns of the event loop to wait for one in which nobody connects, and how short that
 * turn must be.
 */
const quietTurns = 2_000;
const shortTurnMillis = 0.1;

/**
 * What waits for its turn: a request with its answer, or the last thing on a connection, which has
 * none.
 */
interface Turn {
  readonly res: ServerResponse | null;
  readonly run: () => void;
}

/** Bytes that are not HTTP, or not the rest of it. */
export interface Unreadable {
  /**
   * Whether the caller has ended his side in the middle of a request: then nobody waits for
   * answers.
   */
  readonly hasLeft: boolean;
  /** Answers on the bare connection, and ends it. */
  refuse(): void;
  /** Called if it is the body of a request that runs: that one answers in its own way. */
  breakBody(req: IncomingMessage): void;
}

interface State {
  /** The answer under way. */
  current: ServerResponse | undefined;
  /** What came after it. */
  readonly waiting: Turn[];
  /** Whether a refusal or another protocol has come: nothing that arrives behind it runs. */
  isOver: boolean;
  /**
   * Takes back what stands in for Node's parser, which has let go of the socket; undefined while it
   * reads.
   */
  reattach: (() => void) | undefined;
  isUsed: boolean;
  isPausing: boolean;
  /** Cancels the time limit for reading the answer under way; undefined if it has none. */
  unwatch: (() => void) | undefined;
  /** When it was accepted or its last answer ended, on the monotonic clock. */
  freeSince: number;
  /** Called when the answer under way has ended. */
  readonly free: (exchange: Exchange) => void;
}

/** How many connections there are, and how many were ended or refused. */
export interface ConnectionCounts {
  readonly open: number;
  readonly dropped: number;
  readonly silent: number;
  readonly stalled: number;
  readonly pipelined: number;
}

/** Keeps the connections of one server. */
export class Connections {
  readonly #server: Server;
  readonly #limits: ConnectionLimits;
  readonly #states = new Map<Socket, State>();
  readonly #sweeping: NodeJS.Timeout;
  readonly #counts = { dropped: 0, silent: 0, stalled: 0, pipelined: 0 };
  #accepted = 0;
  #isSettling = false;

  constructor(server: Server, limits: ConnectionLimits) {
    this.#server = server;
    this.#limits = limits;
    server.maxConnections = limits.most;
    server.on("drop", () => (this.#counts.dropped += 1));
    server.on("connection", (socket: Socket) => {
      // Known if its parser begins anew.
      if (this.#states.has(socket)) return;
      this.#accepted += 1;
      this.#keep(socket);
      socket.once("close", () => this.#states.delete(socket));
    });
    const every = Math.min(1_000, limits.idleSeconds * 250, limits.stallSeconds * 250);
    this.#sweeping = startInterval(() => this.#sweep(), every).unref();
  }

  #keep(socket: Socket): void {
    writeWithOthers(socket);
    const state: State = {
      current: undefined,
      waiting: [],
      isOver: false,
      reattach: undefined,
      isUsed: false,
      isPausing: false,
      unwatch: undefined,
      freeSince: monotonicMillis(),
      free: ({ endedAt }) => {
        state.current = undefined;
        state.freeSince = endedAt;
        state.unwatch?.();
        if (state.waiting.length > 0) this.#next(socket, state);
        else if (state.isOver && state.reattach === undefined) socket.destroySoon();
      },
    };
    this.#states.set(socket, state);
  }

  get counts(): ConnectionCounts {
    return { open: this.#states.size, ...this.#counts };
  }

  /**
   * Runs a request once the earlier ones on its connection have been answered; until then nothing
   * more is read.
   */
  admit(req: IncomingMessage, res: ServerResponse, run: () => void): void {
    const { socket } = req;
    const state = this.#states.get(socket);
    if (state === undefined) return run();
    if (!socket.writable || state.isOver) return;
    state.isUsed = true;
    if (state.current === undefined) return this.#begin(state, res, run);
    if (state.waiting.length >= maxPipelined) {
      socket.destroy();
      return;
    }
    this.#counts.pipelined += 1;
    state.waiting.push({ res, run });
    if (state.isPausing) return;
    state.isPausing = true;
    // After the ticks in which Node's parser resumes reading from its socket after each request.
    queueMicrotask(() => {
      state.isPausing = false;
      if (state.waiting.length > 0 && state.reattach === undefined) socket.pause();
    });
  }

  /**
   * Answers what Node's parser could not read, once everything before it has been answered. Nothing
   * behind it is read.
   */
  refuseRest(socket: Socket, unreadable: Unreadable): void {
    const state = this.#states.get(socket);
    if (state === undefined) return unreadable.refuse();
    // The parser says it again for everything that still arrives.
    if (state.isOver) return;
    state.isOver = true;
    socket.pause();
    const { current, waiting } = state;
    if (current === undefined) return unreadable.refuse();
    const last = waiting.at(-1)?.res ?? current;
    if (last === current && !last.req.complete) {
      if (!last.headersSent) last.shouldKeepAlive = false;
      return unreadable.breakBody(last.req);
    }
    if (unreadable.hasLeft) return void socket.end();
    // A request that waits, and whose body is what could not be read, is refused in its place.
    if (!last.req.complete) waiting.pop();
    waiting.push({ res: null, run: unreadable.refuse });
  }

  /**
   * Runs what asks for another protocol once everything before it has been answered. Node's parser
   * has let go of the socket by then, and whatever follows belongs to the other protocol, unless
   * `readAgain` is called.
   */
  switchOver(socket: Socket, run: () => void): void {
    const state = this.#states.get(socket);
    if (state === undefined) return run();
    if (!socket.writable || state.isOver) return;
    state.isUsed = true;
    state.isOver = true;
    state.reattach = standInForParser(socket, () => state.current);
    if (state.current === undefined) run();
    else state.waiting.push({ res: null, run });
  }

  /** Gives a socket to another protocol, which has bounds of its own. */
  release(socket: Socket): void {
    this.#states.get(socket)?.reattach?.();
    this.#states.delete(socket);
  }

  /**
   * Reads on in HTTP/1.1 on a socket that Node's parser has let go of, beginning with these bytes.
   */
  readAgain(socket: Socket, bytes: Buffer): void {
    const state = this.#states.get(socket);
    if (state === undefined) return void socket.destroy();
    state.freeSince = monotonicMillis();
    // Not while the parser that read them is still on the stack: parsers are used again.
    runNextTurn(() => {
      if (!socket.writable || socket.readableEnded) return void socket.destroy();
      state.reattach?.();
      state.reattach = undefined;
      state.isOver = false;
      // Node's time limit for the next request.
      socket.setTimeout(0);
      socket.unshift(bytes);
      this.#server.emit("connection", socket);
    });
  }

  /**
   * From now on every answer closes its connection, so that clients connect elsewhere and lose no
   * request.
   */
  settle(): void {
    this.#isSettling = true;
    for (const { current } of this.#states.values())
      if (current !== undefined && !current.headersSent) current.shouldKeepAlive = false;
  }

  /**
   * Closes the listener; resolves when every connection has ended. A connection that was used less
   * than `lingerMillis` ago stays open until then, because its client may just be using it again.
   */
  async close(patienceMillis: number, lingerMillis: number): Promise<void> {
    await this.#untilNoneWaits();
    // Not `close` of the HTTP server, which ends idle connections that clients may just be using.
    const done = new Promise<void>((resolve) => {
      NetServer.prototype.close.call(this.#server, () => resolve());
    });
    // After the reads of this turn, so that a request that has just arrived is seen and not thrown
    // away.
    const ending = startInterval(() => runNextTurn(() => this.#endIdle(lingerMillis)), 50);
    const patience = startTimer(() => {
      for (const socket of this.#states.keys()) socket.destroy();
      this.#server.closeAllConnections();
    }, patienceMillis);
    await done;
    clearInterval(ending);
    clearTimeout(patience);
    clearInterval(this.#sweeping);
    // Ends the timers of the HTTP server; its connections are closed by now.
    this.#server.close(() => undefined);
  }

  /**
   * Resolves at a moment when every connection has been accepted, because the system resets those
   * that wait when the listener closes. Each turn of the event loop accepts one.
   */
  async #untilNoneWaits(): Promise<void> {
    for (let turns = 0; turns < quietTurns; turns += 1) {
      const [accepted, began] = [this.#accepted, monotonicMillis()];
      await nextTurn();
      // If a process is too busy for short turns, a turn of ten times the length is accepted in the
      // end.
      const short = turns < quietTurns / 2 ? shortTurnMillis : 10 * shortTurnMillis;
      if (this.#accepted === accepted && monotonicMillis() - began < short) return;
    }
  }

  #endIdle(lingerMillis: number): void {
    const before = monotonicMillis() - lingerMillis;
    for (const [socket, { current, freeSince }] of this.#states)
      if (current === undefined && freeSince <= before) socket.destroy();
  }

  #begin(state: State, res: ServerResponse, run: () => void): void {
    state.current = res;
    if (this.#isSettling) res.shouldKeepAlive = false;
    Exchange.of(res.req, res).whenEnded(state.free);
    run();
  }

  #next(socket: Socket, state: State): void {
    // What comes after an answer that closes the connection doesn't run, because it couldn't be
    // answered (RFC 9112 §9.6).
    if (!socket.writable) state.waiting.length = 0;
    const next = state.waiting.shift();
    if (next === undefined) return;
    // Its own answer is not under way yet.
    socket.setTimeout(0);
    if (next.res === null) return next.run();
    this.#begin(state, next.res, next.run);
    if (state.waiting.length === 0 && !state.isOver && socket.isPaused()) socket.resume();
  }

  #sweep(): void {
    for (const [socket, state] of this.#states) {
      if (state.current !== undefined) this.#watch(socket, state, state.current);
      else if (!state.isUsed) this.#endSilent(socket, state);
    }
  }

  /**
   * The time limit of an answer that waits for its reader; answers that the system takes at once
   * don't need one.
   */
  #watch(socket: Socket, state: State, res: ServerResponse): void {
    if (!res.headersSent || socket.writableLength === 0) {
      if (state.unwatch !== undefined) socket.setTimeout(0);
      return state.unwatch?.();
    }
    // While a client doesn't read, nothing is read from it either: its data would count as a sign
    // of life.
    if (res.req.complete && state.reattach === undefined) socket.pause();
    if (state.unwatch !== undefined) return;
    const stalled = (): void => {
      this.#counts.stalled += 1;
      socket.destroy();
    };
    // Node calls this after a time without traffic in either direction, and restarts the time with
    // any traffic.
    socket.setTimeout(this.#limits.stallSeconds * 1000);
    socket.once("timeout", stalled);
    state.unwatch = () => {
      state.unwatch = undefined;
      socket.off("timeout", stalled);
      if (state.waiting.length === 0 && !state.isOver && socket.isPaused()) socket.resume();
    };
  }

  /** Node's own time limits begin with the first byte. */
  #endSilent(socket: Socket, { freeSince }: State): void {
    const before = monotonicMillis() - this.#limits.idleSeconds * 1000;
    if (socket.bytesRead > 0 || freeSince > before) return;
    this.#counts.silent += 1;
    socket.destroy();
  }
}

/**
 * Does for a socket what Node's parser did before it let go: a caller who resets must not end the
 * process, one who ends his side has left, and an answer under way goes on when there is room.
 * Returns how to end that.
 */
function standInForParser(socket: Socket, current: () => ServerResponse | undefined): () => void {
  const failed = (): void => void socket.destroy();
  const left = (): void => void socket.end();
  const drained = (): void => void current()?.emit("drain");
  socket.on("error", failed).on("end", left).on("drain", drained);
  return () => {
    socket.off("error", failed).off("end", left).off("drain", drained);
  };
}
