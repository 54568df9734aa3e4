// A small reverse proxy, as a rolling deployment has one: it asks upstreams whether they are ready, and never tries again.
import {
  Agent,
  createServer,
  get,
  request,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

/** A process behind the proxy. */
export interface Upstream {
  readonly version: string;
  readonly port: number;
}

export interface RollingProxy {
  readonly port: number;
  /** Has a process take its share once it is ready; resolves then. */
  add(upstream: Upstream): Promise<void>;
  close(): Promise<void>;
}

/** How often upstreams are asked whether they are ready, in milliseconds. */
const lookMillis = 100;
/** Who answers stands in this header; a request that has it is for that version alone. */
export const versionHeader = "x-version";

export async function startProxy(): Promise<RollingProxy> {
  const agent = new Agent({ keepAlive: true });
  const upstreams = new Map<Upstream, boolean>();
  const waiting = new Map<Upstream, () => void>();
  let turn = 0;
  const chosen = (version: string | undefined): Upstream | undefined => {
    const ready = [...upstreams].flatMap(([upstream, isReady]) => (isReady ? [upstream] : []));
    const fitting = ready.filter((one) => version === undefined || one.version === version);
    return fitting[(turn += 1) % Math.max(1, fitting.length)];
  };
  const look = (upstream: Upstream): void => {
    const told = (isReady: boolean): void => {
      if (!upstreams.has(upstream)) return;
      upstreams.set(upstream, isReady);
      if (!isReady) return;
      waiting.get(upstream)?.();
      waiting.delete(upstream);
    };
    get({ port: upstream.port, host: "127.0.0.1", path: "/readyz", agent: false }, (answer) => {
      answer.resume();
      told(answer.statusCode === 200);
    }).on("error", () => told(false));
  };
  const looking = setInterval(() => [...upstreams.keys()].forEach(look), lookMillis);
  const server = createServer((req, res) => {
    const upstream = chosen(req.headers[versionHeader] as string | undefined);
    if (upstream === undefined) res.writeHead(503).end("no upstream is ready");
    else pass(req, res, upstream, agent);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    add: (upstream) =>
      new Promise((resolve) => {
        waiting.set(upstream, resolve);
        upstreams.set(upstream, false);
      }),
    async close() {
      clearInterval(looking);
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function pass(req: IncomingMessage, res: ServerResponse, upstream: Upstream, agent: Agent): void {
  const { method, url, headers } = req;
  const onward = request({
    port: upstream.port,
    host: "127.0.0.1",
    method,
    path: url,
    headers,
    agent,
  });
  onward.on("response", (answer) => {
    res.writeHead(answer.statusCode ?? 502, {
      ...answer.headers,
      [versionHeader]: upstream.version,
    });
    answer.pipe(res);
  });
  onward.on("error", (error) => res.writeHead(502).end(`${upstream.version}: ${error.message}`));
  req.pipe(onward);
}
