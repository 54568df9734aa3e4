// A proxy before a PostgreSQL server that falls silent within an answer, as a network does: nobody is told.
import { createConnection, createServer, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";
import { throughPort } from "./pgbouncer.js";

/** One message of the server's: its type (PostgreSQL's manual, "Message Formats"), and its bytes. */
type Swallows = (type: string, message: Buffer) => boolean;

export interface SwallowingProxy {
  url(direct: string): string;
  /** From a message on that this picks, a connection hears nothing more; null lets all pass. */
  swallows: Swallows | null;
  close(): void;
}

export async function startSwallowingProxy(server: string): Promise<SwallowingProxy> {
  const { hostname, port } = new URL(server);
  const sockets = new Set<Socket>();
  const proxy = { swallows: null as Swallows | null };
  const listener = createServer((client) => {
    const upstream = createConnection(Number(port || 5432), hostname);
    let isSilent = false;
    let waiting = Buffer.alloc(0);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
    }
    client.on("data", (data) => void (isSilent || upstream.write(data)));
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => void (isSilent || client.destroy()));
    upstream.on("data", (data: Buffer) => {
      waiting = Buffer.concat([waiting, data]);
      while (waiting.length >= 5) {
        const length = waiting.readInt32BE(1) + 1;
        if (waiting.length < length) return;
        const message = waiting.subarray(0, length);
        waiting = waiting.subarray(length);
        isSilent ||= proxy.swallows?.(String.fromCodePoint(message[0] ?? 0), message) ?? false;
        if (!isSilent) client.write(message);
      }
    });
  }).listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address() as AddressInfo;
  return Object.assign(proxy, {
    url: (direct: string) => throughPort(direct, address.port),
    close() {
      listener.close();
      for (const socket of sockets) socket.destroy();
    },
  });
}
