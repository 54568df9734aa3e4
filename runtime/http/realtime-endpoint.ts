// What the realtime transports over HTTP share: who is calling, and whether that still holds.
import type { IncomingMessage } from "node:http";
import { fail } from "../contract/errors.js";
import { ExecutionContext, type Resources } from "../operations/context.js";
import type { Identity } from "../operations/identity.js";
import { Lifetime } from "../operations/lifetime.js";
import type { RealtimePlane } from "../realtime/plane.js";
import type { RealtimeSpec } from "../realtime/spec.js";
import type { Bound } from "../tenancy/bind.js";
import { readMetadata } from "./metadata.js";

export interface RealtimeEndpoint {
  readonly spec: RealtimeSpec;
  readonly plane: RealtimePlane;
  readonly resources: Resources;
  readonly bind: (req: IncomingMessage) => Bound | Promise<Bound>;
  readonly allowedOrigins: readonly string[];
  readonly defaultTenant: string;
  /** False while the service drains. */
  readonly isAccepting: () => boolean;
  /** Whether a request's credential still names this caller, in the same tenant. */
  isGood(req: IncomingMessage, identity: Identity): Promise<boolean>;
}

/** Whether the credential of a request still names the caller. */
export function stillGood(
  bind: RealtimeEndpoint["bind"],
): (req: IncomingMessage, identity: Identity) => Promise<boolean> {
  return async (req, identity) => {
    try {
      const bound = await bind(req);
      const isSame = bound.identity?.principalId === identity.principalId;
      return isSame && bound.tenant === identity.tenant;
    } catch (error) {
      // A database that does not answer ends no session.
      return !(error instanceof Error && "status" in error && error.status === 401);
    }
  };
}

/** The caller, and the context of its connection. Throws `core.authentication` where nobody is calling. */
export async function boundCaller(
  { bind, resources, defaultTenant }: RealtimeEndpoint,
  req: IncomingMessage,
): Promise<{ readonly identity: Identity; readonly context: ExecutionContext }> {
  const { identity, tenant } = await bind(req);
  if (identity === null) throw fail("core.authentication");
  const context = new ExecutionContext(resources, {
    operationId: "realtime.connect",
    metadata: readMetadata(req.headers),
    tenant: tenant ?? defaultTenant,
    idempotencyKey: undefined,
    lifetime: Lifetime.unlimited(),
    identity,
  });
  return { identity, context };
}
