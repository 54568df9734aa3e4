// The protocol's own way to cancel a statement (PostgreSQL's manual, "Canceling Requests in
// Progress"): a pooler passes it on to the session that runs the statement, without lending one.
import { Socket } from "node:net";
import type { Connection, PoolClient } from "pg";

/** The part of `pg` that is used here. */
export interface ConnectionDriver {
  readonly Connection: typeof Connection;
}

/** What `pg` knows of a client, and its types don't say. */
interface Addressed {
  readonly host: string;
  readonly port: number;
  readonly ssl: boolean | object;
  readonly sslNegotiation: string | undefined;
  readonly processID: number | null;
  readonly secretKey: number | Buffer | null;
}

interface Requesting {
  connect(port: number | string, host?: string): void;
  cancel(processId: number, secretKey: number | Buffer): void;
  requestSsl(): void;
}

/**
 * Asks the server of a client to cancel the statement that runs for it. Resolves once the server
 * has taken the request, which has no answer; rejects if it can't be reached in time.
 */
export async function requestCancel(
  { Connection }: ConnectionDriver,
  client: PoolClient,
  millis: number,
): Promise<void> {
  const { host, port, processID, secretKey, ...tls } = client as unknown as Addressed;
  if (processID === null || secretKey === null) return;
  const { ssl, sslNegotiation } = tls;
  const socket = new Socket();
  const connection = new Connection({ ssl, sslNegotiation, stream: () => socket } as never);
  const line = connection as typeof connection & Requesting;
  try {
    await new Promise<void>((resolve, reject) => {
      socket.setTimeout(millis, () => reject(new Error("the pooler does not answer")));
      const send = (): void => line.cancel(processID, secretKey);
      if (!ssl) line.once("connect", send);
      else if (sslNegotiation !== "direct") line.once("connect", () => line.requestSsl());
      line.once("sslconnect", send);
      line.once("error", reject);
      line.once("end", resolve);
      if (host.startsWith("/")) line.connect(`${host}/.s.PGSQL.${port}`);
      else line.connect(port, host);
    });
  } finally {
    socket.destroy();
  }
}
