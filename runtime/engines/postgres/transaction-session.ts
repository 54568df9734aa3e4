// The session of one transaction. BEGIN and savepoints are sent together with the next statement, which saves round trips.
import { createHash } from "node:crypto";
import { fail } from "../../contract/errors.js";
import { isOver, Lifetime } from "../../ports/lifetime.js";
import { hasEnded, type SqlRow, type SqlSession, type SqlValue } from "../sql/session.js";
import { answeredIn, type Answered, type HeldConnection, type Statement } from "./connections.js";
import { postgresDialect } from "./dialect.js";

/** What is left for an answer to COMMIT and ROLLBACK at least, in milliseconds. */
const settleMillis = 1_000;
const longestMillis = 60_000;

/** Statements on a connection that somebody holds. */
export class ConnectionSession implements SqlSession {
  readonly dialect = postgresDialect;
  protected readonly connection: HeldConnection;
  readonly #lifetime: Lifetime;

  constructor(connection: HeldConnection, lifetime: Lifetime) {
    this.connection = connection;
    this.#lifetime = lifetime;
  }

  async all(text: string, parameters: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    return (await this.answered(statementOf(text, parameters))).rows;
  }

  scan(text: string, parameters: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    return this.all(text, parameters);
  }

  async run(text: string, parameters: readonly SqlValue[]): Promise<number> {
    return (await this.answered(statementOf(text, parameters))).rowCount ?? 0;
  }

  protected answered(statement: Statement): Promise<Answered> {
    return this.connection.query(statement, this.#lifetime);
  }
}

/** A transaction, which refuses to work once it has ended. */
export class TransactionSession extends ConnectionSession {
  /** What is sent together with the next statement. */
  #waiting: string[] = ["BEGIN"];
  /** The answer to what was sent that way last. */
  #taken: Promise<unknown> = Promise.resolve();
  #hasBegun = false;
  #isOpen = true;
  #attempts = 0;

  /** Does `work` within a savepoint; where it throws, what it has written is undone. Rethrows. */
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
      // After the end, another transaction may hold the connection.
      if (this.#isOpen && !isOver(error) && !this.#takeBack(begin)) {
        // This also ends the savepoints inside it.
        this.#waiting = [`ROLLBACK TO SAVEPOINT ${savepoint}`, `RELEASE SAVEPOINT ${savepoint}`];
        await this.#takeAlong();
      }
      throw error;
    }
  }

  /**
   * Commits. The deadline ends nothing any more, but a server that does not say within it whether it has is not waited for:
   * then nobody knows, and the answer is 503. With an idempotency key the request may be repeated.
   */
  async commit({ remainingMillis }: Lifetime): Promise<void> {
    if (!this.#hasBegun) return;
    const { command } = await answeredIn(
      Math.max(settleMillis, Math.min(remainingMillis, longestMillis)),
      this.connection.query({ text: "COMMIT" }, Lifetime.unlimited()),
    );
    // PostgreSQL answers COMMIT with ROLLBACK where an earlier statement failed, and raises no error.
    if (command === "COMMIT") return;
    const cause = new Error("the transaction was aborted");
    throw fail("core.infrastructure", {}, { cause });
  }

  /** Undoes the transaction; false where the connection is of no use any more. */
  async rollBack(): Promise<boolean> {
    try {
      // What ran at the end of the lifetime is being cancelled.
      await answeredIn(2 * settleMillis, this.connection.idle());
      if (!this.#hasBegun) return true;
      const undone = this.connection.query({ text: "ROLLBACK" }, Lifetime.unlimited());
      await answeredIn(settleMillis, undone);
      return true;
    } catch {
      return false;
    }
  }

  /** From here on every statement is refused. */
  end(): void {
    this.#isOpen = false;
  }

  protected override async answered(statement: Statement): Promise<Answered> {
    if (!this.#isOpen) throw hasEnded();
    const taken = this.#takeAlong();
    // A read does no harm if BEGIN fails, so it does not wait for it.
    if (!statement.text.startsWith("SELECT ")) {
      await taken;
      if (!this.#isOpen) throw hasEnded();
    }
    const [answer] = await Promise.all([super.answered(statement), taken]);
    return answer;
  }

  /** Sends what waits, in one message: where a part of it fails, the rest is not done. */
  #takeAlong(): Promise<unknown> {
    if (this.#waiting.length === 0) return this.#taken;
    const text = this.#waiting.join("; ");
    this.#waiting = [];
    this.#hasBegun = true;
    return (this.#taken = super.answered({ text }));
  }

  /** Takes back a savepoint that was not sent yet; false if it was. */
  #takeBack(begin: string): boolean {
    const at = this.#waiting.indexOf(begin);
    if (at >= 0) this.#waiting.length = at;
    return at >= 0;
  }
}

/** A statement with its values, prepared once a connection. */
export function statementOf(text: string, parameters: readonly SqlValue[]): Statement {
  const name = statementName(text);
  const values = [...parameters];
  return name === undefined ? { text, values } : { name, text, values };
}

const statementNames = new Map<string, string>();
const maxNamed = 1_000;

/** A stable name of a statement's text; undefined (unnamed) once too many different texts have been seen. */
function statementName(text: string): string | undefined {
  const known = statementNames.get(text);
  if (known !== undefined) return known;
  if (statementNames.size >= maxNamed) return undefined;
  const name = `ow_${createHash("sha256").update(text).digest("base64url").slice(0, 16)}`;
  statementNames.set(text, name);
  return name;
}
