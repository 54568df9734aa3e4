// What a caller can make is bounded: sessions, API keys, cursors of devices (architecture.md "Work is bounded").
import { expect, test } from "vitest";
import { onEachEngine, reference } from "../../support/on-each-engine.js";
import { identitySpec } from "../../../generated/identity.js";
import { issueSession } from "../../../runtime/families/identity/operations.js";
import { uuidv7 } from "../../../runtime/ports/uuid.js";
import { mailboxStore } from "../../../runtime/ports/mailbox.js";
import { apiKeyStore } from "../../../runtime/ports/api-keys.js";
import { identityStore } from "../../../runtime/ports/identity.js";

onEachEngine(reference, ({ service }) => {
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  /** Somebody with as many sessions, as their tokens. */
  const signedIn = (count: number) =>
    service.running.connection.write("test.people", async (context) => {
      const principalId = uuidv7();
      const login = `${principalId}@example.test`;
      const identity = context.transaction.of(identityStore);
      await identity.addPrincipal({ id: principalId, login, passwordHash: "", isActive: true });
      const tokens: { readonly access_token: string; readonly refresh_token: string }[] = [];
      for (let at = 0; at < count; at += 1)
        tokens.push(await issueSession(identitySpec, context, { principalId, tenant: null }));
      return { principalId, tokens };
    });

  test("with the 101st session of a principal the oldest ends, with its refresh token", async () => {
    const { principalId, tokens } = await signedIn(100);
    const [first, second] = tokens;
    const sessions = (token = "") => service.call("GET", "/auth/sessions", bearer(token));
    expect((await sessions(first?.access_token)).body.sessions).toHaveLength(100);
    const newest = await service.running.connection.write("test.people", (context) =>
      issueSession(identitySpec, context, { principalId, tenant: null }),
    );
    expect((await sessions(first?.access_token)).status).toBe(401);
    const refresh = { refresh_token: first?.refresh_token };
    expect((await service.post("/auth/refresh", refresh)).status).toBe(401);
    expect((await sessions(second?.access_token)).status).toBe(200);
    expect((await sessions(newest.access_token)).body.sessions).toHaveLength(100);
  });

  test("sessions that were ended make room before any other", async () => {
    const { principalId, tokens } = await signedIn(1);
    await service.running.connection.write("test.people", async (context) => {
      const identity = context.transaction.of(identityStore);
      for (let at = 0; at < 150; at += 1) {
        await issueSession(identitySpec, context, { principalId, tenant: null });
        const [, last] = await identity.listSessions(principalId);
        await identity.endSession(principalId, last?.id ?? "", Date.now());
      }
    });
    const { body } = await service.call(
      "GET",
      "/auth/sessions",
      bearer(tokens[0]?.access_token ?? ""),
    );
    expect(body.sessions).toHaveLength(1);
  });

  test("the 101st API key is refused by name until one is revoked", async () => {
    const { tokens } = await signedIn(1);
    const { headers } = bearer(tokens[0]?.access_token ?? "");
    const issue = () => service.post("/api-keys", {}, headers);
    const ids: string[] = [];
    for (let at = 0; at < 100; at += 1) {
      const issued = await issue();
      expect(issued.status).toBe(201);
      ids.push(issued.body.key_id);
    }
    const refused = await issue();
    expect([refused.status, refused.body.code, refused.body.context]).toEqual([
      409,
      "api_keys_limit",
      { most: 100 },
    ]);
    await service.call("DELETE", `/api-keys/${ids[0]}`, { headers });
    expect((await issue()).status).toBe(201);
    expect((await issue()).status).toBe(409);
  });

  test("keys that ran out take nobody's room", async () => {
    const { principalId, tokens } = await signedIn(1);
    await service.running.connection.write("test.keys", async ({ transaction }) => {
      for (let at = 0; at < 250; at += 1)
        await transaction.of(apiKeyStore).add({
          id: uuidv7(),
          principalId,
          actorId: null,
          tenant: null,
          digest: `${principalId}/${at}`,
          prefix: "p",
          hint: "h",
          label: null,
          scopes: null,
          createdAt: at,
          expiresAt: 1_000,
          lastUsedAt: null,
        });
    });
    const { headers } = bearer(tokens[0]?.access_token ?? "");
    expect((await service.post("/api-keys", {}, headers)).status).toBe(201);
    const { body } = await service.call("GET", "/api-keys", { headers });
    expect(body.keys).toHaveLength(1);
    // As many that ran out are kept for a day.
    const kept = service.running.connection.database.reader.of(apiKeyStore);
    expect(await kept.list(principalId)).toHaveLength(101);
  });

  test("a client that invents devices loses the cursors of those that were not seen for longest", async () => {
    const { tester, running } = service;
    const { connection } = running;
    await connection.write(
      "test.signal",
      async ({ transaction }) => {
        const signal = {
          eventId: uuidv7(),
          name: "task.assigned",
          data: "{}",
          shape: null,
          traceparent: null,
        };
        await transaction.of(mailboxStore).stage(tester.tenantId, signal, [tester.id], Date.now());
      },
      tester.tenantId,
    );
    connection.signals.wake();
    const history = () => service.call("GET", "/realtime/history");
    await expect.poll(async () => (await history()).body.signals).toHaveLength(1);
    const [{ id }] = (await history()).body.signals;
    for (let at = 0; at < 120; at += 1) {
      const acked = await service.post(`/realtime/sse/ack?device_id=d${at}`, { up_to: id });
      expect(acked.body).toEqual({ acked: true });
    }
    const owner = { tenant: tester.tenantId, principalId: tester.id };
    const mailbox = connection.database.reader.of(mailboxStore);
    const cursors = await Promise.all(
      Array.from({ length: 120 }, async (_, at) => (await mailbox.state(owner, `d${at}`)).cursor),
    );
    expect(cursors.map((cursor) => cursor === null)).toEqual(cursors.map((_cursor, at) => at < 20));
  });
});
