// The reference service with one more operation, which stages a signal and commits a while later: for schedules of writers
// whose transactions overlap. Usage: node realtime-server.mjs GENERATED NAME (settings come from the environment); its URL is
// printed when it is ready.
import { setTimeout as sleep } from "node:timers/promises";
import {
  json,
  principal,
  readSettings,
  route,
  silentLog,
  stagingOf,
  start,
  tenant,
} from "opwright/runtime";

const [folder, name] = process.argv.slice(2);
const { service: reference } = await import(
  new URL("../../dist/service/generated/service.js", import.meta.url).href
);

const events = {
  ...reference.realtime.events,
  "seed.sent": { delivery: "durable", audience: ["principal"], validate: () => null },
};
const stage = stagingOf(events);
const send = route({
  operationId: "seed.send",
  method: "POST",
  path: "/send",
  status: 200,
  input: json(() => null),
  hooks: [principal, tenant],
  transaction: "write",
  run: async ({ to, text, hold }, context) => {
    await stage(context, "seed.sent", { text }, { principals: to });
    await sleep(hold);
    return { text };
  },
});
const service = {
  ...reference,
  name,
  realtime: { ...reference.realtime, events },
  routes: [...reference.routes, send],
};
const running = await start(service, { settings: readSettings(service), folder, log: silentLog });
process.stdout.write(`${running.url}\n`);
process.on("SIGTERM", () => void running.stop().then(() => process.exit(0)));
