// A TCP proxy between a service and an engine, which makes the faults of a network; tests change its mode while connections are open.
import { once } from "node:events";
import { createServer, connect, type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** From the service to the engine, or back. */
export type Direction = "up" | "down";

export type Mode =
  /** Everything passes; after so long, and so many bytes a second, where they are given (each way). */
  | {
      readonly kind: "pass";
      readonly latencyMillis?: number;
      readonly bytesPerSecond?: number;
    }
  /** New connections are refused; open ones go on. */
  | { readonly kind: "refuse" }
  /**
   * Connections are accepted, bytes and ends swallowed, and nothing is ever closed: a firewall that forgot its table. A
   * connection that lost bytes stays silent also when the mode has changed.
   */
  | { readonly kind: "silent" }
  /** The same in one direction alone. */
  | { readonly kind: "half-open"; readonly dead: Direction };

export interface Proxy {
  readonly port: number;
  /** The same URL with the proxy's host and port. */
  url(of: string): string;
  become(mode: Mode): Promise<void>;
  /** Resets every open connection on both sides; new ones are treated as the mode says. */
  cut(): void;
  /** Connections accepted so far, and those that the service has not ended; the engine's ends may still be there. */
  readonly accepted: number;
  readonly open: number;
  close(): Promise<void>;
}

/** A connection of the service with its counterpart at the engine. */
interface Link {
  readonly service: Socket;
  readonly engine: Socket;
  /** Directions that have lost bytes. */
  readonly lost: Set<Direction>;
}

/** How much waits for a slow direction before its sender is no longer read. */
const queueBytes = 256 * 1024;

/** Starts a proxy on a free port that passes everything to `host:port`. */
export async function startProxy(host: string, port: number): Promise<Proxy> {
  let mode: Mode = { kind: "pass" };
  let accepted = 0;
  const links = new Set<Link>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (service) => {
    accepted += 1;
    const engine = connect({ host, port, allowHalfOpen: true, noDelay: true });
    const link: Link = { service, engine, lost: new Set() };
    links.add(link);
    join(link, () => mode);
    const forget = (): void => {
      if (service.destroyed && engine.destroyed) links.delete(link);
    };
    service.on("close", forget);
    engine.on("close", forget);
  });
  await listen(server, 0);
  const own = (server.address() as AddressInfo).port;
  const cut = (): void => {
    for (const { service, engine } of links) {
      service.resetAndDestroy();
      engine.resetAndDestroy();
    }
  };
  return {
    port: own,
    url(of) {
      const url = new URL(of);
      url.hostname = "127.0.0.1";
      url.port = String(own);
      return url.href;
    },
    async become(next) {
      mode = next;
      if (next.kind === "refuse") server.close();
      else if (!server.listening) await listen(server, own);
    },
    cut,
    get accepted() {
      return accepted;
    },
    get open() {
      return [...links].filter(({ service }) => !service.readableEnded && !service.destroyed)
        .length;
    },
    async close() {
      server.close();
      cut();
    },
  };
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
}

/** Connects both directions of a link, as the mode of the moment says. */
function join(link: Link, mode: () => Mode): void {
  const { service, engine } = link;
  carry(link, "up", mode);
  carry(link, "down", mode);
  const isSilent = (): boolean => link.lost.size === 2 || mode().kind === "silent";
  // What resets one side resets the other, unless nobody hears of it.
  for (const [socket, other] of [
    [service, engine],
    [engine, service],
  ] as const) {
    socket.on("error", () => undefined);
    socket.on("close", () => {
      if (!isSilent() && !other.destroyed) other.destroySoon();
    });
  }
}

function carry(link: Link, direction: Direction, mode: () => Mode): void {
  const [from, to] = direction === "up" ? [link.service, link.engine] : [link.engine, link.service];
  const queue: { readonly chunk: Buffer | null; readonly at: number }[] = [];
  let waiting = 0;
  let isRunning = false;
  const isLost = (): boolean => {
    const now = mode();
    const loses = now.kind === "silent" || (now.kind === "half-open" && now.dead === direction);
    if (loses) link.lost.add(direction);
    return link.lost.has(direction);
  };
  const run = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { chunk, at } = next;
      const now = mode();
      if (now.kind === "pass") {
        const due = at + (now.latencyMillis ?? 0) - Date.now();
        const long = ((chunk?.length ?? 0) * 1_000) / (now.bytesPerSecond ?? Infinity);
        if (due + long > 0) await sleep(Math.max(due, 0) + long);
      }
      waiting -= chunk?.length ?? 0;
      if (waiting < queueBytes) from.resume();
      if (isLost() || to.destroyed) continue;
      if (chunk === null) to.end();
      else if (!to.write(chunk)) await Promise.race([once(to, "drain"), once(to, "close")]);
    }
    isRunning = false;
  };
  const push = (chunk: Buffer | null): void => {
    if (isLost()) return;
    queue.push({ chunk, at: Date.now() });
    waiting += chunk?.length ?? 0;
    if (waiting >= queueBytes) from.pause();
    if (isRunning) return;
    isRunning = true;
    // Whoever goes away while it waits has been dealt with by the events of its socket.
    run().catch(() => undefined);
  };
  from.on("data", push);
  from.on("end", () => push(null));
}
