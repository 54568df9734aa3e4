// Notices a pooler that lends a connection another session for each transaction, which nobody has
// told us of.

/** A connection that can be asked. */
export interface Asking {
  /** The process id that the server, or a pooler, has given for the connection. */
  readonly processId: number | null;
  ask(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** How often two connections are compared: a busy pooler lends other sessions meanwhile. */
const comparisons = 5;

/**
 * Whether the session of a connection changes: seen if a second one, which is opened only behind a
 * pooler, gets the session of the first while that is open, or the first one another.
 */
export async function hasLentSession(
  connection: Asking,
  openSecond: () => Promise<Asking>,
): Promise<boolean> {
  const first = await askProcess(connection);
  // What the server said at the start of the session: nobody is between.
  if (first === connection.processId) return false;
  const second = await openSecond();
  for (let left = comparisons; left > 0; left -= 1) {
    await second.ask("BEGIN");
    const isLent = (await askProcess(second)) === first || (await askProcess(connection)) !== first;
    await second.ask("ROLLBACK");
    if (isLent) return true;
  }
  return false;
}

async function askProcess({ ask }: Asking): Promise<unknown> {
  const [row] = await ask('SELECT pg_backend_pid() AS "pid"');
  return row?.["pid"];
}
