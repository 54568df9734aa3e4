// Whether the other side of a connection is still there. A network can go silent without an end,
// and who only listens would never find out.
import { repeat, type Repeated } from "./repeat.js";
import { within } from "./within.js";

/** How often it is asked, in milliseconds. */
const beatMillis = 3_000;
/** How long an answer may take, in milliseconds. */
const answerMillis = 5_000;

/**
 * Asks every three seconds; if an answer fails or takes longer than five, `giveUp` has to replace
 * the connection. Keeps no process alive.
 */
export function heartbeat(ask: () => Promise<unknown>, giveUp: (error: unknown) => void): Repeated {
  const late = (): Error => new Error(`no answer in ${answerMillis} ms`);
  return repeat(
    beatMillis,
    async () => {
      await within(answerMillis, ask(), late);
    },
    giveUp,
  );
}
