// One conversation: a caller's connection from its admission to its end, whatever carries it
// (service.md "Realtime wire protocol").
import type { IncomingMessage } from "node:http";
import { fail, type ServiceError } from "../../contract/errors.js";
import { ExecutionContext } from "../../operations/context.js";
import type { Identity } from "../../operations/identity.js";
import { outputValue } from "../../operations/json-text.js";
import type { Clock } from "../../ports/clock.js";
import { Lifetime } from "../../ports/lifetime.js";
import type { Operation } from "../../operations/operation.js";
import { noteAsked } from "../../operations/idempotency.js";
import { inputFaults } from "../../operations/input-faults.js";
import { invokeAs } from "../../operations/invoke-as.js";
import { acknowledgements, type Acknowledgements } from "../../families/realtime/acknowledge.js";
import type { Command } from "../../families/realtime/frames.js";
import type { Handshake } from "../../families/realtime/handshake.js";
import type { Connection } from "../../families/realtime/admission.js";
import type { Subscriptions } from "../../families/realtime/subscriptions.js";
import { recheckRenewed } from "../../families/realtime/topic-checks.js";
import { mailboxOf } from "../../ports/mailbox.js";
import type { Presented } from "../boundary.js";
import { boundCaller, toldError, type RealtimeEndpoint } from "./endpoint.js";
import { nextTurn, sleep } from "../../ports/ambient.js";
import { endWith, goOn } from "../../ports/tracer.js";

/** Commands that run at once on one connection. */
const maxInFlight = 16;
/**
 * After so many milliseconds without a byte the system checks whether the other side is still
 * there.
 */
const keepaliveMillis = 15_000;
/** How long the end of a connection waits for running commands, in milliseconds. */
const leaveMillis = 5_000;
/** How long it may take to find out which topics the caller may hear, in milliseconds. */
const topicsMillis = 5_000;

export interface Conversation {
  readonly context: ExecutionContext;
  /** Starts the delivery. */
  begin(): void;
  readonly acks: Acknowledgements;
  /**
   * Runs a command after the acknowledgements that came before it; resolves with its output, null
   * if it has none. Throws `realtime_commands_limit`, `realtime_command_unknown`,
   * `realtime_invalid_payload`, and what the operation does.
   */
  command(command: Command): Promise<unknown>;
  /**
   * Hears these topics as well, or no longer; resolves with all that are heard then. One after the
   * other, in the order in which they came. Throws `realtime_topics_unauthorized`,
   * `realtime_topics_limit`, `realtime_commands_limit`.
   */
  subscribe(topics: readonly string[]): Promise<readonly string[]>;
  unsubscribe(topics: readonly string[]): Promise<readonly string[]>;
  /**
   * Continues with another credential of the same caller in the same tenant; topics end that it may
   * not hear. Throws `core.authentication`, and what the authorizer of topics does.
   */
  reauthenticate(token: string): Promise<void>;
  /** The error of a command as the client sees it; a fault of the service is logged. */
  told(error: unknown): ServiceError;
  /** To be called when the connection has ended. */
  end(): void;
}

/**
 * Admits the caller of a request's headers, or of a token that came otherwise. Throws the refusal:
 * credentials, topics, limits.
 */
export async function converse(
  options: RealtimeEndpoint,
  req: IncomingMessage,
  presented: Presented,
  handshakeOf: (identity: Identity) => Handshake,
  connection: Connection,
): Promise<Conversation> {
  const { plane, resources } = options;
  req.socket.setKeepAlive(true, keepaliveMillis);
  let credential = presented;
  let { identity, context } = await boundCaller(options, req, presented);
  let handshake = handshakeOf(identity);
  const commands = commandsUnderWay();
  let isRenewing = false;
  let hasEnded = false;
  const contextOf = (): ExecutionContext => contextNow(options, identity, context);
  const admitted = await plane.connect({
    context,
    identity,
    handshake,
    connection,
    isGood: () => options.isGood(req, credential, identity),
    sharedBy: () => {
      const { sessionId, tenant, expiresAt } = identity;
      return sessionId === null ? null : `${sessionId} ${tenant} ${expiresAt}`;
    },
    identityNow: () => identity,
    contextOf,
    async leave() {
      await commands.leave();
      connection.leave();
    },
  });
  const expired = (): void => connection.refuse("core.authentication");
  let expiry = endAt(resources.clock, identity.expiresAt, expired);
  const acks = acknowledgements(resources, mailboxOf(context, identity), () => handshake.device);

  const run = async (command: Command): Promise<unknown> => {
    await acks.done();
    return runCommand(options, command, identity, context, () => connection.hasEnded);
  };

  return {
    context,
    begin: admitted.begin,
    acks,

    command: (command) => commands.run(() => run(command)),

    ...topicChanges(admitted, commands, contextOf),

    async reauthenticate(next) {
      // One at a time, but outside the limit of commands: a client at its limit must still be able
      // to re-authenticate.
      if (isRenewing) throw fail("realtime_commands_limit");
      isRenewing = true;
      const renewed = { ...presented, token: next };
      const { keepTopics, ...bound } = await renewedCaller(options, req, renewed, {
        principalId: identity.principalId,
        tenant: context.tenant,
        subscriptions: admitted.subscriptions,
      }).finally(() => {
        isRenewing = false;
      });
      if (hasEnded) throw fail("core.authentication");
      keepTopics();
      credential = renewed;
      ({ identity, context } = bound);
      // If the session stood for the device, the new session does.
      handshake = handshakeOf(identity);
      expiry();
      expiry = endAt(resources.clock, identity.expiresAt, expired);
    },

    told(error) {
      const known = toldError(resources.log, error, "a command failed");
      if (known.code === "realtime_invalid_frame") options.counters.refused += 1;
      return known;
    },

    end() {
      hasEnded = true;
      expiry();
      admitted.end();
    },
  };
}

/** The commands of one connection: a limited number at once, and no new ones once it is ending. */
interface CommandsUnderWay {
  /** Throws `service_draining`, `realtime_commands_limit`, and what the work does. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Resolves when the running ones have been answered, or their time is over. */
  leave(): Promise<void>;
}

function commandsUnderWay(): CommandsUnderWay {
  const running = new Set<Promise<unknown>>();
  let isLeaving = false;
  return {
    async run(work) {
      if (isLeaving) throw fail("service_draining");
      if (running.size >= maxInFlight) throw fail("realtime_commands_limit");
      const done = work();
      running.add(done);
      try {
        return await done;
      } finally {
        running.delete(done);
      }
    },

    async leave() {
      isLeaving = true;
      const patience = sleep(leaveMillis, undefined, { ref: false });
      await Promise.race([Promise.allSettled(running), patience]);
      // Their answers are written right after them.
      await nextTurn();
    },
  };
}

/**
 * The same caller by another credential, and what ends the topics that it may not hear. Throws
 * `core.authentication`.
 */
async function renewedCaller(
  options: RealtimeEndpoint,
  req: IncomingMessage,
  renewed: Presented,
  before: {
    readonly principalId: string;
    readonly tenant: string;
    readonly subscriptions: Subscriptions;
  },
) {
  const found = await boundCaller(options, req, renewed);
  const isSame =
    found.identity.principalId === before.principalId && found.context.tenant === before.tenant;
  if (!isSame) throw fail("core.authentication");
  return { ...found, keepTopics: await recheckRenewed(options.spec, before, found.context) };
}

/** Changes of topics, which count as commands and are made in the order in which they came. */
function topicChanges(
  { subscriptions }: { readonly subscriptions: Subscriptions },
  commands: CommandsUnderWay,
  contextOf: () => ExecutionContext,
): Pick<Conversation, "subscribe" | "unsubscribe"> {
  const inOrder = oneByOne();
  const subscribe = async (topics: readonly string[]): Promise<readonly string[]> => {
    const within = contextOf();
    try {
      return await within.lifetime.race(subscriptions.add(topics, within));
    } finally {
      within.release();
    }
  };
  return {
    subscribe: (topics) => commands.run(() => inOrder(() => subscribe(topics))),
    unsubscribe: (topics) => commands.run(() => inOrder(async () => subscriptions.remove(topics))),
  };
}

/** Runs what it is given one after the other, in the order in which it came. */
function oneByOne(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}

/** The context of a question about a connection's caller, with a deadline of its own. */
function contextNow(
  { resources }: RealtimeEndpoint,
  identity: Identity,
  { tenant, metadata, operationId }: ExecutionContext,
): ExecutionContext {
  return new ExecutionContext(resources, {
    operationId,
    metadata,
    tenant,
    lifetime: Lifetime.within(topicsMillis),
    identity,
  });
}

/** Runs the operation of a command; resolves with its output, null if it has none. */
async function runCommand(
  options: RealtimeEndpoint,
  command: Command,
  identity: Identity,
  context: ExecutionContext,
  isGone: () => boolean,
): Promise<unknown> {
  const { commands } = options.spec;
  const operation = Object.hasOwn(commands, command.event) ? commands[command.event] : undefined;
  if (operation === undefined) throw fail("realtime_command_unknown");
  const { resources } = options;
  const about = { "opwright.operation": operation.operationId };
  const trace = goOn(
    resources.tracer,
    `command ${command.event}`,
    "server",
    command.traceparent ?? null,
    about,
  );
  const as = {
    tenant: context.tenant,
    identity,
    idempotencyKey: command.idempotencyKey,
    deadlineSeconds: command.deadlineSeconds,
    isGone,
    correlationId: context.metadata.correlationId,
    trace,
  };
  const run = () =>
    invokeAs(resources, operation, as, (within) => {
      noteAsked(within, command.payload);
      return checkedPayload(operation, command.payload);
    });
  const { output } = await (trace.span === null ? run() : endWith(trace.span, run));
  return output === undefined ? null : outputValue(output);
}

/** The payload, proven as the operation's input. Throws `realtime_invalid_payload`. */
// oxlint-disable-next-line typescript/no-explicit-any -- input and result are tied together inside each operation
function checkedPayload({ input }: Operation<any, any>, payload: unknown): unknown {
  const faults = inputFaults(input, payload);
  if (faults !== null) throw fail("realtime_invalid_payload", { errors: faults });
  return payload;
}

/** Calls `end` at a time; returns how to cancel that. */
function endAt(clock: Clock, expiresAt: number | null, end: () => void): () => void {
  if (expiresAt === null) return () => undefined;
  const left = expiresAt - clock.now();
  if (left > 0) return clock.after(left, end);
  end();
  return () => undefined;
}
