// The first statement of a transaction, sent in one message with what begins it: between them there
// is no Sync, so where beginning fails or is cancelled, the server skips the statement (PostgreSQL's
// manual, "Extended Query"). A network away, a transaction that writes waits once less.
import type { Connection, Query, QueryResult } from "pg";
import type { Statement } from "./connections.js";

/** The prepared statement that begins a transaction, in each session that has its own. */
export const beginning = { name: "ow_begin", text: "BEGIN" } as const;

/** A query that begins a transaction. */
export interface BegunQuery {
  readonly query: Query;
  /** Resolves once the transaction has begun; rejects if it hasn't. */
  readonly begun: Promise<void>;
  readonly answer: Promise<QueryResult>;
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

/** Makes what queries such as these are made with. */
export function begunQueries({ Query }: QueryDriver): (statement: Statement) => BegunQuery {
  const Base = Query as unknown as new (
    config: Statement,
    values: undefined,
    callback: (error: Error | null, result: QueryResult) => void,
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

  return (statement) => {
    let query: Begun | undefined;
    const answer = new Promise<QueryResult>((resolve, reject) => {
      query = new Begun(statement, undefined, (error, result) =>
        error === null ? resolve(result) : reject(error),
      );
    });
    const begun = new Promise<void>((resolve, reject) => {
      if (query !== undefined) query.tell = { begun: resolve, failed: reject };
    });
    return { query: query as Begun, begun, answer };
  };
}
