// The front handler: a plain (req, res, next) on Node's own objects (architecture.md "Run: a request").
import type { IncomingMessage, ServerResponse } from "node:http";
import { errors, fail, ServiceError } from "../contract/errors.js";
import {
  ExecutionContext,
  type InvocationMetadata,
  type Resources,
} from "../operations/context.js";
import { ByteReply } from "../operations/byte-reply.js";
import { Lifetime } from "../operations/lifetime.js";
import type { Log } from "../operations/log.js";
import type { AnyRoute } from "../operations/operation.js";
import { invoke } from "../operations/pipeline.js";
import type { Bound } from "../tenancy/bind.js";
import { audit } from "./audit.js";
import { clientAddress, type ProxyTrust } from "./proxies.js";
import { draining } from "./draining.js";
import { readDeadline, readIdempotencyKey, readMetadata } from "./metadata.js";
import { readInput } from "./read-input.js";
import { replyError, replyOutcome } from "./reply.js";
import { routeTable, type RouteMatch } from "./route-table.js";

export type NextHandler = (error?: unknown) => void;
export type RequestHandler = (
  req: IncomingMessage,
  res: ServerResponse,
  next?: NextHandler,
) => void;

export interface FrontHandlerOptions {
  readonly routes: readonly AnyRoute[];
  readonly resources: Resources;
  readonly trustsProxy: ProxyTrust;
  /** The caller of a request and its tenant. Throws errors of the kind authentication. */
  readonly bind: (req: IncomingMessage) => Bound | Promise<Bound>;
  readonly maxBodyBytes: number;
  /** The tenant of requests that are bound to none. */
  readonly defaultTenant: string;
  /** False while the service drains: new requests are refused with 503. */
  readonly isAccepting: () => boolean;
}

/**
 * Makes the handler of all generated routes. A request that no route matches goes to `next`, or is answered with
 * `route_not_found` where there is none. Every answer, errors included, is JSON with the envelope of the error table.
 */
export function frontHandler(options: FrontHandlerOptions): RequestHandler {
  const table = routeTable(options.routes);
  return (req, res, next) => {
    let match: RouteMatch | null;
    try {
      match = table.match(req.method ?? "", req.url ?? "");
      if (match === null && next === undefined) throw fail("route_not_found");
      if (match !== null && !options.isAccepting()) throw draining();
    } catch (error) {
      replyError(req, res, readMetadata(req.headers), error);
      return;
    }
    if (match === null) {
      next?.();
      return;
    }
    answer(options, req, res, match).catch(() => res.destroy());
  };
}

/** A body that takes longer has its request's credential asked about again. */
const slowBodyMillis = 100;

const unbound: Bound = { identity: null, tenant: null };

async function answer(
  options: FrontHandlerOptions,
  req: IncomingMessage,
  res: ServerResponse,
  match: RouteMatch,
): Promise<void> {
  const metadata = readMetadata(req.headers);
  const { route } = match;
  const { resources } = options;
  let context: ExecutionContext | undefined;
  let input: unknown;
  try {
    const lifetime = new Lifetime(readDeadline(req.headers, route.deadlineSeconds), {
      isGone: () => res.destroyed,
      onGone: (listener) => res.once("close", () => res.writableFinished || listener()),
    });
    const { identity, tenant } =
      route.ignoresCredentials === true ? unbound : await options.bind(req);
    context = new ExecutionContext(resources, {
      operationId: route.operationId,
      metadata,
      tenant: tenant ?? options.defaultTenant,
      idempotencyKey: route.idempotencyKey === true ? readIdempotencyKey(req.headers) : undefined,
      lifetime,
      clientAddress: () => clientAddress(req, options.trustsProxy),
      identity,
    });
    const given = readInput(
      route.input,
      { req, path: match.path, query: match.query },
      options.maxBodyBytes,
    );
    const asked = Date.now();
    input = given instanceof Promise ? await lifetime.race(given) : given;
    // A body that is held back must not keep a credential alive that has ended meanwhile.
    if (Date.now() - asked > slowBodyMillis && identity !== null) await options.bind(req);
    const outcome = await invoke(route, input, context);
    if (outcome.output instanceof ByteReply)
      outcome.output.body?.once("error", (error) => {
        // A caller who goes away ends it too, and is no failure.
        if (!res.destroyed) logFailure(resources.log, route, metadata, error);
      });
    replyOutcome(req, res, metadata, route.status, outcome);
    if (route.audit !== undefined) audit(resources.log, route.audit, context, input, "ok");
  } catch (error) {
    if (route.audit !== undefined && context !== undefined)
      audit(resources.log, route.audit, context, input, error);
    logFailure(resources.log, route, metadata, error);
    replyError(req, res, metadata, error);
  }
}

function logFailure(log: Log, route: AnyRoute, metadata: InvocationMetadata, error: unknown): void {
  const known = error instanceof ServiceError ? errors[error.code] : errors["core.internal"];
  if (known.status < 500) return;
  log.error(
    { operation: route.operationId, requestId: metadata.requestId, err: error },
    "an operation failed",
  );
}
