// Probes, metrics, API documents and public keys: what the service answers besides its operations
// (decisions.md §3 "Infrastructure").
import { readFile } from "node:fs/promises";
import type { JsonWebKey } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { answerGet } from "../http/get-only.js";
import { KeptText } from "../http/kept-text.js";
import { jsonType, sendJson } from "../http/reply.js";
import { pathOf } from "../http/target.js";
import { securityHeaderList } from "../http/security-headers.js";
import { withPublicHost, withPublicServer } from "./published-address.js";
import type { Metrics } from "./metrics.js";
import type { Readiness } from "./readiness.js";
import type { ProbePaths } from "./service.js";

export interface SystemEndpointsOptions {
  /** The generated folder, for its documents. */
  readonly folder: string;
  /** The URL at which clients reach the service, if a setting says it. */
  readonly publicUrl: string | undefined;
  /** Whether there is an AsyncAPI document. */
  readonly hasRealtime: boolean;
  /** Where the public keys of access tokens are served; null for nowhere. */
  readonly jwks: { readonly path: string; readonly maxAgeSeconds: number } | null;
  readonly publicKeys: readonly JsonWebKey[];
}

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

/** The endpoints at which a service describes itself. */
export interface SystemEndpoints {
  readonly paths: readonly string[];
  /** Answers one of them; returns whether it did. */
  answer(req: IncomingMessage, res: ServerResponse): boolean;
}

interface Kept {
  readonly text: KeptText;
  readonly caching: string;
}

/** Answers `/openapi.json`, `/asyncapi.json` and the path of the public keys (RFC 7517). */
export function systemEndpoints(options: SystemEndpointsOptions): SystemEndpoints {
  const { jwks, publicUrl } = options;
  const document = (name: string, withAddress: typeof withPublicServer): KeptText =>
    new KeptText(async () => {
      const path = join(options.folder, name);
      if (publicUrl === undefined) return readFile(path);
      return withAddress(await readFile(path, "utf8"), publicUrl);
    });
  const answers = new Map<string, Kept>([
    ["/openapi.json", { text: document("openapi.json", withPublicServer), caching: "no-cache" }],
  ]);
  if (options.hasRealtime)
    answers.set("/asyncapi.json", {
      text: document("asyncapi.json", withPublicHost),
      caching: "no-cache",
    });
  if (jwks !== null) {
    const keys = JSON.stringify({ keys: options.publicKeys });
    const caching = `public, max-age=${jwks.maxAgeSeconds}`;
    answers.set(jwks.path, { text: new KeptText(async () => keys), caching });
  }
  const reply = (req: IncomingMessage, res: ServerResponse): boolean => {
    const path = pathOf(req.url ?? "");
    const answer = answers.get(path);
    if (answer === undefined) return false;
    const headers = ["Cache-Control", answer.caching, "Content-Type", jsonType];
    answerGet(req, res, () => answer.text.answer(req, res, [...headers, ...securityHeaderList]));
    return true;
  };
  return { paths: [...answers.keys()], answer: reply };
}
