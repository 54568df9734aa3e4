// A topics function that never settles: the handshake is refused after 5 s on every transport, and the log names the function.
import { afterAll, beforeAll, expect, test } from "vitest";
import { service as definition } from "../../../generated/service.js";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member } from "../../support/people.js";
import { connectSocketIo, connectWebSocket } from "../../support/realtime-clients.js";
import { recordingLog } from "../../support/recording-log.js";
import { startTestService, type TestService } from "../../support/service.js";

const log = recordingLog();
let service: TestService;
let member: Member;
beforeAll(async () => {
  const [engine] = engines;
  if (engine === undefined || definition.realtime === undefined) throw new Error("no realtime");
  const endless = (): Promise<never> => new Promise(() => undefined);
  const realtime = { ...definition.realtime, authorizeTopics: endless };
  service = await startTestService(engine, {
    signsIn: false,
    definition: { ...definition, realtime },
    log,
  });
  member = await peopleOf(service).member("");
});
afterAll(() => service?.stop());

/** An EventSource would come back by itself. */
async function stream(
  { url }: TestService,
  { token }: Member,
  { topics }: { readonly topics: readonly string[] },
): Promise<never> {
  const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" };
  const answer = await fetch(`${url}/realtime/sse?topics=${topics.join(",")}`, { headers });
  expect(answer.status).toBe(503);
  throw new Error("refused");
}

test.each([
  ["websocket", connectWebSocket],
  ["sse", stream],
  ["socketio", connectSocketIo],
] as const)(
  "over %s",
  async (_name, connect) => {
    log.lines.length = 0;
    const begun = performance.now();
    const topics = ["project:01890000-0000-7000-8000-000000000001"];
    await expect(connect(service, member, { topics })).rejects.toThrow();
    expect(performance.now() - begun).toBeLessThan(8_000);
    const isTold = (): boolean =>
      log.lines.some(({ error }) => error.includes("the topics function endless has not answered"));
    await expect.poll(isTold).toBe(true);
  },
  15_000,
);
