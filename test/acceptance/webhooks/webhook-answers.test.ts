// Receivers of webhooks that answer oddly, or not at all: each call settles, is told of, and frees its place (attack 128).
import { createServer as createSilent, type AddressInfo, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../runtime/ports/clock.js";
import type { Log } from "../../../runtime/ports/log.js";
import { post } from "../../../runtime/operations/outgoing-call.js";
import { engines } from "../../support/engines.js";
import { oddReceivers, oddServer } from "../../faults/odd-receivers.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { startTestService, type TestService } from "../../support/service.js";

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let people: People;
    let receiver: Server;
    let base = "";
    const sockets = new Set<Socket>();
    const lines: { readonly fields: Record<string, unknown>; readonly text: string }[] = [];
    const note = (fields: object, text: string): void =>
      void lines.push({ fields: { ...fields }, text });
    const log: Log = { debug: note, info: note, warn: note, error: note };

    beforeAll(async () => {
      receiver = oddServer(sockets);
      await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
      base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
      service = await startTestService(engine, {
        log,
        environment: {
          WEBHOOK_ADDRESSES: "any",
          WEBHOOK_MAX_ATTEMPTS: "1",
          SETTLE_SECONDS: "0",
          // Far more than a test may take.
          DRAIN_SECONDS: "300",
        },
      });
      people = peopleOf(service);
    }, 60_000);
    afterAll(async () => {
      await service.stop();
      for (const socket of sockets) socket.destroy();
      receiver.close();
    });

    const subscribed = async (path: string): Promise<readonly [Member, string]> => {
      const member = await people.member("", "webhooks.read", "tasks.read", "tasks.write");
      const url = `${base}/${encodeURIComponent(path)}`;
      const made = await people.as(member.token, "POST", "/webhooks", {
        url,
        events: ["tasks.completed"],
      });
      expect(made.status).toBe(201);
      expect((await people.as(member.token, "POST", `/webhooks/${made.body.id}/test`)).status).toBe(
        202,
      );
      return [member, made.body.id];
    };
    const metric = async (name: string): Promise<number> => {
      const { body } = await service.call("GET", "/metrics");
      return Number(new RegExp(`^opwright_${name} (\\S+)$`, "m").exec(body)?.[1]);
    };

    test("an answer of any kind settles, and each failure is a line and a count", async () => {
      const names = Object.keys(oddReceivers);
      const all = await Promise.all(names.map(subscribed));
      for (const [index, [member, id]] of all.entries()) {
        const name = names[index] ?? "";
        const reason = oddReceivers[name]?.[1] ?? null;
        const last = async () => {
          const listed = await people.as(member.token, "GET", `/webhooks/${id}/deliveries`);
          return listed.body.deliveries[0];
        };
        await expect
          .poll(last, { timeout: 40_000 })
          .toMatchObject({ state: reason === null ? "delivered" : "failed", attempts: 1 });
        if (reason === null) continue;
        expect([name, (await last()).error]).toEqual([name, expect.stringMatching(reason)]);
        const told = lines.filter(({ fields }) => fields["webhook"] === id);
        expect([name, told]).toMatchObject([
          name,
          [{ fields: { event: "webhook.test", attempt: 1, tenant: member.tenantId } }],
        ]);
      }
      const failed = Object.values(oddReceivers).filter(([, reason]) => reason !== null).length;
      expect(await metric("webhooks_failed_total")).toBe(failed);
      expect(await metric("webhooks_given_up_total")).toBe(failed);
      expect(await metric("webhooks_delivered_total")).toBe(names.length - failed);
      expect(await metric("webhooks_pending")).toBe(0);
      // Nothing holds a place or a connection any more.
      await expect.poll(() => sockets.size).toBe(0);
    }, 90_000);

    test("a stop waits for no receiver, and gives back the attempt that it ends", async () => {
      const [member, id] = await subscribed("silence");
      await expect.poll(() => sockets.size).toBe(1);
      await service.running.stop();
      expect(sockets.size).toBeLessThanOrEqual(1);
      const again = lines.length;
      await service.restart();
      await expect.poll(() => sockets.size, { timeout: 20_000 }).toBe(1);
      const listed = await people.as(member.token, "GET", `/webhooks/${id}/deliveries`);
      expect(listed.body.deliveries).toMatchObject([
        { state: "pending", attempts: 1, error: null },
      ]);
      expect(lines.slice(again).filter(({ fields }) => fields["webhook"] === id)).toEqual([]);
    }, 60_000);
  });
}

describe("calls", () => {
  test("a name that is never found, a connection that is never made", async () => {
    const asked: string[] = [];
    const signal = AbortSignal.timeout(50);
    const given = { headers: {}, body: "{}", signal } as const;
    await expect(
      post({
        clock: systemClock,
        ...given,
        url: "http://nowhere.test/",
        lookup: (name) => void asked.push(name),
      }),
    ).rejects.toThrow();
    expect(asked).toEqual(["nowhere.test"]);
    // RFC 5737 documents this network: nobody answers there, whatever the machine says about it.
    await expect(
      post({ clock: systemClock, ...given, url: "http://192.0.2.1/" }),
    ).rejects.toThrow();
  });

  test("a server that speaks no TLS", async () => {
    const server = createSilent((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const call = post({
      clock: systemClock,
      url: `https://127.0.0.1:${port}/`,
      headers: {},
      body: "{}",
    });
    await expect(call).rejects.toThrow();
    server.close();
  });

  test("a body that is never read", async () => {
    const sockets: Socket[] = [];
    const server = createSilent({ pauseOnConnect: true }, (socket) => void sockets.push(socket));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const body = "y".repeat(32 * 1024 * 1024);
    const call = post({ clock: systemClock, url: `http://127.0.0.1:${port}/`, headers: {}, body });
    await expect(call).rejects.toThrow("no answer within 10 s");
    for (const socket of sockets) socket.destroy();
    server.close();
  }, 30_000);
});
