// How connections and commands end: credentials that expire, budgets that run out, a service that goes away.
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { identitySpec } from "../../../generated/identity.js";
import { service as reference } from "../../../generated/service.js";
import { issueSession } from "../../../runtime/families/identity/operations.js";
import { fail } from "../../../runtime/contract/errors.js";
import { publishText, stageText } from "../../../runtime/families/realtime/stage.js";
import {
  json,
  operation,
  principal,
  tenant,
  type ServiceDefinition,
} from "../../../runtime/index.js";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member } from "../../support/people.js";
import {
  connectSocketIo,
  connectSse,
  connectWebSocket,
  isDuplex,
  openSocket,
  type Connect,
  type DuplexClient,
} from "../../support/realtime-clients.js";
import { startTestService, type TestService } from "../../support/service.js";

const [sqlite] = engines;
const duplex = { websocket: connectWebSocket, socketio: connectSocketIo };

/** The reference service with a command that takes as long as it is told to, and one that stages a signal and fails. */
function definition(): ServiceDefinition {
  const slow = operation({
    operationId: "test.slow",
    input: json<{ readonly millis: number }>(() => null),
    hooks: [principal, tenant],
    transaction: "read",
    run: async ({ millis }: { readonly millis: number }) => {
      await sleep(millis);
      return { millis };
    },
  });
  const failing = operation({
    operationId: "test.failing",
    input: json<{ readonly to: string }>(() => null),
    hooks: [principal, tenant],
    transaction: "write",
    run: async ({ to }: { readonly to: string }, context) => {
      await stageText(context, "task.assigned", '{"title":"never"}', [to]);
      publishText(context, "task.changed", '{"title":"never"}', { principal: to });
      throw fail("core.conflict");
    },
  });
  const { realtime } = reference;
  if (realtime === undefined) throw new Error("there is no realtime plane");
  return {
    ...reference,
    realtime: {
      ...realtime,
      commands: { ...realtime.commands, "test.slow": slow, "test.failing": failing },
    },
  };
}

let services: TestService[] = [];
afterEach(async () => {
  for (const service of services) await service.stop();
  services = [];
});

async function started(): Promise<{ readonly service: TestService; readonly ann: Member }> {
  if (sqlite === undefined) throw new Error("there is no SQLite");
  const service = await startTestService(sqlite, { signsIn: false, definition: definition() });
  services.push(service);
  return { service, ann: await peopleOf(service).member("", "tasks.read") };
}

describe.each<[string, Connect]>([
  ["websocket", connectWebSocket],
  ["sse", connectSse],
  ["socketio", connectSocketIo],
])("%s", (_name, connect) => {
  test("a connection ends when its token expires", async () => {
    const { service, ann } = await started();
    const short = await service.running.connection.write("test.session", async (context) => {
      const spec = { ...identitySpec, accessTtlSeconds: 2 };
      return issueSession(spec, context, { principalId: ann.id, tenant: ann.tenantId });
    });
    const renewing = await connect(service, { token: short.access_token });
    const lasting = await connect(service, ann);
    if (isDuplex(renewing)) {
      const other = await connect(service, { token: short.access_token });
      await renewing.reauthenticate(ann.token);
      await expect.poll(() => other.hasEnded(), { timeout: 5_000 }).toBe(true);
      // A new token has taken the place of the one that expired.
      expect(renewing.hasEnded()).toBe(false);
    } else await expect.poll(() => renewing.hasEnded(), { timeout: 5_000 }).toBe(true);
    expect(lasting.hasEnded()).toBe(false);
    for (const client of [renewing, lasting]) client.close();
  }, 15_000);
});

describe.each(["websocket", "socketio"] as const)("commands over %s", (transport) => {
  const open = async (): Promise<{ service: TestService; client: DuplexClient }> => {
    const { service, ann } = await started();
    return { service, client: await duplex[transport](service, ann) };
  };

  test("a budget that runs out fails the command", async () => {
    const { client } = await open();
    const late = await client.command("test.slow", { millis: 2_000 }, { deadline_budget: 0.1 });
    expect(late).toMatchObject({ error: { code: "deadline_exceeded" } });
    expect((await client.command("test.slow", { millis: 1 }, { deadline_budget: 5 })).data).toEqual(
      {
        millis: 1,
      },
    );
    client.close();
  });

  test("signals of a failed command are never heard", async () => {
    const { service, ann } = await started();
    const client = await duplex[transport](service, ann);
    expect(await client.command("test.failing", { to: ann.id })).toMatchObject({
      error: { code: "core.conflict" },
    });
    await service.running.connection.write(
      "test.stage",
      (context) => stageText(context, "task.assigned", '{"title":"heard"}', [ann.id]),
      ann.tenantId,
    );
    await expect.poll(() => client.heard.map(({ data }) => data.title)).toEqual(["heard"]);
    client.close();
  });

  test("commands under way when the service stops are answered, later ones are not begun", async () => {
    const { service, client } = await open();
    const running = client.command("test.slow", { millis: 500 });
    await sleep(50);
    const stopped = service.running.stop();
    await sleep(100);
    const late = client.command("test.slow", { millis: 1 });
    expect((await running).data).toEqual({ millis: 500 });
    expect(await late).toMatchObject({ error: { code: "service_draining" } });
    await stopped;
    await expect.poll(() => client.hasEnded()).toBe(true);
  });
});

test("connections end one after the other, so that they do not all come back at once", async () => {
  const { service, ann } = await started();
  const people = peopleOf(service);
  const members = [ann];
  while (members.length < 6) members.push(await people.member(ann.tenantId, "tasks.read"));
  const ends: number[] = [];
  for (const member of members)
    for (let index = 0; index < 20; index += 1) {
      const { socket } = await openSocket(service, member);
      socket.on("close", (code) => {
        expect(code).toBe(1001);
        ends.push(Date.now());
      });
    }
  await sleep(200);
  await service.running.stop();
  await expect.poll(() => ends.length).toBe(120);
  // 120 of them are spread over 600 ms.
  expect(Math.max(...ends) - Math.min(...ends)).toBeGreaterThan(200);
}, 20_000);
