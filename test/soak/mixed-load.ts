// All kinds of requests of the reference service at once, among them callers who leave, sign in and out, and listen.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { newClient, type Client, type Outcome } from "../faults/client.js";
import { isSuccess, startWorkers, type Load, type Work } from "../faults/load.js";
import { uploadBytes } from "../faults/object-load.js";

const login = { login: "root@example.test", password: "correct horse battery staple" };

/** The work with an outcome of a success that holds nothing: a hundred thousand of them are kept. */
const lightly =
  (work: Work): Work =>
  async (by) => {
    const outcome = await work(by);
    return isSuccess(outcome)
      ? { ...outcome, headers: {}, body: null, bytes: Buffer.alloc(0) }
      : outcome;
  };

/** Shared by the tasks of ten numbers that follow each other. */
const labelOf = (number: number): string => `l${Math.floor(number / 10)}`;

/** Starts the load, one worker for each kind of request and several for the most frequent. */
export function startMixedLoad(url: string, client: Client): Load {
  // Documents pile up, what one request reads must not: minutes would measure the data.
  let project = randomUUID();
  const anonymous = newClient(url, { address: "127.0.0.2" });
  let last: { readonly id: string; readonly rev: number } | undefined;
  let number = 0;
  const create: Work = async (by) => {
    if ((number += 1) % 500 === 0) project = randomUUID();
    const outcome = await by.call("POST", "/tasks", {
      body: { title: `t${number}`, project, labels: [labelOf(number)] },
      headers: { "idempotency-key": `${project}-${number}` },
    });
    if (outcome.status === 201) last = outcome.body;
    return outcome;
  };
  const withLast =
    (
      work: (by: Client, task: { readonly id: string; readonly rev: number }) => Promise<Outcome>,
    ): Work =>
    (by) =>
      last === undefined ? by.call("GET", "/livez") : work(by, last);
  const update = withLast((by, { id, rev }) =>
    by.call("PATCH", `/tasks/${id}?rev=${rev}`, { body: { estimate: number % 8 } }),
  );
  const read = withLast((by, { id }) => by.call("GET", `/tasks/${id}`));
  const query: Work = (by) =>
    by.call("POST", "/tasks/query", {
      body: { size: 20, filters: { $values: { project } }, sorts: { due: "asc" } },
    });
  const search: Work = (by) =>
    by.call("POST", "/search/tasks/typed", { body: { query: labelOf(number), size: 10 } });
  const places: Work = () => anonymous.call("POST", "/places/list", { body: { size: 20 } });
  const file: Work = async (by) => {
    const made = await uploadBytes(by, Buffer.alloc(50_000, number), 30);
    if (made.status !== 201) return made;
    const got = await by.call("GET", `/files/${made.body.key}`);
    return got.status === 200 ? by.call("DELETE", `/files/${made.body.key}`) : got;
  };
  const session: Work = async () => {
    const signedIn = await anonymous.call("POST", "/auth/login", { body: login });
    if (signedIn.status !== 200) return signedIn;
    const own = newClient(url, { token: signedIn.body.access_token });
    const outcome = await own.call("POST", "/auth/logout", { body: {} });
    own.close();
    return outcome;
  };
  const listen: Work = async (by) => {
    const headers = { authorization: `Bearer ${by.token}` };
    const ended = new AbortController();
    const listening = fetch(`${url}/realtime/sse?device_id=soak&topics=project:${project}`, {
      headers,
      signal: ended.signal,
    }).catch(() => null);
    await sleep(1_000);
    ended.abort();
    await listening;
    return by.call("GET", "/livez");
  };
  const leave: Work = async (by) => {
    await by.call("POST", "/tasks/query", { body: { size: 100 }, patienceMillis: 3 });
    return by.call("GET", "/livez");
  };
  const works = [
    create,
    create,
    update,
    read,
    read,
    read,
    query,
    search,
    places,
    file,
    listen,
    leave,
  ];
  const load = startWorkers(client, [...works, ...works].map(lightly), 20);
  const signing = startWorkers(client, [session], 2_000);
  return {
    ...load,
    outcomes: load.outcomes,
    async stop() {
      await Promise.all([load.stop(), signing.stop()]);
      anonymous.close();
    },
  };
}
