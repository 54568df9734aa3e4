// Probes and metrics (decisions.md §3 "Infrastructure").
import type { IncomingMessage, ServerResponse } from "node:http";
import { answerGet } from "../http/get-only.js";
import { sendJson } from "../http/reply.js";
import { pathOf } from "../http/target.js";
import { securityHeaderList } from "../http/security-headers.js";
import type { Metrics } from "./metrics.js";
import type { Readiness } from "./readiness.js";
import type { ProbePaths } from "./service.js";

export interface WatchEndpointsOptions {
  /** False while the service stops. */
  readonly isActive: () => boolean;
  readonly readiness: () => Promise<Readiness>;
  readonly metrics: Metrics | null;
}

const usualProbes: ProbePaths = { livez: "/livez", readyz: "/readyz" };

/** Answers the probes and `/metrics`; returns whether it did. */
export function watchEndpoints(
  { isActive, readiness, metrics }: WatchEndpointsOptions,
  { livez, readyz }: ProbePaths = usualProbes,
): (req: IncomingMessage, res: ServerResponse) => boolean {
  const common = ["Cache-Control", "no-store", ...securityHeaderList];
  type Answer = (req: IncomingMessage, res: ServerResponse) => Promise<void>;
  const answers = new Map<string, Answer>([
    [livez, async (req, res) => sendJson(req, res, 200, [...common], `{"status":"alive"}`)],
    [
      readyz,
      async (req, res) => {
        const { missing, degraded } = await readiness();
        const isReady = isActive() && missing.length === 0;
        const status = isReady ? "ready" : isActive() ? "not ready" : "stopping";
        const text = JSON.stringify({
          status,
          ...(missing.length === 0 ? {} : { missing }),
          ...(degraded.length === 0 ? {} : { degraded }),
        });
        const retry = isReady ? [] : ["Retry-After", "5"];
        sendJson(req, res, isReady ? 200 : 503, [...common, ...retry], text);
      },
    ],
  ]);
  if (metrics !== null)
    answers.set("/metrics", async (req, res) => {
      const { type, text } = await metrics.text();
      const body = Buffer.from(text);
      const headers = ["Content-Type", type, "Content-Length", String(body.length)];
      res.writeHead(200, [...common, ...headers]);
      res.end(req.method === "HEAD" ? undefined : body);
    });
  return (req, res) => {
    const answer = answers.get(pathOf(req.url ?? ""));
    if (answer === undefined) return false;
    answerGet(req, res, () => answer(req, res));
    return true;
  };
}
