// Probes and the OpenAPI document: what the service answers besides its operations (decisions.md §3 "Infrastructure").
import { readFile } from "node:fs/promises";
import type { JsonWebKey } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { answerGet } from "../http/get-only.js";
import { sendJson } from "../http/reply.js";
import { securityHeaderList } from "../http/security-headers.js";

export interface SystemEndpointsOptions {
  /** The generated folder, for its documents. */
  readonly folder: string;
  /** Whether there is a document of the realtime plane. */
  readonly hasRealtime: boolean;
  /** Resolves to whether the service can take requests now. */
  readonly isReady: () => Promise<boolean>;
  /** Where the public keys of access tokens are, or null. */
  readonly jwks: { readonly path: string; readonly maxAgeSeconds: number } | null;
  readonly publicKeys: readonly JsonWebKey[];
}

/** Answers `/livez`, `/readyz`, `/openapi.json` and the public keys (RFC 7517); returns whether it did. */
export function systemEndpoints(
  options: SystemEndpointsOptions,
): (req: IncomingMessage, res: ServerResponse) => boolean {
  let openapi: Promise<string> | undefined;
  let asyncapi: Promise<string> | undefined;
  const answers = new Map<string, () => Promise<readonly [number, string]>>([
    ["/livez", async () => [200, `{"status":"alive"}`]],
    [
      "/readyz",
      async () =>
        (await options.isReady()) ? [200, `{"status":"ready"}`] : [503, `{"status":"not ready"}`],
    ],
    [
      "/openapi.json",
      async () => {
        openapi ??= readFile(join(options.folder, "openapi.json"), "utf8");
        return [200, await openapi];
      },
    ],
  ]);
  if (options.hasRealtime)
    answers.set("/asyncapi.json", async () => {
      asyncapi ??= readFile(join(options.folder, "asyncapi.json"), "utf8");
      return [200, await asyncapi];
    });
  const { jwks } = options;
  const jwkSet = JSON.stringify({ keys: options.publicKeys });
  if (jwks !== null) answers.set(jwks.path, async () => [200, jwkSet]);
  return (req, res) => {
    const url = req.url ?? "";
    const end = url.indexOf("?");
    const path = end < 0 ? url : url.slice(0, end);
    const answer = answers.get(path);
    if (answer === undefined) return false;
    answerGet(req, res, async () => {
      const [status, text] = await answer();
      const caching = path === jwks?.path ? `public, max-age=${jwks.maxAgeSeconds}` : "no-store";
      sendJson(req, res, status, ["Cache-Control", caching, ...securityHeaderList], text);
    });
    return true;
  };
}
