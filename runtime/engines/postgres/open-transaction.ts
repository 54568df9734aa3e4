// One transaction on a connection. BEGIN and savepoints are sent together with the next statement,
// which saves round trips: BEGIN alone in its message, savepoints in one before it. Behind a
// statement that nobody asks about the next one is sent without waiting, and so is COMMIT
// (PostgreSQL's manual, "Pipeline Mode").
import { fail } from "../../contract/errors.js";
import { Lifetime } from "../../ports/lifetime.js";
import { hasEnded, stillRunning, type SqlSession } from "../sql/session.js";
import { answeredIn, settleMillis } from "./answered-in.js";
import type { HeldConnection } from "./connections.js";
import { PipelinedStatements, type Sent } from "./pipelined-statements.js";
import { sessionOver, type Answered, type Statement } from "./statements.js";

/** Milliseconds to wait for an answer to COMMIT at most. */
const longestMillis = 60_000;

/**
 * A transaction on a connection that the caller has acquired. Once it has ended, its session
 * rejects every statement.
 */
export class OpenTransaction {
  readonly session: SqlSession = sessionOver(
    (statement) => this.#answered(statement),
    (statement) => this.#pipeline(statement),
  );
  readonly #connection: HeldConnection;
  readonly #lifetime: Lifetime;
  /** Statements to send together with the next one. */
  #waiting: string[];
  /** The answer to the last ones that were sent that way. */
  #taken: Promise<unknown> = Promise.resolve();
  #isBeginSent = false;
  #isBegun = false;
  #isOpen = true;
  /** Whether it is being undone: what has not been sent stays unsent. */
  #isGivenUp = false;
  #isUndone = false;
  #attempts = 0;
  #running = 0;
  /** What has to be known before anybody is told of an answer. */
  #condition: Promise<unknown> | undefined;
  /** Statements that wait to be sent. */
  #unsent = 0;
  readonly #pipelined = new PipelinedStatements();

  constructor(connection: HeldConnection, lifetime: Lifetime) {
    this.#connection = connection;
    this.#waiting = [connection.manner.begin];
    this.#lifetime = lifetime;
  }

  /**
   * Runs `work` in a savepoint. If it throws, its writes are undone and the error is thrown again.
   */
  async attempt<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#isOpen) throw hasEnded();
    // What comes before a savepoint has failed by itself.
    await this.#pipelined.allAnswered();
    this.#pipelined.throwFailure();
    const savepoint = `attempt_${(this.#attempts += 1)}`;
    const begin = `SAVEPOINT ${savepoint}`;
    this.#waiting.push(begin);
    try {
      const value = await work();
      await this.#pipelined.allAnswered();
      this.#pipelined.throwFailure();
      if (!this.#takeBack(begin)) this.#waiting.push(`RELEASE SAVEPOINT ${savepoint}`);
      return value;
    } catch (error) {
      // Once this transaction has ended, another one may hold the connection.
      if (this.#isOpen && !this.#lifetime.isOver && !this.#takeBack(begin)) {
        await this.#pipelined.allAnswered();
        this.#pipelined.forgetFailure();
        // This also ends the savepoints inside it, so what was queued for them can go.
        this.#waiting = [`ROLLBACK TO SAVEPOINT ${savepoint}`, `RELEASE SAVEPOINT ${savepoint}`];
        await this.#takeAlong();
      }
      throw error;
    }
  }

  /**
   * Resolves once all statements have been sent that nobody has waited for, and rejects if one
   * can't be. Nothing may be committed before that: the server knows only of those that fail there.
   */
  allSent(): Promise<void> {
    return this.#pipelined.allSent();
  }

  /**
   * Commits, behind `allSent`. Statements that nobody has waited for end with the lifetime, or
   * fail, as if somebody had: `isUndone` then says that nothing has been written. If the server
   * doesn't answer by the deadline (but at least 1 s and at most 60 s are allowed), nobody knows
   * whether it has committed, and this rejects with `core.unavailable`. A request with an
   * idempotency key can be repeated.
   */
  async commit({ remainingMillis }: Lifetime): Promise<void> {
    if (!this.#isBeginSent) return;
    const committed = this.#connection.query({ text: "COMMIT" }, Lifetime.unlimited());
    committed.catch(() => undefined);
    await this.#pipelined.allAnswered();
    const { command } = await answeredIn(
      Math.max(settleMillis, Math.min(remainingMillis, longestMillis)),
      committed,
    );
    // If an earlier statement failed, PostgreSQL answers COMMIT with ROLLBACK instead of an error.
    this.#isUndone = command !== "COMMIT";
    this.#pipelined.throwFailure();
    if (!this.#isUndone) return;
    const cause = new Error("the transaction was aborted");
    throw fail("core.infrastructure", {}, { cause });
  }

  /** Whether the server has answered that nothing is committed. */
  get isUndone(): boolean {
    return this.#isUndone;
  }

  /**
   * Statements are sent at once, but nobody is told of their answers before this has resolved; if
   * it rejects, they reject alike.
   */
  answerBehind(condition: Promise<unknown>): void {
    condition.catch(() => undefined);
    this.#condition = condition;
  }

  /** Undoes the transaction. Returns false if the connection can't be used any more. */
  async rollBack(): Promise<boolean> {
    this.#isGivenUp = true;
    try {
      // Statements that still ran when the lifetime ended are being cancelled.
      await answeredIn(2 * settleMillis, this.#connection.idle());
      if (!this.#isBeginSent) return true;
      const undone = this.#connection.query({ text: "ROLLBACK" }, Lifetime.unlimited());
      await answeredIn(settleMillis, undone);
      return true;
    } catch {
      return false;
    }
  }

  /** From now on every statement is rejected. */
  end(): void {
    this.#isOpen = false;
  }

  /** Throws `core.internal` if statements are under way. */
  expectIdle(): void {
    if (this.#running > 0) throw stillRunning(this.#running);
  }

  async #answered(statement: Statement): Promise<Answered> {
    this.#running += 1;
    try {
      const { answer } = await this.#send(statement);
      return await answer;
    } catch (error) {
      throw this.#pipelined.causeOf(error);
    } finally {
      this.#running -= 1;
    }
  }

  /** Runs a statement without waiting for its answer, unless many or large ones are under way. */
  async #pipeline(statement: Statement): Promise<void> {
    if (this.#pipelined.isFull(statement)) return void (await this.#answered(statement));
    if (!this.#isOpen) throw hasEnded();
    this.#connection.gatherWrites();
    this.#pipelined.add(statement, this.#send(statement));
  }

  /** Sends a statement in its turn. The answer is wrapped, so that this doesn't wait for it. */
  async #send(statement: Statement): Promise<Sent> {
    if (!this.#isOpen) throw hasEnded();
    if (this.#isBegunByNext) return { answer: this.#beginWith(statement) };
    const taken = this.#takeAlong();
    // If BEGIN fails, a write must not run. A read does no harm, so it waits only where it would
    // overtake a write. If a savepoint fails, so does what comes behind it.
    const isRead = statement.text.startsWith("SELECT ");
    if (this.#unsent > 0 || !(isRead || this.#isBegun)) await this.#waitFor(taken);
    const all = Promise.all([this.#sent(statement), taken, this.#condition]);
    return { answer: all.then(([answer]) => answer) };
  }

  async #waitFor(taken: Promise<unknown>): Promise<void> {
    this.#unsent += 1;
    try {
      await taken;
    } finally {
      this.#unsent -= 1;
    }
    if (this.#isGivenUp) throw hasEnded();
  }

  /** Whether nothing but the beginning is queued, and the next statement may carry it. */
  get #isBegunByNext(): boolean {
    const { begin, isBegunTogether } = this.#connection.manner;
    return isBegunTogether && this.#waiting.length === 1 && this.#waiting[0] === begin;
  }

  /** Begins with a statement. Others wait until it is known to have begun. */
  #beginWith(statement: Statement): Promise<Answered> {
    this.#waiting = [];
    this.#isBeginSent = true;
    const { begun, answer } = this.#connection.queryBegun(statement, this.#lifetime);
    this.#follow(begun);
    return answer;
  }

  /** Sends the queued statements in one message. If one fails, the server skips the rest. */
  #takeAlong(): Promise<unknown> {
    if (this.#waiting.length === 0) return this.#taken;
    const text = this.#waiting.join("; ");
    this.#waiting = [];
    this.#isBeginSent = true;
    return this.#follow(this.#sent({ text }));
  }

  #follow(taken: Promise<unknown>): Promise<unknown> {
    const note = (): void => void (this.#isBegun = true);
    taken.then(note, () => undefined);
    return (this.#taken = taken);
  }

  /**
   * Removes a savepoint, and what was queued after it, unless it has been sent; returns whether it
   * could.
   */
  #takeBack(begin: string): boolean {
    const at = this.#waiting.indexOf(begin);
    if (at >= 0) this.#waiting.length = at;
    return at >= 0;
  }

  #sent(statement: Statement): Promise<Answered> {
    return this.#connection.query(statement, this.#lifetime);
  }
}
