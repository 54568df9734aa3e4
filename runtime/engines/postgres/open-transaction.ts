// One transaction on a connection. BEGIN and savepoints are sent together with the next statement,
// which saves round trips: BEGIN alone in its message, savepoints in one before it.
import { fail } from "../../contract/errors.js";
import { isOver, Lifetime } from "../../ports/lifetime.js";
import { hasEnded, stillRunning, type SqlSession } from "../sql/session.js";
import { answeredIn, settleMillis } from "./answered-in.js";
import type { HeldConnection } from "./connections.js";
import { sessionOver, type Answered, type Statement } from "./statements.js";

/** Milliseconds to wait for an answer to COMMIT at most. */
const longestMillis = 60_000;

/**
 * A transaction on a connection that the caller has acquired. Once it has ended, its session
 * rejects every statement.
 */
export class OpenTransaction {
  readonly session: SqlSession = sessionOver((statement) => this.#answered(statement));
  readonly #connection: HeldConnection;
  readonly #lifetime: Lifetime;
  /** Statements to send together with the next one. */
  #waiting: string[];
  /** The answer to the last ones that were sent that way. */
  #taken: Promise<unknown> = Promise.resolve();
  #hasBegun = false;
  #isOpen = true;
  #attempts = 0;
  #running = 0;

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
    const savepoint = `attempt_${(this.#attempts += 1)}`;
    const begin = `SAVEPOINT ${savepoint}`;
    this.#waiting.push(begin);
    try {
      const value = await work();
      if (!this.#takeBack(begin)) this.#waiting.push(`RELEASE SAVEPOINT ${savepoint}`);
      return value;
    } catch (error) {
      // Once this transaction has ended, another one may hold the connection.
      if (this.#isOpen && !isOver(error) && !this.#takeBack(begin)) {
        // This also ends the savepoints inside it, so what was queued for them can go.
        this.#waiting = [`ROLLBACK TO SAVEPOINT ${savepoint}`, `RELEASE SAVEPOINT ${savepoint}`];
        await this.#takeAlong();
      }
      throw error;
    }
  }

  /**
   * Commits. If the server doesn't answer by the deadline (but at least 1 s and at most 60 s are
   * allowed), nobody knows whether it has committed, and this rejects with `core.unavailable`. A
   * request with an idempotency key can be repeated.
   */
  async commit({ remainingMillis }: Lifetime): Promise<void> {
    if (!this.#hasBegun) return;
    const { command } = await answeredIn(
      Math.max(settleMillis, Math.min(remainingMillis, longestMillis)),
      this.#connection.query({ text: "COMMIT" }, Lifetime.unlimited()),
    );
    // If an earlier statement failed, PostgreSQL answers COMMIT with ROLLBACK instead of an error.
    if (command === "COMMIT") return;
    const cause = new Error("the transaction was aborted");
    throw fail("core.infrastructure", {}, { cause });
  }

  /** Undoes the transaction. Returns false if the connection can't be used any more. */
  async rollBack(): Promise<boolean> {
    try {
      // Statements that still ran when the lifetime ended are being cancelled.
      await answeredIn(2 * settleMillis, this.#connection.idle());
      if (!this.#hasBegun) return true;
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
      return await this.#answeredInTurn(statement);
    } finally {
      this.#running -= 1;
    }
  }

  async #answeredInTurn(statement: Statement): Promise<Answered> {
    if (!this.#isOpen) throw hasEnded();
    if (this.#isBegunByNext) return this.#begun(statement);
    const taken = this.#takeAlong();
    // A read does no harm if BEGIN fails, so it does not wait for it.
    if (!statement.text.startsWith("SELECT ")) {
      await taken;
      if (!this.#isOpen) throw hasEnded();
    }
    const [answer] = await Promise.all([this.#sent(statement), taken]);
    return answer;
  }

  /** Whether nothing but the beginning is queued, and the next statement may carry it. */
  get #isBegunByNext(): boolean {
    const { begin, isBegunTogether } = this.#connection.manner;
    return isBegunTogether && this.#waiting.length === 1 && this.#waiting[0] === begin;
  }

  /** Begins with a statement. Others wait until it is known to have begun. */
  #begun(statement: Statement): Promise<Answered> {
    this.#waiting = [];
    this.#hasBegun = true;
    const { begun, answer } = this.#connection.queryBegun(statement, this.#lifetime);
    begun.catch(() => undefined);
    this.#taken = begun;
    return answer;
  }

  /** Sends the queued statements in one message. If one fails, the server skips the rest. */
  #takeAlong(): Promise<unknown> {
    if (this.#waiting.length === 0) return this.#taken;
    const text = this.#waiting.join("; ");
    this.#waiting = [];
    this.#hasBegun = true;
    return (this.#taken = this.#sent({ text }));
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
