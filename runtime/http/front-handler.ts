// The front handler: a plain (req, res, next) on Node's own objects (architecture.md "Run: a
// request").
import type { IncomingMessage, ServerResponse } from "node:http";
import { fail, knownError } from "../contract/errors.js";
import { ExecutionContext } from "../operations/context.js";
import type { Resources } from "../operations/resources.js";
import type { InvocationMetadata } from "../operations/invocation-facts.js";
import { ByteReply } from "../operations/byte-reply.js";
import { Lifetime } from "../ports/lifetime.js";
import { waitedFor } from "../ports/overdue.js";
import type { Log } from "../ports/log.js";
import { idsOf, type TraceSpan } from "../ports/tracer.js";
import type { AnyRoute } from "../operations/operation.js";
import { invoke } from "../operations/pipeline.js";
import { readPreconditions } from "../operations/preconditions.js";
import type { Bound } from "../families/tenancy/bind.js";
import { noteAsked, type Outcome } from "../operations/idempotency.js";
import { audit } from "./audit.js";
import type { Bind } from "./boundary.js";
import { clientAddress, type ProxyTrust } from "./proxies.js";
import { announceDeprecation } from "./deprecation.js";
import { Exchange } from "./exchange.js";
import { readDeadline, readIdempotencyKey, readMetadata } from "./input/metadata.js";
import { readInput } from "./input/read-input.js";
import { replyError, replyOutcome } from "./reply.js";
import { beginRequest } from "./request-span.js";
import type { RouteMatch, RouteTable } from "./route-table.js";
import { monotonicMillis } from "../ports/ambient.js";

export type NextHandler = (error?: unknown) => void;
export type RequestHandler = (
  req: IncomingMessage,
  res: ServerResponse,
  next?: NextHandler,
) => void;

export interface FrontHandlerOptions {
  readonly table: RouteTable;
  readonly resources: Resources;
  readonly trustsProxy: ProxyTrust;
  /** The caller of a request and its tenant. Throws errors of the kind authentication. */
  readonly bind: Bind;
  readonly maxBodyBytes: number;
  /** The tenant of requests that are bound to none. */
  readonly defaultTenant: string;
}

/**
 * Makes the handler of all generated routes. A request that no route matches goes to `next`, or is
 * answered with `route_not_found` where there is none. Every answer, errors included, is JSON with
 * the envelope of the error table.
 */
export function frontHandler(options: FrontHandlerOptions): RequestHandler {
  const { table } = options;
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
    answer(options, req, res, match);
  };
}

/** After a body that takes longer than this, the request's credential is checked again. */
const slowBodyMillis = 100;

const unbound: Bound = { identity: null, tenant: null };

/** Answers in the same tick if nothing is pending, otherwise within the deadline. */
function answer(
  options: FrontHandlerOptions,
  req: IncomingMessage,
  res: ServerResponse,
  match: RouteMatch,
): void {
  const exchange = Exchange.of(req, res);
  const sent = readMetadata(req.headers);
  const { metadata, trace } = beginRequest(options.resources.tracer, exchange, match.route, sent);
  exchange.operation = match.route.operationId;
  exchange.requestId = metadata.requestId;
  const { deprecated } = match.route;
  if (deprecated !== undefined) announceDeprecation(res, deprecated);
  const run: Run = {
    match,
    metadata,
    trace,
    exchange,
    lifetime: undefined,
    context: undefined,
    input: undefined,
  };
  try {
    // One deadline for everything: authentication, the body, hooks, engines.
    const deadline = readDeadline(req.headers, plannedSeconds(options, match.route));
    const lifetime = Lifetime.until(deadline, exchange, options.resources.clock);
    run.lifetime = lifetime;
    const outcome = outcomeOf(options, run, lifetime);
    if (outcome instanceof Promise)
      lifetime.settle(
        outcome,
        (value) => succeed(options, run, value),
        (error) => refuse(options, run, error),
      );
    else succeed(options, run, outcome);
  } catch (error) {
    refuse(options, run, error);
  }
}

/** What is known of a request so far. */
interface Run {
  readonly match: RouteMatch;
  readonly metadata: InvocationMetadata;
  readonly trace: TraceSpan | null;
  readonly exchange: Exchange;
  /** Undefined where the request names no deadline that can be read. */
  lifetime: Lifetime | undefined;
  context: ExecutionContext | undefined;
  input: unknown;
}

/** Answers with the outcome, or with an error if the outcome can't be printed. */
function succeed(options: FrontHandlerOptions, run: Run, outcome: Outcome<unknown>): void {
  const { exchange, context, metadata } = run;
  const { req, res } = exchange;
  const { route } = run.match;
  const { log } = options.resources;
  try {
    run.lifetime?.answering();
    if (outcome.output instanceof ByteReply)
      outcome.output.body?.once("error", (error) => {
        // This also ends when the caller leaves, which is no failure.
        if (!res.destroyed) logFailure(log, run, error);
      });
    if (context?.holdsAnswer === true) context.answer.waits(() => res.destroy());
    replyOutcome(req, res, metadata, route.status, outcome, context?.said?.());
    if (route.audit !== undefined && context !== undefined)
      audit(log, route.audit, context, run.input, "ok");
  } catch (error) {
    refuse(options, run, error);
    return;
  }
  settle(run);
}

/** Answers with an error. */
function refuse(options: FrontHandlerOptions, run: Run, error: unknown): void {
  const { exchange, context, metadata } = run;
  const { route } = run.match;
  const { log } = options.resources;
  try {
    // Otherwise the deadline's timer would keep the request in memory long after its answer.
    run.lifetime?.answering();
    if (route.audit !== undefined && context !== undefined)
      audit(log, route.audit, context, run.input, error);
    logFailure(log, run, error);
    replyError(exchange.req, exchange.res, metadata, error);
  } catch {
    exchange.res.destroy();
  }
  settle(run);
}

/** Notes who called, and releases what the invocation holds once its answer has been read. */
function settle({ exchange, context }: Run): void {
  if (context === undefined) return;
  exchange.caller = context.identity?.principalId ?? null;
  exchange.tenant = context.identity?.tenant ?? null;
  const { res } = exchange;
  if (!context.holdsAnswer || res.destroyed || res.writableFinished) context.release();
  else exchange.whenEnded(() => context.release());
}

/** From the caller's credential to the outcome of the operation. */
function outcomeOf(
  options: FrontHandlerOptions,
  run: Run,
  lifetime: Lifetime,
): Outcome<unknown> | Promise<Outcome<unknown>> {
  const { ignoresCredentials } = run.match.route;
  const work = { lifetime, trace: run.trace };
  const bound = ignoresCredentials === true ? unbound : options.bind(run.exchange.req, work);
  if (bound instanceof Promise)
    return bound.then((caller) => outcomeFor(options, run, lifetime, caller));
  return outcomeFor(options, run, lifetime, bound);
}

/** From the input of a known caller to the outcome of the operation. */
function outcomeFor(
  options: FrontHandlerOptions,
  run: Run,
  lifetime: Lifetime,
  { identity, tenant }: Bound,
): Outcome<unknown> | Promise<Outcome<unknown>> {
  const { route, path, query } = run.match;
  const { req } = run.exchange;
  const context = new ExecutionContext(options.resources, {
    operationId: route.operationId,
    metadata: run.metadata,
    trace: run.trace,
    tenant: tenant ?? options.defaultTenant,
    idempotencyKey: route.idempotencyKey === true ? readIdempotencyKey(req.headers) : undefined,
    lifetime,
    clientAddress: () => clientAddress(req, options.trustsProxy),
    preconditions: readPreconditions(req.headers),
    identity,
    replies: route.reply,
    requestHeader: (name) => {
      const value = req.headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    },
  });
  run.context = context;
  const given = readInput(route.input, { req, path, query }, options.maxBodyBytes, (sent) =>
    noteAsked(context, sent),
  );
  if (!(given instanceof Promise)) {
    run.input = given;
    return invoke(route, given, context);
  }
  const arrived = lifetime.onOver(() => undefined, "the body");
  if (identity === null)
    return given.then((input) => {
      arrived();
      run.input = input;
      return invoke(route, input, context);
    });
  const asked = monotonicMillis();
  return given.then(async (input) => {
    arrived();
    run.input = input;
    // A caller must not extend the life of a credential by sending the body slowly.
    if (monotonicMillis() - asked > slowBodyMillis) await options.bind(req, { lifetime });
    return invoke(route, input, context);
  });
}

/** The deadline of a route in seconds. An upload has as long as its bytes keep coming. */
function plannedSeconds({ resources }: FrontHandlerOptions, route: AnyRoute): number | undefined {
  const isUpload = route.input.body?.isForm === true;
  return route.deadlineSeconds ?? (isUpload ? undefined : resources.deadlineSeconds);
}

function logFailure(log: Log, { match, metadata, exchange }: Run, error: unknown): void {
  const { code, status } = knownError(error);
  // A caller who leaves is no failure of ours; the request's log line says it.
  if (status < 500 || (code === "core.timeout" && exchange.isGone())) return;
  log.error(
    {
      operation: match.route.operationId,
      requestId: metadata.requestId,
      ...idsOf(metadata.traceparent),
      ...waitedFor(error),
      err: error,
    },
    "an operation failed",
  );
}
