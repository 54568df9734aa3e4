// One conversation: a caller's connection from its admission to its end, whatever carries it
// (service.md "Realtime wire protocol").
import type { IncomingMessage } from "node:http";
import { fail, type ServiceError } from "../../contract/errors.js";
import { ExecutionContext } from "../../operations/context.js";
import type { Identity } from "../../operations/identity.js";
import type { InvocationMetadata } from "../../operations/invocation-facts.js";
import { outputValue } from "../../operations/json-text.js";
import { Lifetime } from "../../ports/lifetime.js";
import type { Operation } from "../../operations/operation.js";
import { noteAsked } from "../../operations/idempotency.js";
import { inputFaults } from "../../operations/input-faults.js";
import { invokeAs } from "../../operations/invoke-as.js";
import { Acknowledgements } from "../../families/realtime/acknowledge.js";
import type { Admittance } from "../../families/realtime/admission.js";
import type { Connection } from "../../families/realtime/connection.js";
import type { ConnectionCaller } from "../../families/realtime/connection-caller.js";
import type { Command } from "../../families/realtime/frames.js";
import { deviceOf, type Handshake } from "../../families/realtime/handshake.js";
import type { Subscriptions } from "../../families/realtime/subscriptions.js";
import { recheckRenewed } from "../../families/realtime/topic-checks.js";
import { mailboxOf } from "../../ports/mailbox.js";
import { nothingPresented, type Presented } from "../boundary.js";
import type { CallerRequest } from "../caller-request.js";
import { boundCaller, toldError, type RealtimeEndpoint } from "./endpoint.js";
import type { Expiring } from "./expiries.js";
import { RunningCommands } from "./running-commands.js";
import { endWith, goOn } from "../../ports/tracer.js";

/**
 * After so many milliseconds without a byte the system checks whether the other side is still
 * there.
 */
const keepaliveMillis = 15_000;
/** How long it may take to find out which topics the caller may hear, in milliseconds. */
const topicsMillis = 5_000;

type Caller = Awaited<ReturnType<typeof boundCaller>>;

/**
 * Admits the caller of a request's headers, or of a token that came otherwise. Throws the refusal:
 * credentials, topics, limits.
 */
export async function converse(
  options: RealtimeEndpoint,
  req: IncomingMessage,
  presented: Presented,
  handshake: Handshake,
  connection: Connection,
): Promise<Conversation> {
  req.socket.setKeepAlive(true, keepaliveMillis);
  const caller = await boundCaller(options, req, presented);
  const request = options.credentials.keep(req);
  const kept = keepPresented(options, presented);
  const conversation = new Conversation(options, request, kept, caller, handshake, connection);
  await conversation.enter(caller.context, handshake);
  return conversation;
}

/** What is kept of what was presented: of the handshake, credentials alone. */
function keepPresented(
  { credentials }: RealtimeEndpoint,
  { token, handshake }: Presented,
): Presented {
  const given = credentials.parameters.filter((name) => handshake.has(name));
  if (given.length === 0) return token === null ? nothingPresented : { ...nothingPresented, token };
  return { token, handshake: new Map(given.map((name) => [name, handshake.get(name) ?? ""])) };
}

/** Of many that are idle most of the time: what only a busy one needs is made when it is needed. */
export class Conversation implements ConnectionCaller, Expiring {
  readonly #options: RealtimeEndpoint;
  readonly #request: CallerRequest;
  #presented: Presented;
  #identity: Identity;
  readonly #tenant: string;
  readonly metadata: InvocationMetadata;
  readonly #device: Pick<Handshake, "named" | "isSessionDevice">;
  readonly #connection: Connection;
  readonly #commands = new RunningCommands();
  #admitted: Admittance | undefined;
  #acks: Acknowledgements | undefined;
  /** The end of the last change of topics: they are made one after the other, as they came. */
  #changed: Promise<unknown> | undefined;
  #isRenewing = false;
  #hasEnded = false;

  constructor(
    options: RealtimeEndpoint,
    request: CallerRequest,
    presented: Presented,
    { identity, context }: Caller,
    { named, isSessionDevice }: Handshake,
    connection: Connection,
  ) {
    this.#options = options;
    this.#request = request;
    this.#presented = presented;
    this.#identity = identity;
    this.#tenant = context.tenant;
    this.metadata = context.metadata;
    this.#device = { named, isSessionDevice };
    this.#connection = connection;
  }

  get identity(): Identity {
    return this.#identity;
  }

  get acks(): Acknowledgements {
    return (this.#acks ??= new Acknowledgements(
      this.#options.resources,
      mailboxOf({ tenant: this.#tenant }, this.#identity),
      () => deviceOf(this.#device, this.#identity),
    ));
  }

  /** Takes a place on the plane. Throws the refusal: topics, limits. */
  async enter(context: ExecutionContext, handshake: Handshake): Promise<void> {
    const connection = this.#connection;
    const { plane } = this.#options;
    this.#admitted = await plane.connect({ context, handshake, connection, caller: this });
    this.#expireAt(this.#identity.expiresAt);
  }

  /** Starts the delivery. */
  begin(): void {
    const { one, after } = this.#admittance;
    one.begin(after);
  }

  /**
   * Runs a command after the acknowledgements that came before it; resolves with its output, null
   * if it has none. Throws `realtime_commands_limit`, `realtime_command_unknown`,
   * `realtime_invalid_payload`, and what the operation does.
   */
  command(command: Command): Promise<unknown> {
    return this.#commands.run(async () => {
      await this.#acks?.done();
      return this.#run(command);
    });
  }

  /**
   * Hears these topics as well; resolves with all that are heard then. Changes count as commands,
   * and are made one after the other, in the order in which they came. Throws
   * `realtime_topics_unauthorized`, `realtime_topics_limit`, `realtime_commands_limit`.
   */
  subscribe(topics: readonly string[]): Promise<readonly string[]> {
    return this.#change(async () => {
      const within = this.newContext();
      try {
        return await within.lifetime.race(this.#topics.add(topics, within));
      } finally {
        within.release();
      }
    });
  }

  /** Hears these topics no longer; as `subscribe`. */
  unsubscribe(topics: readonly string[]): Promise<readonly string[]> {
    return this.#change(async () => this.#topics.remove(topics));
  }

  /**
   * Continues with another credential of the same caller in the same tenant; topics end that it may
   * not hear. Throws `core.authentication`, and what the authorizer of topics does.
   */
  async reauthenticate(token: string): Promise<void> {
    // One at a time, but outside the limit of commands: a client at its limit must still be able to
    // re-authenticate.
    if (this.#isRenewing) throw fail("realtime_commands_limit");
    this.#isRenewing = true;
    const renewed = { ...this.#presented, token };
    const { identity, keepTopics } = await this.#renewedBy(renewed).finally(() => {
      this.#isRenewing = false;
    });
    if (this.#hasEnded) throw fail("core.authentication");
    keepTopics();
    this.#expireNoMore();
    this.#presented = renewed;
    // If the session stood for the device, the new session does.
    this.#identity = identity;
    this.#expireAt(identity.expiresAt);
  }

  /** The error of a command as the client sees it; a fault of the service is logged. */
  told(error: unknown): ServiceError {
    const known = toldError(this.#options.resources.log, error, "a command failed");
    if (known.code === "realtime_invalid_frame") this.#options.counters.refused += 1;
    return known;
  }

  /** To be called when the connection has ended. */
  end(): void {
    this.#hasEnded = true;
    this.#expireNoMore();
    this.#admitted?.one.end();
  }

  isGood(): Promise<boolean> {
    return this.#options.isGood(this.#request, this.#presented, this.#identity);
  }

  newContext(): ExecutionContext {
    return new ExecutionContext(this.#options.resources, {
      operationId: "realtime.connect",
      metadata: this.metadata,
      tenant: this.#tenant,
      lifetime: Lifetime.within(topicsMillis),
      identity: this.#identity,
    });
  }

  async leave(): Promise<void> {
    await this.#commands.leave();
    this.#connection.leave();
  }

  expire(): void {
    this.#connection.refuse("core.authentication");
  }

  get #admittance(): Admittance {
    if (this.#admitted === undefined) throw new Error("a conversation begins with its admission");
    return this.#admitted;
  }

  get #topics(): Subscriptions {
    return this.#admittance.one.subscriptions;
  }

  #change<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#commands.run(() => {
      const done = (this.#changed ?? Promise.resolve()).then(work);
      this.#changed = done.catch(() => undefined);
      return done;
    });
  }

  /**
   * The same caller by another credential, and what ends the topics that it may not hear. Throws
   * `core.authentication`.
   */
  async #renewedBy(renewed: Presented) {
    const found = await boundCaller(this.#options, this.#request, renewed, this.metadata);
    const { identity, context } = found;
    const isSame =
      identity.principalId === this.#identity.principalId && context.tenant === this.#tenant;
    if (!isSame) throw fail("core.authentication");
    const listening = { subscriptions: this.#topics };
    return { identity, keepTopics: await recheckRenewed(this.#options.spec, listening, context) };
  }

  /** Runs the operation of a command; resolves with its output, null if it has none. */
  async #run(command: Command): Promise<unknown> {
    const { resources, spec } = this.#options;
    const operation = operationOf(spec.commands, command);
    const about = { "opwright.operation": operation.operationId };
    const trace = goOn(
      resources.tracer,
      `command ${command.event}`,
      "server",
      command.traceparent ?? null,
      about,
    );
    const as = {
      tenant: this.#tenant,
      identity: this.#identity,
      idempotencyKey: command.idempotencyKey,
      deadlineSeconds: command.deadlineSeconds,
      isGone: () => this.#connection.hasEnded,
      correlationId: this.metadata.correlationId,
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

  #expireAt(at: number | null): void {
    if (at !== null) this.#options.expiries.add(at, this);
  }

  #expireNoMore(): void {
    const { expiresAt } = this.#identity;
    if (expiresAt !== null) this.#options.expiries.remove(expiresAt, this);
  }
}

function operationOf(
  commands: RealtimeEndpoint["spec"]["commands"],
  { event }: Command,
): NonNullable<RealtimeEndpoint["spec"]["commands"][string]> {
  const operation = Object.hasOwn(commands, event) ? commands[event] : undefined;
  if (operation === undefined) throw fail("realtime_command_unknown");
  return operation;
}

/** The payload, proven as the operation's input. Throws `realtime_invalid_payload`. */
// oxlint-disable-next-line typescript/no-explicit-any -- input and result are tied together inside each operation
function checkedPayload({ input }: Operation<any, any>, payload: unknown): unknown {
  const faults = inputFaults(input, payload);
  if (faults !== null) throw fail("realtime_invalid_payload", { errors: faults });
  return payload;
}
