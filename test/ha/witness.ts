// What callers of a service saw while a cluster was broken below it: statuses, how long nothing was acknowledged, and how soon
// after a new leader writes were answered again.
import { newClient, type Client } from "../faults/client.js";
import { startTaskLoad, type TaskLoad } from "../faults/task-load.js";

export interface Witness {
  readonly name: string;
  readonly client: Client;
  readonly load: TaskLoad;
  /** Begins to look. */
  begin(): void;
  /** What was seen since then; `leaderAt` is when there was another leader, by `performance.now()`. */
  tell(leaderAt: number | null): Seen;
}

export interface Seen {
  readonly service: string;
  readonly acknowledged: number;
  /** The longest time between two acknowledged writes. */
  readonly silentMillis: number;
  /** From the new leader to the first write that was acknowledged; null if the leader stayed. */
  readonly afterLeaderMillis: number | null;
  /** How many answers had a status that isn't success; 0 counts what was cut off. */
  readonly others: Readonly<Record<string, number>>;
}

/** Puts a service under a load whose answers are timed. */
export function watchService(name: string, url: string, token: string): Witness {
  const plain = newClient(url, { token });
  let acknowledged: number[] = [];
  let others: Record<string, number> = {};
  const client: Client = {
    ...plain,
    async call(method, path, options) {
      const outcome = await plain.call(method, path, options);
      const { status, fault } = outcome;
      if (status === 201) acknowledged.push(performance.now());
      const what = status === 0 ? `0 ${fault}` : String(status);
      if (status < 200 || status > 299) others[what] = (others[what] ?? 0) + 1;
      return outcome;
    },
  };
  let began = performance.now();
  return {
    name,
    client,
    load: startTaskLoad(client, { writers: 3, readers: 2, pauseMillis: 100 }),
    begin() {
      [acknowledged, others, began] = [[], {}, performance.now()];
    },
    tell(leaderAt) {
      const times = [began, ...acknowledged, performance.now()];
      const gaps = times.slice(1).map((time, at) => time - (times[at] ?? time));
      const first = leaderAt === null ? undefined : acknowledged.find((time) => time > leaderAt);
      return {
        service: name,
        acknowledged: acknowledged.length,
        silentMillis: Math.round(Math.max(...gaps)),
        afterLeaderMillis:
          first === undefined || leaderAt === null ? null : Math.round(first - leaderAt),
        others,
      };
    },
  };
}
