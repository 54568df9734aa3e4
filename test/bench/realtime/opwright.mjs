// The reference service with one more event, which its parent has published, staged and replayed. Usage: fork with the
// number of people as the argument; the settings come from the environment.
import { fileURLToPath } from "node:url";
import { issueSession, readSettings, silentLog, stagingOf, start } from "opwright/runtime";
import { identityStore } from "../../../dist/runtime/ports/identity.js";
import { tenantStore } from "../../../dist/runtime/ports/tenants.js";
import { Signal } from "../../../dist/runtime/ports/signal.js";
import { service as reference } from "../../../dist/service/generated/service.js";
import { identitySpec } from "../../../dist/service/generated/identity.js";

const tenant = "01890000-0000-7000-8000-000000000001";
const topic = "bench";
const signal = (delivery, audience) => ({ delivery, audience, validate: () => null });
const events = {
  "bench.signal": signal("ephemeral", ["topic"]),
  "bench.kept": signal("durable", ["principal"]),
};
const service = {
  ...reference,
  realtime: {
    ...reference.realtime,
    events,
    presence: false,
    authorizeTopics: (requested) => requested,
  },
};
const running = await start(service, {
  settings: readSettings(service),
  folder: fileURLToPath(new URL("../../../generated", import.meta.url)),
  log: silentLog,
});
const { write } = running.connection;
const people = [];
await write("bench.people", async (context) => {
  const identity = context.transaction.of(identityStore);
  const tenants = context.transaction.of(tenantStore);
  await tenants.addTenant({ id: tenant, key: "bench", isActive: true });
  for (let index = 0; index < Number(process.argv[2]); index += 1) {
    const id = `01890000-0000-7000-8000-${String(index + 10).padStart(12, "0")}`;
    const login = `p${index}@example.test`;
    await identity.addPrincipal({ id, login, passwordHash: "", isActive: true });
    await tenants.addMember(tenant, id);
    const { access_token: token } = await issueSession(identitySpec, context, {
      principalId: id,
      tenant,
    });
    people.push({ id, token });
  }
});
const stage = stagingOf(events);
process.on("message", async ({ text, each = 1, staged = 0, collect = false }) => {
  if (collect) globalThis.gc();
  if (staged > 0)
    for (let at = 0; at < staged; at += 500)
      await write(
        "bench.stage",
        async (context) => {
          for (let index = 0; index < 500; index += 1)
            await stage(context, "bench.kept", { text }, { principals: [people[0].id] });
        },
        tenant,
      );
  else if (!collect) {
    const data = JSON.stringify({ text });
    for (let index = 0; index < each; index += 1)
      running.connection.signals.publish(tenant, { topic }, new Signal("bench.signal", data, null));
  }
  process.send({ done: true });
});
process.send({ url: running.url, tokens: people.map(({ token }) => token), topic });
