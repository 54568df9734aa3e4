// The service in a process of its own, which is started anew whenever it ends, as whoever operates it would.
import { setTimeout as sleep } from "node:timers/promises";
import type { Version, VersionProcess } from "../../support/version-process.js";
import { newClient } from "../../faults/client.js";
import { freePort } from "../../support/free-port.js";

const password = "correct horse battery staple";

export interface Supervised {
  readonly url: string;
  current(): VersionProcess;
  restarts(): number;
  ends(): readonly string[];
  /** Makes a principal, and resolves with its token. */
  signIn(login: string): Promise<string>;
  stop(): Promise<void>;
}

/** Starts the service, and anew whenever it ends; resolves once it is ready. */
export async function supervise(
  version: Version,
  given: Readonly<Record<string, string>>,
): Promise<Supervised> {
  const port = await freePort();
  const environment = { ...given, PORT: String(port) };
  const url = `http://127.0.0.1:${port}`;
  const ends: string[] = [];
  let isStopping = false;
  const begin = (): VersionProcess => {
    const begun = version.spawn(environment);
    void begun.exited.then((code) => {
      if (isStopping) return;
      ends.push(`ended with ${code}: ${begun.output().slice(-3_000)}`);
      current = begin();
    });
    return begun;
  };
  let current = begin();
  while (!(await answers(url))) await sleep(50);
  return {
    url,
    current: () => current,
    restarts: () => ends.length,
    ends: () => ends,
    async signIn(login) {
      const command = version.spawn(environment, "create-principal", login);
      command.child.stdin?.end(`${password}\n`);
      const code = await command.exited;
      if (code !== 0) throw new Error(command.output());
      const client = newClient(url);
      const { status, body } = await client.call("POST", "/auth/login", {
        body: { login, password },
      });
      client.close();
      if (status !== 200) throw new Error(`nobody could sign in: ${status}`);
      return body.access_token;
    },
    async stop() {
      isStopping = true;
      current.child.kill("SIGKILL");
      await current.exited;
    },
  };
}

async function answers(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}
