// What the realtime transports share: finding out who is calling, and whether the credential is
// still valid.
import type { IncomingMessage, ServerResponse } from "node:http";
import { fail, knownError, ServiceError } from "../../contract/errors.js";
import { ExecutionContext } from "../../operations/context.js";
import type { Resources } from "../../operations/resources.js";
import { expectWhole, type Identity } from "../../operations/identity.js";
import { Lifetime } from "../../ports/lifetime.js";
import type { Log } from "../../ports/log.js";
import { waitedFor } from "../../ports/overdue.js";
import type { RealtimeCounters, RealtimeLimits } from "../../families/realtime/limits.js";
import type { RealtimePlane } from "../../families/realtime/plane.js";
import type { RealtimeSpec } from "../../families/realtime/spec.js";
import { nothingPresented, type Bind, type CredentialPlaces, type Presented } from "../boundary.js";
import type { CallerRequest } from "../caller-request.js";
import { drainingError } from "../draining.js";
import { readMetadata } from "../input/metadata.js";
import { expectNoBody, hasBody } from "../input/read-body.js";
import { parseQuery } from "../input/read-input.js";
import type { Expiries } from "./expiries.js";
import { replyError } from "../reply.js";
import { methodNotAllowed } from "../route-table.js";

/** Bytes of one frame of a client. */
export const maxFrameBytes = 64 * 1024;
/** Milliseconds for authenticating the caller. */
const bindMillis = 10_000;
/** If the other side doesn't answer a close within so many milliseconds, the connection is cut. */
export const closingMillis = 5_000;

export interface RealtimeEndpoint {
  readonly spec: RealtimeSpec;
  readonly plane: RealtimePlane;
  readonly limits: RealtimeLimits;
  readonly counters: RealtimeCounters;
  readonly resources: Resources;
  readonly bind: Bind;
  readonly allowedOrigins: readonly string[];
  readonly defaultTenant: string;
  readonly credentials: CredentialPlaces;
  readonly expiries: Expiries;
  /** False while the service drains. */
  readonly isAccepting: () => boolean;
  /** Whether the connection's credential still belongs to this caller, in the same tenant. */
  isGood(req: CallerRequest, presented: Presented, identity: Identity): Promise<boolean>;
}

/** An error as the client sees it; a fault of the service is logged with its cause. */
export function toldError(log: Log, error: unknown, what: string): ServiceError {
  const known = knownError(error);
  if (known.status >= 500 && known.code !== "service_draining")
    log.error({ ...waitedFor(error), err: error }, what);
  return known;
}

/** Answers one path by one method, HEAD beside GET; says whether a request was for it. */
export function realtimeRoute(
  options: RealtimeEndpoint,
  path: string,
  method: "GET" | "POST",
  answer: (
    req: IncomingMessage,
    res: ServerResponse,
    query: ReadonlyMap<string, string>,
  ) => Promise<void>,
): (req: IncomingMessage, res: ServerResponse) => boolean {
  return (req, res) => {
    const [asked = "", search = ""] = (req.url ?? "").split("?", 2);
    if (asked !== path) return false;
    const work = async (): Promise<void> => {
      if (!options.isAccepting()) throw drainingError();
      const allowed = method === "GET" ? ["GET", "HEAD"] : [method];
      if (!allowed.includes(req.method ?? "")) throw methodNotAllowed(allowed);
      if (method === "GET" && hasBody(req))
        await Lifetime.within(bindMillis).race(expectNoBody(req));
      await answer(req, res, parseQuery(search));
    };
    work().catch((error: unknown) => {
      const what = `a request for ${path} failed`;
      replyError(
        req,
        res,
        readMetadata(req.headers),
        toldError(options.resources.log, error, what),
      );
    });
    return true;
  };
}

/** Whether the credential of a request still belongs to the caller. */
export function stillGood(bind: Bind): RealtimeEndpoint["isGood"] {
  return async (req, presented, identity) => {
    try {
      const bound = await bind(req, { lifetime: Lifetime.within(bindMillis) }, presented);
      const isSame = bound.identity?.principalId === identity.principalId;
      return isSame && bound.tenant === identity.tenant;
    } catch (error) {
      // If the database doesn't answer, no session ends.
      return !(error instanceof ServiceError && error.status === 401);
    }
  };
}

/**
 * The caller, and the context of its connection. Throws `core.authentication` if nobody is
 * calling.
 */
export async function boundCaller(
  { bind, resources, defaultTenant }: RealtimeEndpoint,
  req: CallerRequest,
  presented: Presented = nothingPresented,
  metadata = readMetadata(req.headers),
): Promise<{ readonly identity: Identity; readonly context: ExecutionContext }> {
  const lifetime = Lifetime.within(bindMillis);
  const bound = Promise.resolve(bind(req, { lifetime }, presented));
  const { identity, tenant } = await lifetime.race(bound);
  if (identity === null) throw fail("core.authentication");
  // Mailboxes have what concerns a person, whatever a credential is for.
  expectWhole({ identity });
  const context = new ExecutionContext(resources, {
    operationId: "realtime.connect",
    metadata,
    tenant: tenant ?? defaultTenant,
    lifetime,
    identity,
  });
  return { identity, context };
}
