// A route that takes as long as it is told to, for tests of what goes on meanwhile.
import { setTimeout as sleep } from "node:timers/promises";
import { params, query, route } from "../../runtime/index.js";

/** How many of its requests run in this process, and how many did so at once at most. */
export const slow = { running: 0, most: 0 };

/** `GET /wait?millis=`: answers afterwards; `name` comes back, `token` is taken and not said. */
export const slowRoute = route({
  operationId: "slow.wait",
  method: "GET",
  path: "/wait",
  status: 200,
  input: params({
    millis: query.integer,
    name: query.optional.integer,
    token: query.optional.string,
  }),
  transaction: "read",
  run: async ({ millis, name }) => {
    slow.running += 1;
    slow.most = Math.max(slow.most, slow.running);
    await sleep(millis, undefined, { ref: false });
    slow.running -= 1;
    return { waited: millis, name };
  },
});
