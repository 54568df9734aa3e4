// The boundary: who is calling and whose data, bound before the operation (service.md
// "Authentication", "Tenant binding").
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { authenticate, readOf } from "../families/identity/authenticate.js";
import { challengeOf } from "../families/identity/challenges.js";
import type { IdentitySpec } from "../families/identity/spec.js";
import type { Work } from "../ports/work.js";
import type { Resources } from "../operations/resources.js";
import { isUuid } from "../contract/uuid.js";
import { bindHints, type Bound, type TenantHint } from "../families/tenancy/bind.js";
import type { CallerRequest } from "./caller-request.js";
import type { AnswerStyle } from "./exchange.js";
import { requestedHost, type ProxyTrust } from "./proxies.js";
import { tenantStore } from "../ports/tenants.js";

export interface BoundaryOptions {
  /** Without it every request is anonymous. */
  readonly identity: IdentitySpec | undefined;
  readonly resources: Resources;
  readonly trustsProxy: ProxyTrust;
  /** Origins besides our own that may send cookies. */
  readonly allowedOrigins: readonly string[];
}

/** What a realtime connection says who is calling with beside its headers. */
export interface Presented {
  /** It counts in place of what the headers have. */
  readonly token: string | null;
  /** The parameters of a WebSocket's handshake, which an ingress may look at. */
  readonly handshake: ReadonlyMap<string, string>;
}

/** Headers alone. */
export const nothingPresented: Presented = { token: null, handshake: new Map() };

/** Says who is calling, within a lifetime. */
export type Bind = (
  req: CallerRequest,
  work: Omit<Work, "payer">,
  presented?: Presented,
) => Bound | Promise<Bound>;

/** Where the credentials of a connection are. */
export interface CredentialPlaces {
  /** Parameters of a WebSocket's handshake that are credentials. */
  readonly parameters: readonly string[];
  /**
   * What a connection keeps of its request, so that it can be asked again who is calling: the rest
   * takes more memory than the connection itself.
   */
  readonly keep: (req: IncomingMessage) => CallerRequest;
}

export function credentialPlaces(spec: IdentitySpec | undefined): CredentialPlaces {
  const names = [...callerFieldsOf(spec), "Host", "X-Forwarded-Host"].map((one) =>
    one.toLowerCase(),
  );
  return {
    parameters: spec?.ingress.flatMap((one) => (one.kind === "query" ? one.query : [])) ?? [],
    keep({ method, headers, socket }) {
      const kept: IncomingHttpHeaders = {};
      for (const name of names) if (headers[name] !== undefined) kept[name] = headers[name];
      return { method, headers: kept, socket };
    },
  };
}

/** How answers speak of credentials: the fields that they depend on, and the challenge of a 401. */
export function credentialStyle(
  spec: IdentitySpec | undefined,
): Pick<AnswerStyle, "callerFields" | "challenge"> {
  return { callerFields: callerFieldsOf(spec), challenge: challengeOf(spec) };
}

/** The header fields that say who is calling and whose data the request is about. */
function callerFieldsOf(spec: IdentitySpec | undefined): readonly string[] {
  if (spec === undefined) return [];
  const fields = spec.ingress.flatMap((one) => {
    if (one.kind === "query") return [];
    return one.kind === "cookie" ? "Cookie" : one.header;
  });
  return [...new Set([...fields, ...(spec.tenantHints.header ? ["X-Tenant-Id"] : [])])];
}

const nobody: Bound = { identity: null, tenant: null };

/** Binds a request. Throws errors of the kind authentication, and `origin_forbidden`. */
export function boundary({
  identity: spec,
  resources,
  trustsProxy,
  allowedOrigins,
}: BoundaryOptions): Bind {
  if (spec === undefined) return () => nobody;
  const hasHints = spec.tenantHints.header || spec.tenantHints.host !== null;
  return async (req, work, { token, handshake } = nothingPresented) => {
    const host = (): string => requestedHost(req, trustsProxy, spec.trustForwardedHost);
    const { method = "", headers } = req;
    const request = { method, headers, handshake, host, allowedOrigins };
    const identity = await authenticate(spec, resources, work, request, token);
    const hints = hasHints ? hintsOf(spec, req, host) : [];
    if (hints.length === 0) return { identity, tenant: identity?.tenant ?? null };
    return bindHints(readOf(resources, work).of(tenantStore), identity, hints);
  };
}

/** The tenants that the header and the host name. */
function hintsOf(
  { tenantHints }: IdentitySpec,
  req: CallerRequest,
  host: () => string,
): readonly TenantHint[] {
  const header = req.headers["x-tenant-id"];
  const hints: TenantHint[] = [];
  if (tenantHints.header && typeof header === "string")
    // A hint that isn't an id names no existing tenant.
    hints.push(isUuid(header) ? { id: header.toLowerCase() } : { key: "" });
  if (tenantHints.host === null) return hints;
  const [before = "", after = ""] = tenantHints.host.split("{tenant}");
  const name = host().replace(/:\d+$/, "");
  const isOurs =
    name.length > before.length + after.length && name.startsWith(before) && name.endsWith(after);
  if (isOurs) hints.push({ key: name.slice(before.length, name.length - after.length) });
  return hints;
}
