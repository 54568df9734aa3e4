// Everybody whom the service calls: odd receivers on one port; good ones, which note what arrives, on another.
import { createServer } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { oddServer } from "../../faults/odd-receivers.js";
import { program } from "./program.js";

export interface ReceiverPorts {
  readonly odd: number;
  readonly good: number;
}

/** The numbers of the events that have arrived, by the path of the receiver. */
export type Received = Readonly<Record<string, readonly number[]>>;

program(async () => {
  const received = new Map<string, Set<number>>();
  const sockets = new Set<Socket>();
  const odd = oddServer(sockets);
  const good = createServer((req, res) => {
    void text(req).then((body) => {
      const { data } = JSON.parse(body) as { readonly data: { readonly n: number } };
      const path = req.url ?? "";
      const those = received.get(path) ?? new Set<number>();
      received.set(path, those.add(data.n));
      res.writeHead(204).end();
    });
  });
  const portOf = async (server: Server): Promise<number> => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  };
  return {
    begun: { odd: await portOf(odd), good: await portOf(good) } satisfies ReceiverPorts,
    end: async (): Promise<Received> =>
      Object.fromEntries([...received].map(([path, numbers]) => [path, [...numbers]])),
  };
});
