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
import type { Outcome } from "../operations/idempotency.js";
import { audit } from "./audit.js";
import { clientAddress, type ProxyTrust } from "./proxies.js";
import { Exchange } from "./exchange.js";
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
  readonly bind: (req: IncomingMessage, lifetime: Lifetime) => Bound | Promise<Bound>;
  readonly maxBodyBytes: number;
  /** The tenant of requests that are bound to none. */
  readonly defaultTenant: string;
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
  const { log } = options.resources;
  const exchange = Exchange.of(req, res);
  exchange.operation = route.operationId;
  exchange.requestId = metadata.requestId;
  const run: Run = { context: undefined, input: undefined };
  try {
    const lifetime = new Lifetime(readDeadline(req.headers, plannedSeconds(options, route)), {
      isGone: () => res.destroyed,
      onGone: (listener) =>
        exchange.whenEnded(({ isAborted }) => {
          if (isAborted) listener();
        }),
    });
    // One deadline over everything: who is calling, the body, hooks, engines.
    const outcome = await lifetime.race(outcomeOf(options, req, match, metadata, lifetime, run));
    lifetime.answering();
    if (outcome.output instanceof ByteReply)
      outcome.output.body?.once("error", (error) => {
        // A caller who goes away ends it too, and is no failure.
        if (!res.destroyed) logFailure(log, route, metadata, error);
      });
    if (run.context?.holdsAnswer === true) run.context.answer.waits(() => res.destroy());
    replyOutcome(req, res, metadata, route.status, outcome);
    if (route.audit !== undefined && run.context !== undefined)
      audit(log, route.audit, run.context, run.input, "ok");
  } catch (error) {
    if (route.audit !== undefined && run.context !== undefined)
      audit(log, route.audit, run.context, run.input, error);
    logFailure(log, route, metadata, error);
    replyError(req, res, metadata, error);
  } finally {
    const { context } = run;
    if (context !== undefined) {
      exchange.caller = context.identity?.principalId ?? null;
      exchange.tenant = context.identity?.tenant ?? null;
      releaseWhenRead(exchange, context);
    }
  }
}

/** What is known of a request so far. */
interface Run {
  context: ExecutionContext | undefined;
  input: unknown;
}

/** From the caller's credential to the outcome of the operation. */
async function outcomeOf(
  options: FrontHandlerOptions,
  req: IncomingMessage,
  { route, path, query }: RouteMatch,
  metadata: InvocationMetadata,
  lifetime: Lifetime,
  run: Run,
): Promise<Outcome<unknown>> {
  const { identity, tenant } =
    route.ignoresCredentials === true ? unbound : await options.bind(req, lifetime);
  const context = new ExecutionContext(options.resources, {
    operationId: route.operationId,
    metadata,
    tenant: tenant ?? options.defaultTenant,
    idempotencyKey: route.idempotencyKey === true ? readIdempotencyKey(req.headers) : undefined,
    lifetime,
    clientAddress: () => clientAddress(req, options.trustsProxy),
    identity,
  });
  run.context = context;
  const given = readInput(route.input, { req, path, query }, options.maxBodyBytes);
  const asked = performance.now();
  run.input = given instanceof Promise ? await given : given;
  // A body that is held back must not keep a credential alive that has ended meanwhile.
  if (performance.now() - asked > slowBodyMillis && identity !== null)
    await options.bind(req, lifetime);
  return invoke(route, run.input, context);
}

/** The deadline of a route in seconds. An upload has as long as its bytes keep coming. */
function plannedSeconds({ resources }: FrontHandlerOptions, route: AnyRoute): number | undefined {
  const isUpload = route.input.body?.isForm === true;
  return route.deadlineSeconds ?? (isUpload ? undefined : resources.deadlineSeconds);
}

/** What an answer holds is given back once it has gone out, or its connection has ended. */
function releaseWhenRead(exchange: Exchange, context: ExecutionContext): void {
  const { res } = exchange;
  if (!context.holdsAnswer || res.destroyed || res.writableFinished) context.release();
  else exchange.whenEnded(() => context.release());
}

function logFailure(log: Log, route: AnyRoute, metadata: InvocationMetadata, error: unknown): void {
  const known = error instanceof ServiceError ? errors[error.code] : errors["core.internal"];
  if (known.status < 500) return;
  log.error(
    { operation: route.operationId, requestId: metadata.requestId, err: error },
    "an operation failed",
  );
}
