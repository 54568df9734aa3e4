// The audit log says who did what; no log, answer or table says a secret (service.md "Errors", ASVS 16).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Client } from "pg";
import { openSqlite } from "../../../runtime/engines/sqlite/driver.js";
import { Lifetime } from "../../../runtime/ports/lifetime.js";
import { engines, type FreshDatabase } from "../../support/engines.js";
import { password, peopleOf, type People } from "../../support/people.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";
import { outboxStore } from "../../../runtime/ports/outbox.js";

const newPassword = "another long password";
const nobody = "01890000-0000-7000-8000-000000000001";

/** Every row of every table of opwright, as text. */
async function dump(url: string): Promise<string> {
  if (url.startsWith("sqlite:")) {
    const connection = openSqlite(url.slice("sqlite:".length));
    const tables = connection
      .prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`)
      .all([])
      .map((row) => String(row["name"]));
    const rows = tables.map((name) => connection.prepare(`SELECT * FROM "${name}"`).all([]));
    connection.close();
    return JSON.stringify(rows);
  }
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows: tables } = await client.query<{ readonly name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`,
  );
  const all: unknown[] = [];
  for (const { name } of tables) all.push((await client.query(`SELECT * FROM "${name}"`)).rows);
  await client.end();
  return JSON.stringify(all);
}

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let people: People;
    let database: FreshDatabase;
    let entries: Record<string, unknown>[] = [];
    const logged: string[] = [];
    const answers: string[] = [];
    beforeAll(async () => {
      database = await engine.create();
      const keep = (fields: Readonly<Record<string, unknown>>): void => {
        // An error is logged with its causes, as pino prints them.
        const causes =
          fields["err"] instanceof Error
            ? [String(fields["err"].stack), String(fields["err"].cause)]
            : [];
        logged.push(JSON.stringify(fields), ...causes);
        if (typeof fields["audit"] === "object")
          entries.push(fields["audit"] as Record<string, unknown>);
      };
      service = await startTestService(engine, {
        signsIn: false,
        environment: {
          ...database.environment,
          DESTINATION_NOTIFICATIONS: "http://127.0.0.1:1/",
          OUTBOX_MAX_ATTEMPTS: "1",
        },
        log: { debug: keep, info: keep, warn: keep, error: keep },
      });
      people = peopleOf(service);
    });
    afterAll(async () => {
      await service.stop();
      await database.drop();
    });

    const recorded = async (work: () => Promise<Answer>) => {
      entries = [];
      const { status } = await work();
      return { status, entries };
    };
    const signIn = (login: string, with_ = password): Promise<Answer> =>
      service.post("/auth/login", { login, password: with_ });

    test("a login is noted with whom it concerned and how it ended, and by no password", async () => {
      const { login, id } = await people.person();
      const common = {
        caller: null,
        actor: null,
        credential: null,
        tenant: null,
        address: "127.0.0.1",
        request_id: expect.any(String),
      };
      const right = await recorded(() => signIn(login));
      expect(right.entries).toEqual([
        { operation: "authn.password_login", outcome: "ok", principal_id: id, ...common },
      ]);
      const wrong = await recorded(() => signIn(login, "wrong password"));
      expect(wrong.entries).toEqual([
        {
          operation: "authn.password_login",
          outcome: "core.authentication",
          principal_id: id,
          ...common,
        },
      ]);
      const unknown = await recorded(() => signIn("nobody@example.test"));
      expect(unknown.entries).toEqual([
        { operation: "authn.password_login", outcome: "core.authentication", ...common },
      ]);
    });

    test("administration is noted with its administrator and its object, refusals as well", async () => {
      const boss = await people.person("platform.admin");
      const { access_token: token } = await people.session(boss.id, null);
      const { id } = await people.person();
      const grant = { principal_id: id, permission: "platform.admin" };
      const given = await recorded(() => people.as(token, "POST", "/admin/grants", grant));
      expect(given.entries).toMatchObject([
        { operation: "principals.grant_permission", outcome: "ok", caller: boss.id, ...grant },
      ]);
      const member = await people.member("");
      const refused = await recorded(() =>
        people.as(member.token, "POST", "/auth/deactivate", { principal_id: id }),
      );
      expect(refused.entries).toMatchObject([
        {
          operation: "authn.deactivate_principal",
          outcome: "core.authorization",
          caller: member.id,
          tenant: member.tenantId,
          principal_id: id,
        },
      ]);
      const agent = await people.member(member.tenantId);
      const acting = (await people.session(member.id, member.tenantId, agent.id)).access_token;
      const onBehalf = await recorded(() => people.as(acting, "POST", "/api-keys", { label: "x" }));
      expect(onBehalf.entries).toMatchObject([
        { caller: member.id, actor: agent.id, outcome: "core.authorization" },
      ]);
      const { body: issued } = await people.as(member.token, "POST", "/api-keys", { label: "y" });
      const asked = { url: "https://example.test/hook", events: ["tasks.completed"] };
      const byKey = await recorded(() =>
        service.call("POST", "/webhooks", {
          body: asked,
          headers: { "x-api-key": issued.api_key },
        }),
      );
      const bySession = await recorded(() => people.as(member.token, "POST", "/webhooks", asked));
      expect([byKey.entries, bySession.entries]).toMatchObject([
        [{ operation: "webhooks.create", credential: "api_key", outcome: "core.authorization" }],
        [{ operation: "webhooks.create", credential: "session", events: asked.events }],
      ]);
      const read = await recorded(() =>
        people.as(token, "GET", `/admin/grants?principal_id=${id}`),
      );
      expect([read.status, read.entries]).toEqual([200, []]);
    });

    test("a refresh token that is used again is noted as such", async () => {
      const { body: first } = await signIn((await people.person()).login);
      const refresh = (token: string): Promise<Answer> =>
        service.post("/auth/refresh", { refresh_token: token });
      const { body: second } = await refresh(first.refresh_token);
      await refresh(second.refresh_token);
      const theft = await recorded(() => refresh(first.refresh_token));
      expect(theft.entries).toMatchObject([
        {
          outcome: "core.authentication",
          reason: "a refresh token was used again: its session has ended",
        },
      ]);
    });

    test("no secret is in a log, an answer to something else, or a table", async () => {
      const { login, id } = await people.person();
      const secrets = new Set([password, newPassword]);
      const send = async (
        method: string,
        path: string,
        body: unknown,
        token = "",
      ): Promise<Answer> => {
        const answer = await people.as(token, method, path, body);
        // Answers that give a secret away on purpose are the ones that it comes from.
        if (answer.body?.access_token === undefined && answer.body?.api_key === undefined)
          answers.push(JSON.stringify([answer.body, [...answer.headers]]));
        return answer;
      };
      const { body: pair } = await send("POST", "/auth/login", { login, password });
      const { body: next } = await send("POST", "/auth/refresh", {
        refresh_token: pair.refresh_token,
      });
      const { body: key } = await send("POST", "/api-keys", { label: "k" }, next.access_token);
      for (const secret of [
        pair.access_token,
        pair.refresh_token,
        next.access_token,
        next.refresh_token,
        key.api_key,
      ])
        secrets.add(secret);
      await send("GET", "/api-keys", undefined, next.access_token);
      await send("POST", "/auth/password-reset/request", { login });
      await send("POST", "/auth/password-reset/confirm", {
        token: pair.refresh_token,
        new_password: newPassword,
      });
      await send("POST", "/auth/refresh", { refresh_token: `${next.refresh_token}x` });
      await send("POST", "/auth/refresh", {
        refresh_token: next.refresh_token,
        extra: next.refresh_token,
      });
      await send("POST", "/auth/login", { login, password: newPassword });
      await send("POST", "/auth/login", { login, passwort: password });
      await send(
        "GET",
        `/notes/get?id=${nobody}&token=${next.access_token}`,
        undefined,
        next.access_token,
      );
      await send("GET", `/tasks/${key.api_key}`, undefined, next.access_token);
      await send(
        "POST",
        "/auth/change-password",
        { current_password: newPassword, new_password: password },
        next.access_token,
      );
      await send(
        "POST",
        "/auth/change-password",
        { current_password: password, new_password: newPassword },
        next.access_token,
      );
      await expect.poll(() => logged.join("\n")).toContain("authn.password_reset_requested");
      // The event could not be delivered: it is kept, sealed. Its token is read as the relay would.
      const { database: stores, sealer } = service.running.connection;
      const token = await stores.write({ lifetime: Lifetime.unlimited() }, async (transaction) => {
        const outbox = transaction.of(outboxStore);
        await outbox.redrive(null, Date.now(), 100);
        const window = { now: Date.now(), leaseUntil: Date.now() + 60_000, limit: 10 };
        const [event] = await outbox.claim(["authn.password_reset_requested"], window);
        const { token: found } = JSON.parse(sealer.open(event?.payload ?? "", event?.id ?? ""));
        return String(found);
      });
      expect(token).toHaveLength(43);
      secrets.add(token);
      const stored = await dump(database.url);
      const texts = { logged: logged.join("\n"), answers: answers.join("\n"), stored };
      expect(stored).toContain(id);
      for (const [where, text] of Object.entries(texts))
        for (const secret of secrets)
          expect([where, secret.slice(0, 12), text.includes(secret)]).toEqual([
            where,
            secret.slice(0, 12),
            false,
          ]);
    });
  });
}
