// A service whose delivery of one event ends its process (attack 129): it runs until its outbox is empty, or until then.
// Its arguments are JSON: the settings, how far its clock is ahead, how it dies, and how many events it stages first.
import { outbox, defineService } from "../../dist/runtime/index.js";
import { stage } from "../../dist/runtime/families/outbox/stage.js";
import { systemClock } from "../../dist/runtime/ports/clock.js";
import { outboxStore } from "../../dist/runtime/ports/outbox.js";
import { readSettings } from "../../dist/runtime/server/settings.js";
import { start } from "../../dist/runtime/server/start.js";

const { environment, aheadMillis, death, staged } = JSON.parse(process.argv[2] ?? "{}");

/** Each line is JSON, and is written before the process goes on. */
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

const deaths = {
  exit: () => process.exit(7),
  abort: () => process.kill(process.pid, "SIGKILL"),
};

const service = defineService({
  name: "deadly",
  title: "t",
  version: "1.0.0",
  outbox: outbox({
    events: {
      "orders.fatal": async ({ attempt }) => {
        say({ fatal: attempt });
        deaths[death]();
        // A signal may arrive a moment later.
        await new Promise(() => undefined);
      },
      "orders.fine": async ({ data }) => say({ fine: data.n }),
    },
  }),
  routes: [],
});

const log = {
  debug: () => undefined,
  info: () => undefined,
  warn: (fields, text) => say({ ...fields, text }),
  error: (fields, text) => say({ ...fields, text }),
};

const running = await start(service, {
  settings: readSettings(service, environment),
  folder: new URL("../../generated", import.meta.url).pathname,
  log,
  clock: { ...systemClock, now: () => Date.now() + aheadMillis },
});
const { connection } = running;
await connection.write("test.stage", async (context) => {
  for (let n = 0; n < staged; n += 1)
    await stage(context, n === 1 ? "orders.fatal" : "orders.fine", { n });
});
const look = async () => {
  const state = await connection.database.reader.of(outboxStore).state(connection.clock.now());
  if (state.pending > 0) return void setTimeout(look, 20);
  say({ state });
  await running.stop();
  process.exit(0);
};
await look();
