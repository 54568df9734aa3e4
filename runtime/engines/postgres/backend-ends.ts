// How a statement that nobody waits for any more is ended on the server, and the session of a
// connection that was given up.
import { monotonicMillis, sleep } from "../../ports/ambient.js";
import { Lifetime } from "../../ports/lifetime.js";
import { answeredIn } from "./answered-in.js";
import { requestCancel, type ConnectionDriver } from "./cancel-request.js";
import { processIdOf } from "./driver.js";
import type { ConnectionPool, Known } from "./pools.js";

/** Milliseconds to wait for a cancel, and then for the cancelled statement to end. */
export const cancelMillis = 1_000;
/**
 * Milliseconds between tries to terminate the backend of an abandoned connection, and for how long
 * to try.
 */
const retryMillis = 1_000;
const patienceMillis = 60_000;

export interface Ends {
  /**
   * Cancels the statement that the connection's backend runs. Rejects if the server does not
   * answer.
   */
  cancel(connection: Known): Promise<void>;
  /**
   * Terminates the backend of an abandoned connection as soon as the server can be reached. If the
   * network went silent, the server has not noticed yet and still holds the transaction's locks.
   */
  terminate(connection: Known): void;
  end(): Promise<void>;
}

/** The server's function that ends a backend's statement, or the whole backend. */
type Ending = "pg_cancel_backend" | "pg_terminate_backend";

/** Ends backends by their process ids, over a connection of `pool`. */
export function endsByProcessId(pool: ConnectionPool): Ends {
  const closing = new AbortController();

  const tell = async (ending: Ending, { client, name }: Known): Promise<void> => {
    const pid = processIdOf(client);
    if (pid === null) return;
    // Behind a pooler the pid may be another client's: only a backend that also has our name is
    // ended.
    const text = `SELECT ${ending}($1) FROM pg_stat_get_activity($1) WHERE application_name = $2`;
    const canceller = await pool.connect(Lifetime.unlimited());
    try {
      await answeredIn(cancelMillis, canceller.client.query(text, [pid, name]));
      canceller.client.release();
    } catch (error) {
      // If the connection has gone silent, every further cancel would wait for it.
      canceller.socket.destroy();
      canceller.client.release(true);
      throw error;
    }
  };

  /**
   * Abandoned connections, and until when (`monotonicMillis`) to try terminating their backends.
   */
  const lost = new Map<Known, number>();
  let terminating: Promise<void> | undefined;
  /** One at a time, so that a cancel waits for one of them at most. */
  const terminateLost = async (): Promise<void> => {
    while (lost.size > 0 && !closing.signal.aborted) {
      for (const [connection, until] of lost) {
        try {
          await tell("pg_terminate_backend", connection);
          lost.delete(connection);
        } catch {
          if (monotonicMillis() > until) lost.delete(connection);
          await sleep(retryMillis, undefined, { ref: false });
        }
      }
    }
  };

  return {
    cancel: (connection) => tell("pg_cancel_backend", connection),
    terminate(connection) {
      lost.set(connection, monotonicMillis() + patienceMillis);
      terminating ??= terminateLost().finally(() => (terminating = undefined));
    },
    async end() {
      closing.abort();
      await pool.end();
    },
  };
}

/**
 * Cancels by the protocol, which poolers pass on. A connection that is given up is the pooler's to
 * end; if the network to it went silent, the server's own timeouts end the transaction.
 */
export function endsByRequest(driver: ConnectionDriver): Ends {
  return {
    cancel: ({ client }) => requestCancel(driver, client, cancelMillis),
    terminate: () => undefined,
    end: async () => undefined,
  };
}
