// The first statement of a transaction, sent in one message with what begins it: there is no Sync
// between them, so where beginning fails or is cancelled, the server skips the statement
// (PostgreSQL's manual, "Extended Query"). A transaction that writes waits once less.
import type { ClientBase, Connection, Query } from "pg";
import type { Answered, Statement } from "./statements.js";

/** The prepared statement that begins a transaction, in each session that has its own. */
export const beginning = { name: "ow_begin", text: "BEGIN" } as const;

/** The answer to a statement that begins a transaction. */
export interface BegunAnswer {
  /** Resolves once the transaction has begun; rejects if it hasn't. */
  readonly begun: Promise<void>;
  readonly answer: Promise<Answered>;
}

/** The part of `pg` that is used here. */
export interface QueryDriver {
  readonly Query: typeof Query;
}

/** What a query of `pg` is told and does, and its types don't say. */
interface Protocol {
  requiresPreparation(): boolean;
  prepare(connection: Connection): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
  handleError(error: Error, connection: Connection): void;
}

/** Makes the function that sends such queries. */
export function begunQueries({
  Query,
}: QueryDriver): (client: Pick<ClientBase, "query">, statement: Statement) => BegunAnswer {
  const Base = Query as unknown as new (
    config: Statement,
    values: undefined,
    callback: (error: Error | null, result: Answered) => void,
  ) => Query & Protocol;

  class Begun extends Base {
    tell: { readonly begun: () => void; readonly failed: (error: Error) => void } | null = null;

    override requiresPreparation(): boolean {
      return true;
    }

    override prepare(connection: Connection): void {
      // Neither message has a Sync behind it.
      connection.bind({ statement: beginning.name, values: [] } as never, true);
      connection.execute({ portal: "" } as never, true);
      super.prepare(connection);
    }

    override handleCommandComplete(message: unknown, connection: Connection): void {
      if (this.tell === null) return super.handleCommandComplete(message, connection);
      // That of BEGIN comes first.
      this.tell.begun();
      this.tell = null;
    }

    override handleError(error: Error, connection: Connection): void {
      this.tell?.failed(error);
      this.tell = null;
      super.handleError(error, connection);
    }
  }

  return (client, statement) => {
    const { promise: begun, ...tell } = makePromise<void>();
    const { promise: answer, resolve, reject } = makePromise<Answered>();
    const query = new Begun(statement, undefined, (error, result) =>
      error === null ? resolve(result) : reject(error),
    );
    query.tell = { begun: tell.resolve, failed: tell.reject };
    client.query(query);
    return { begun, answer };
  };
}

function makePromise<Value>() {
  let resolve: (value: Value) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<Value>((one, other) => {
    resolve = one;
    reject = other;
  });
  return { promise, resolve, reject };
}
