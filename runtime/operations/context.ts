// The invocation of an operation. Passed as an argument, never ambient.
import type { HeldAnswer } from "./answer-budget.js";
import { Calls, hasReturned, tellUnheld, type AuthorCall } from "./calls.js";
import { isUuid } from "../contract/uuid.js";
import { declaredError, type Declaring } from "../contract/own-errors.js";
import { payerOf } from "./payer.js";
import { CommitTurns } from "../work/commit-turns.js";
import { inTurn, runPart } from "../work/in-turn.js";
import { everything, type Filter } from "../query/ast.js";
import type { CredentialScope } from "../ports/signals.js";
import type { Clock } from "../ports/clock.js";
import { isUndone, type Transaction } from "../ports/database.js";
import type { Identity } from "./identity.js";
import { isOver, type Lifetime } from "../ports/lifetime.js";
import { withFields, type Log } from "../ports/log.js";
import { idsOf, tracePart, type TraceSpan } from "../ports/tracer.js";
import type { Payer } from "../ports/work.js";
import { noPreconditions, type Preconditions } from "./preconditions.js";
import type { ReplyDeclaration, SaidReply } from "./reply-declaration.js";
import type { Resources } from "./resources.js";
import { nowhere, underWay } from "../work/under-way.js";
import type { InvocationFields, InvocationMetadata } from "./invocation-facts.js";
import { runFollowers, followNow, givenBy, type Following, type Given } from "./following.js";
import { keepRecorded, noteDown, notesOf } from "./notes.js";
import { runWithin, sharedState } from "./shared-state.js";
import { TransactionEnd } from "./transaction-end.js";

/** The context of one invocation. */
export class ExecutionContext {
  readonly operationId: string;
  readonly metadata: InvocationMetadata;
  readonly identity: Identity | null;
  /** The tenant whose data this invocation sees. */
  readonly tenant: string;
  /** The request's address, "" for work of the service itself. Of IPv6 it is the /64. */
  readonly clientAddress: () => string;
  readonly idempotencyKey: string | undefined;
  readonly lifetime: Lifetime;
  /** A header field of the request by its name in lower case; undefined if it was not sent. */
  readonly requestHeader: (name: string) => string | undefined;
  readonly replies: ReplyDeclaration | undefined;
  said: (() => SaidReply) | undefined;
  /** Preconditions of the request, for the operation that answers for the version. */
  readonly preconditions: Preconditions;
  /** What the invocation is in a trace; null if it isn't recorded. */
  readonly trace: TraceSpan | null;
  readonly resources: Resources;
  /** The log, whose lines say to which trace they belong. */
  readonly log: Log;
  #scopes: Map<string, Filter> | undefined;
  #isOfCaller: boolean;
  #isUnscoped = false;
  /** Whether its calls are looked at on their own, when the author's function that it was made for returns. */
  #isApart = false;
  #payer: Payer | null | undefined;
  #reading: Transaction | undefined;
  #shared = sharedState();
  #answer: HeldAnswer | undefined;
  #isReleased = false;
  #outer: ExecutionContext | undefined;
  /** Who acts, also where that is on behalf of somebody else. */
  author: Identity | null;
  #calls: Calls | undefined;
  #state: "outside" | "invoked" | "over" = "outside";
  placeUnderWay = nowhere;
  #declared: Declaring | undefined;

  constructor(resources: Resources, fields: InvocationFields) {
    this.operationId = fields.operationId;
    this.metadata = fields.metadata;
    this.tenant = fields.tenant;
    this.idempotencyKey = fields.idempotencyKey;
    this.lifetime = fields.lifetime;
    this.preconditions = fields.preconditions ?? noPreconditions;
    this.identity = fields.identity ?? null;
    this.author = this.identity;
    this.replies = fields.replies;
    this.trace = fields.trace ?? null;
    this.requestHeader = fields.requestHeader ?? (() => undefined);
    this.clientAddress = fields.clientAddress ?? (() => "");
    this.#isOfCaller = fields.clientAddress !== undefined || this.identity !== null;
    this.resources = resources;
    this.log = withFields(resources.log, idsOf(fields.metadata.traceparent));
  }

  /** Whose share the work of this invocation takes in engines; null is the service itself. */
  get payer(): Payer | null {
    return (this.#payer ??= this.#isOfCaller ? payerOf(this) : null);
  }

  get clock(): Clock {
    return this.resources.clock;
  }

  /**
   * What clients call the service by, without a slash at its end: `PUBLIC_URL`, or in development where it listens. Throws
   * `core.configuration` if nothing says it.
   */
  get publicUrl(): string {
    return this.resources.publicUrl();
  }

  /** Aborts at the deadline and when the caller goes away. */
  get signal(): AbortSignal {
    return this.lifetime.signal;
  }

  /** The running transaction; outside one (in `before` and `wrap` hooks, in reading operations) committed state, read only. */
  get transaction(): Transaction {
    return this.#shared.running ?? (this.#reading ??= this.resources.database.read(this));
  }

  get ending(): TransactionEnd {
    return this.#shared.ending;
  }

  get holdsTransaction(): boolean {
    return this.#shared.running !== undefined;
  }

  /**
   * Runs `work` in a write transaction, which is committed when this resolves: for operations that must not hold one all
   * along. Inside a running one it joins that: what `work` has written is undone where it throws, and committed when the
   * outer one is. `exclusive` is a name that one write may hold at a time; inside a running one it counts for nothing.
   * Throws `core.internal` where `work` returns before what it has called is done.
   */
  commit<T>(
    work: (transaction: Transaction) => Promise<T>,
    exclusive?: string | undefined,
  ): Promise<T> {
    if (this.#isUnscoped) return Promise.reject(new TypeError("a scope writes nothing"));
    return this.call("context.commit", (call) => {
      const transaction = this.#shared.running;
      const run = (): Promise<T> =>
        this.transact(
          (within) =>
            this.calls.runWork(call, this.operationId, () => runPart(within, () => work(within))),
          exclusive,
        );
      // In its turn: calls beside it, which it doesn't know, must not be undone with it.
      if (transaction !== undefined) return inTurn(transaction, run);
      return (this.#shared.turns ??= new CommitTurns()).take(run);
    });
  }

  /** A call of the author's code, which has to await it before it returns. */
  call<T>(what: string, work: (call: AuthorCall) => Promise<T>): Promise<T> {
    const state = this.#root.#state;
    const tell = (left: AuthorCall, err: unknown): void => tellUnheld(this, left, err);
    if (state === "over") return this.calls.refuse(what, tell);
    return this.calls.begin(what, work, state === "outside" ? tell : undefined);
  }

  /**
   * The transaction in which its calls take turns; null if there is none, and for what decides on scopes: it is asked within
   * the turn of a call that waits for it.
   */
  get turns(): Transaction | null {
    return this.#isUnscoped ? null : (this.#shared.running ?? null);
  }

  /** The calls of the author's code in this invocation. */
  get calls(): Calls {
    const root = this.#root;
    return (root.#calls ??= new Calls());
  }

  /** The author's code begins: what it calls is looked at when it returns, and only these errors of the registry are told. */
  begin(declared: Declaring): void {
    this.#state = "invoked";
    this.#declared = declared;
    underWay.begun(this);
  }

  /** The author's code is over: its calls are refused and logged. */
  end(): void {
    this.#state = "over";
    underWay.ended(this);
  }

  /** The error as the operation may answer it, for the whole or for one of many documents: see `declaredError`. */
  declared(error: unknown): unknown {
    return declaredError(this.#root.#declared, error);
  }

  /** Throws `core.internal` if the function that has returned has left calls behind. */
  expectAwaited({ name }: { readonly name: string }, first = 0): void {
    const by = `${name === "" ? "" : `${name} of `}${this.operationId}`;
    this.#root.#calls?.expectNone(by, first);
  }

  /** Resolves once work is done that was given outside a transaction; undefined if none is. See `Calls`. */
  heldAfter(first = 0): Promise<void> | undefined {
    return this.#root.#calls?.heldAfter(first);
  }

  /** Whether calls may begin: not between the end of the author's work in a transaction and its end. */
  admitCalls(isAdmitting: boolean): void {
    if (this.#state !== "outside") this.#state = isAdmitting ? "invoked" : "over";
  }

  /** What has failed with this error needs no call any more. Returns the error to tell. */
  abandonCalls(error: unknown): unknown {
    return this.#calls === undefined ? error : this.#calls.abandon(error);
  }

  /** As `commit`, for code of the service itself, whose calls nobody needs to count. */
  async transact<T>(
    work: (transaction: Transaction) => Promise<T>,
    exclusive?: string | undefined,
    turn?: string | undefined,
  ): Promise<T> {
    const outer = this.#shared.running;
    if (outer !== undefined) return this.ending.attempt(outer, work);
    // What a call does that was left behind must not be committed on its own.
    this.refuseLeftBehind();
    const { lifetime, payer, operationId: operation } = this;
    const end = new TransactionEnd();
    let isDone = false;
    let result: T;
    try {
      result = await tracePart(this.trace, "transaction", "internal", (trace) => {
        const options = { lifetime, payer, operation, exclusive, turn, trace };
        return this.resources.database.write(options, (transaction) =>
          runWithin(this.#shared, transaction, end, async () => {
            const made = await work(transaction);
            if (end.recorded.length > 0) await keepRecorded(this, end);
            isDone = true;
            return made;
          }),
        );
      });
    } catch (error) {
      lifetime.reopen();
      // A commit that nobody answered for may have been one.
      if (!isDone || isOver(error) || isUndone(error)) await this.#follow(end.whenUndone);
      throw error;
    }
    lifetime.reopen();
    await this.#follow(end.whenCommitted);
    return result;
  }

  async #follow(followers: readonly Following[]): Promise<void> {
    if (followers.length === 0) return;
    this.admitCalls(true);
    const follow = (): Promise<void> => runFollowers(this, followers);
    await (this.#shared.turns?.follow(follow) ?? follow());
  }

  /**
   * The same invocation on behalf of a principal, such as one that it has just created: documents that it creates belong to
   * that principal, and `own` finds them. Permissions and scopes are not checked again. It shares the running transaction.
   * `tenant` is the one of its credential, where it stands for somebody who has one.
   */
  onBehalfOf(principalId: string, tenant: string | null = null): ExecutionContext {
    return this.#sharing({ principalId, actorId: null, sessionId: null, tenant, expiresAt: null });
  }

  /** The same invocation in another tenant, such as one that it has created. Permissions are not checked again. */
  inTenant(tenant: string): ExecutionContext {
    const id = isUuid(tenant) ? tenant.toLowerCase() : tenant;
    const other = this.#sharing(this.identity && { ...this.identity, tenant: id }, id);
    other.#scopes = new Map(this.#scopes);
    return other;
  }

  /** The same invocation in which rows of a document pass this filter instead. It shares the running transaction. */
  scopedTo(document: string, filter: Filter): ExecutionContext {
    const other = this.#sharing(this.identity);
    other.#scopes = new Map(this.#scopes).set(document, filter);
    return other;
  }

  /** The same invocation beyond all scopes: for what says which rows a caller sees. */
  get beyondScopes(): ExecutionContext {
    const other = this.#sharing(this.identity);
    other.#isUnscoped = true;
    return other;
  }

  /** Whether the scopes of documents hold: for callers, not for the service itself, nor for what decides on scopes. */
  get keepsToScopes(): boolean {
    return this.#isOfCaller && !this.#isUnscoped;
  }

  #sharing(identity: Identity | null, tenant = this.tenant): ExecutionContext {
    const other = new ExecutionContext(this.resources, { ...this, identity, tenant });
    other.#isOfCaller = this.#isOfCaller || identity !== null;
    other.#isUnscoped = this.#isUnscoped;
    other.#shared = this.#shared;
    other.#outer = this;
    const isStranger = this.#outer === undefined && this.#isOfCaller;
    other.author = this.author ?? (isStranger ? identity : null);
    return other;
  }

  /** The same invocation with calls of its own, for a function of the author's that is no step of an operation. */
  get apart(): ExecutionContext {
    const other = this.#sharing(this.identity);
    other.#isApart = true;
    return other;
  }

  /** The same caller behind the end of the invocation, with calls, an answer and time of its own, and no transaction. */
  behind(lifetime: Lifetime): ExecutionContext {
    const other = new ExecutionContext(this.resources, { ...this, lifetime });
    other.#isOfCaller = this.#isOfCaller;
    other.#scopes = new Map(this.#scopes);
    other.author = this.author;
    return other;
  }

  get #root(): ExecutionContext {
    return this.#outer === undefined || this.#isApart ? this : this.#outer.#root;
  }

  /** The bytes that the answer holds until it was sent. */
  get answer(): HeldAnswer {
    if (this.#outer !== undefined) return this.#outer.answer;
    if (this.#answer !== undefined) return this.#answer;
    this.#answer = this.resources.answers.open(this.payer);
    // Work that continues after its answer was sent holds nothing.
    if (this.#isReleased) this.#answer.release();
    return this.#answer;
  }

  get holdsAnswer(): boolean {
    return this.#answer !== undefined;
  }

  /** The answer was sent, or there is none. */
  release(): void {
    this.#isReleased = true;
    this.#answer?.release();
  }

  /** What the audit log says of this invocation besides who called. */
  get notes(): Readonly<Record<string, string>> {
    return notesOf(this);
  }

  /** Names something for the audit log, and for the trail of what the transaction changes. Never a secret. */
  note(fields: Readonly<Record<string, string>>): void {
    noteDown(this, fields);
  }

  /**
   * Runs `work` after the running transaction has committed, never if it is undone; outside a transaction, at once. The answer
   * waits for it; if it fails, has left calls behind or takes too long, the log says so, with the author's line. Throws
   * `core.internal` for calls whose transaction has ended without them.
   */
  whenCommitted(work: Following["work"]): void {
    this.follow(work, givenBy("whenCommitted"));
  }

  /** Throws `core.internal` where calls go on that were left behind: they must change nothing. */
  refuseLeftBehind(): void {
    if (this.#root.#calls?.hasStrays === true) throw hasReturned();
  }

  /**
   * Runs `work` once the running transaction, or the part of it that is being written, has been undone: for what no database
   * undoes. It runs behind the end of the transaction, the latest first, and the answer waits for it. Where nobody knows
   * whether a transaction has committed, it does not run.
   */
  whenUndone(work: Following["work"]): void {
    this.followUndone(work, givenBy("whenUndone"));
  }

  /** As `whenCommitted`, for work of the service itself, which outside a transaction settles at once. */
  follow(work: Following["work"], given?: Given): void {
    if (!this.holdsTransaction) this.refuseLeftBehind();
    if (this.holdsTransaction) this.ending.onCommit.push({ work, given });
    else followNow(this, { work, given });
  }

  /** As `whenUndone`, for work of the service itself. */
  followUndone(work: Following["work"], given?: Given): void {
    if (this.holdsTransaction) this.ending.onUndo.push({ work, given });
  }

  /** After the running transaction has committed, ends connections and topics whose credential or permission it has ended. */
  endsCredentials(of: CredentialScope): void {
    this.follow(() => this.resources.signals.credentialsEnded(of));
  }

  /** From here on the invocation sees only those rows of a document that pass the filter as well. */
  narrow(document: string, filter: Filter): void {
    const before = this.scopeOf(document);
    const filters = before === everything ? [filter] : [before, filter];
    (this.#scopes ??= new Map()).set(document, { kind: "all", filters });
  }

  /** What rows of a document must pass, besides its tenant; `everything` where nothing narrows it. */
  scopeOf(document: string): Filter {
    return this.#scopes?.get(document) ?? everything;
  }
}
