// A real receiver of deliveries: of an outbox's destinations, whose path says which version sends, and of webhooks.
import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface Delivery {
  /** `/v1/shop`, or the path of a webhook. */
  readonly path: string;
  readonly event: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever was sent
  readonly data: any;
}

export interface Receiver {
  readonly url: string;
  /** What was accepted, oldest first. */
  readonly deliveries: readonly Delivery[];
  /** Resolves when more has been accepted, or after so many milliseconds. */
  more(millis: number): Promise<void>;
  /** Whether it accepts what comes; otherwise it answers 503. */
  isOpen: boolean;
  close(): void;
}

export async function receiver(): Promise<Receiver> {
  const deliveries: Delivery[] = [];
  const accepted = new EventEmitter();
  const server = createServer((req, res) => {
    void text(req).then((body) => {
      if (!found.isOpen) return res.writeHead(503).end();
      const { type, data } = JSON.parse(body) as { readonly type: string; readonly data: unknown };
      deliveries.push({ path: req.url ?? "", event: type, data });
      accepted.emit("delivery");
      return res.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const found: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    deliveries,
    more: (millis) =>
      once(accepted, "delivery", { signal: AbortSignal.timeout(Math.max(1, millis)) }).then(
        () => undefined,
        () => undefined,
      ),
    isOpen: true,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return found;
}
