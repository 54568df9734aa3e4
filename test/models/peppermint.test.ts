// Peppermint's models beside its tickets: people, teams, clients, knowledge, and what admins set up.
import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { compile } from "../generator/compile.js";
import { onEachEngine } from "../support/on-each-engine.js";
import { checkAccess, failed, forbidden, missing } from "./access.js";
import { modelFiles } from "./model.js";
import { openDesk, unique } from "./peppermint/desk.js";

const project = onEachEngine(
  modelFiles("peppermint"),
  ({ engine, service, people }) => {
    const { customer, staff, read, change, listed } = openDesk({ service, people });

    test("each document is made, read, listed, changed and removed by those who may", async () => {
      const [admin, lead, agent] = [
        await staff("admin"),
        await staff("lead"),
        await staff("agent"),
      ];
      const [ann, eve] = [await customer("Ann"), await customer("Eve")];
      const ticket = await ann.make("tickets", { title: "The printer" });
      const client = await agent.make("clients", {
        name: "Acme",
        email: `${randomUUID()}@acme.test`,
        contact_name: "Wile",
      });
      const team = await lead.make("teams", { name: unique("Hardware") });
      const allowed = [201, undefined];
      await checkAccess([
        {
          path: "teams",
          body: { name: unique("Network") },
          patch: { name: unique("Networks") },
          writer: lead,
          other: agent,
        },
        {
          path: "clients",
          body: { name: "Globex", email: `${randomUUID()}@globex.test`, contact_name: "Hank" },
          patch: { active: false, notes: "left" },
          writer: agent,
          other: ann,
          unread: forbidden,
          remover: lead,
        },
        {
          path: "tickets",
          body: { title: "No sound", detail: "At all", type: "bug" },
          patch: { title: "No sound at all" },
          writer: ann,
          other: eve,
          refusal: allowed,
          unchanged: missing,
          unremoved: forbidden,
          unread: missing,
          remover: lead,
        },
        {
          path: "comments",
          body: { ticket, text: "It hums", public: true },
          patch: { text: "It hums again" },
          writer: ann,
          other: eve,
          // They can't name a ticket that they don't see.
          refusal: [422, "core.validation"],
          unchanged: missing,
          unremoved: forbidden,
          unread: missing,
          remover: lead,
        },
        {
          path: "time_entries",
          body: { title: "On site", time: 45, ticket, client },
          patch: { time: 60, comment: "with a drill" },
          writer: agent,
          other: ann,
          unread: forbidden,
        },
        {
          path: "notes",
          body: { title: "Ideas", note: "None" },
          patch: { favourited: true },
          writer: ann,
          other: agent,
          refusal: allowed,
          unchanged: missing,
          unread: missing,
        },
        {
          path: "todos",
          body: { text: "Sleep" },
          patch: { done: true },
          writer: agent,
          other: admin,
          refusal: allowed,
          unchanged: missing,
          unread: missing,
        },
        {
          path: "user_files",
          body: { filename: "a.txt", path: randomUUID() },
          patch: { filename: "b.txt" },
          writer: ann,
          other: admin,
          refusal: allowed,
          unchanged: missing,
          unread: missing,
        },
        {
          path: "knowledge_base",
          body: { title: "Printers", content: "Turn it off and on.", tags: ["print"], ticket },
          patch: { public: true },
          writer: agent,
          other: ann,
          unread: forbidden,
          remover: lead,
        },
        {
          path: "email_templates",
          body: { type: "ticket_created", html: "<p>{{title}}</p>" },
          patch: { html: "<b>{{title}}</b>" },
          writer: admin,
          other: agent,
        },
        {
          path: "email_queues",
          body: {
            name: "Support",
            username: unique("u"),
            hostname: "imap.example.test",
            secret: "a secret of sixteen",
            teams: [team],
          },
          patch: { active: false },
          writer: admin,
          other: lead,
          unread: forbidden,
        },
        {
          path: "providers",
          body: { name: unique("GitHub"), client_id: "a", client_secret: "b", active: true },
          patch: { active: false },
          writer: admin,
          other: lead,
          unread: forbidden,
        },
        {
          path: "chat_hooks",
          body: { kind: "slack", name: "General", url: "https://hooks.example.test/1" },
          patch: { name: "Random" },
          writer: admin,
          other: agent,
          unread: forbidden,
        },
        {
          path: "uptime_checks",
          body: { name: "Home", url: "https://example.test" },
          patch: { name: "Page" },
          writer: admin,
          other: agent,
          unread: forbidden,
        },
      ]);
    });

    test("people have a row of their own, others see their card, and admins say the team", async () => {
      const [admin, agent, ann] = [await staff("admin"), await staff("agent"), await customer()];
      const team = await admin.make("teams", { name: unique("First line") });
      expect(failed(await agent.call("GET", `/users/${ann.id}`))).toEqual(missing);
      const card = await read(agent, `users/views/card/${ann.id}`);
      expect(card).toEqual({ id: ann.id, name: "Ann", image: null, team: null });
      const wishes = { notify_ticket_comments: false, language: "de", first_login: false };
      expect((await change(ann, `users/${ann.id}`, wishes)).body.data).toMatchObject(wishes);
      expect(failed(await change(agent, `users/${agent.id}`, { team }))).toEqual([
        422,
        "core.validation",
      ]);
      const assign = (by: typeof ann) => by.call("PUT", `/users/${agent.id}/team`, { team });
      expect(failed(await assign(agent))).toEqual(forbidden);
      expect((await assign(admin)).status).toBe(204);
      expect((await read(agent, `users/${agent.id}`)).team).toBe(team);
      expect((await admin.call("DELETE", `/teams/${team}`)).status).toBe(204);
      expect((await read(agent, `users/${agent.id}`)).team).toBeNull();
      expect(failed(await ann.call("POST", "/users", { name: "B", email: "b@x.test" }))).toEqual([
        409,
        "unique_violation",
      ]);
    });

    test("roles that are made at run time permit what they are granted", async () => {
      const admin = await staff("admin");
      const somebody = await customer();
      expect(failed(await somebody.call("POST", "/clients/list", {}))).toEqual(forbidden);
      const role = `night_${randomUUID().slice(0, 8)}`;
      for (const grant of [
        { role, permission: "clients.read" },
        { principal_id: somebody.principal, permission: `role:${role}` },
      ]) {
        expect(failed(await somebody.call("POST", "/admin/grants", grant))).toEqual(forbidden);
        expect((await admin.call("POST", "/admin/grants", grant)).status).toBeLessThan(300);
      }
      expect((await somebody.call("POST", "/clients/list", {})).status).toBe(200);
      expect(failed(await somebody.call("POST", "/teams/list", {}))).toEqual(forbidden);
    });

    test("there is one set of settings, and who is away says until when", async () => {
      const [admin, agent] = [await staff("admin"), await staff("agent")];
      expect(failed(await agent.call("POST", "/settings", {}))).toEqual(forbidden);
      const id = await admin.make("settings", { portal_locale: "en" });
      expect(failed(await admin.call("POST", "/settings", {}))).toEqual([409, "unique_violation"]);
      expect((await read(agent, `settings/${id}`)).first_time_setup).toBe(true);
      const away = { out_of_office: true, out_of_office_message: "Back on Monday" };
      const early = await change(admin, `settings/${id}`, away);
      expect([...failed(early), early.body.context.errors[0].path]).toEqual([
        422,
        "core.validation",
        "/out_of_office_start",
      ]);
      const whole = { ...away, out_of_office_start: "2026-12-24T00:00:00.000Z" };
      expect((await change(admin, `settings/${id}`, whole)).body.data).toMatchObject(whole);
      expect(failed(await change(agent, `settings/${id}`, { out_of_office: false }))).toEqual(
        forbidden,
      );
      expect((await admin.call("DELETE", `/settings/${id}`)).status).toBe(204);
    });

    test("what admins look at shows no secrets", async () => {
      const [admin, lead] = [await staff("admin"), await staff("lead")];
      const client_secret = randomUUID();
      const provider = { name: unique("Okta"), client_id: "a", client_secret, active: true };
      const id = await admin.make("providers", provider);
      const shown = await admin.call("GET", `/providers/views/shown/${id}`);
      expect([shown.status, shown.body.client_id]).toEqual([200, "a"]);
      expect(JSON.stringify(shown.body)).not.toContain(client_secret);
      const filters = { $values: { client_secret } };
      const guessed = await admin.call("POST", "/providers/views/shown/list", { filters });
      expect(failed(guessed)).toEqual([422, "field_not_queryable"]);
      expect(failed(await lead.call("GET", `/providers/views/shown/${id}`))).toEqual(forbidden);
    });

    test("strangers read public articles, and nothing that is not", async () => {
      const agent = await staff("agent");
      const ticket = await agent.make("tickets", { title: "Jam" });
      const word = `q${randomUUID().slice(0, 8)}`;
      const article = {
        title: `Paper ${word}`,
        content: "Open the tray.",
        tags: ["paper"],
        ticket,
      };
      const draft = await agent.make("knowledge_base", article);
      const open = await agent.make("knowledge_base", { ...article, public: true });
      const page = (id: string) =>
        service.call("GET", `/knowledge_base/views/page/${id}`, { headers: { authorization: "" } });
      expect(failed(await page(draft))).toEqual(missing);
      const { status, body } = await page(open);
      expect([status, Object.keys(body).sort()]).toEqual([
        200,
        ["content", "id", "last_update_at", "tags", "title"],
      ]);
      const filters = { $values: { tags: { $overlaps: ["paper"] }, title: article.title } };
      const seen = await service.call("POST", "/knowledge_base/views/page/list", {
        body: { filters },
        headers: { authorization: "" },
      });
      expect(seen.body.hits.map(({ id }: { readonly id: string }) => id)).toEqual([open]);
      const whole = await service.call("GET", `/knowledge_base/${open}`, {
        headers: { authorization: "" },
      });
      expect(failed(whole)).toEqual([401, "core.authentication"]);
      const found = await agent.call("POST", "/search/knowledge/typed", {
        query: `papers ${word}`,
      });
      expect(found.body.hits).toHaveLength(2);
      expect(
        (await read(agent, `knowledge_base/${open}?expand=author,ticket`)).expanded,
      ).toMatchObject({ author: { id: agent.id, name: "Bob" }, ticket: { title: "Jam" } });
    });

    test("time is added up for each client", async () => {
      const [one, two] = [await staff("agent"), await staff("agent")];
      const email = `${randomUUID()}@acme.test`;
      const client = await one.make("clients", { name: "Acme", email, contact_name: "Wile" });
      await one.make("time_entries", { title: "Call", time: 25, client });
      await one.make("time_entries", { title: "Visit", time: 90, client });
      await two.make("time_entries", { title: "Mail", time: 5, client });
      const sums = await one.call("POST", "/time_entries/agg_list", {
        aggregates: { $groups: { user: "user" }, $computed: { minutes: { $sum: "time" } } },
        filters: { $values: { "client.email": email } },
        sorts: { minutes: "desc" },
      });
      expect(sums.body.hits).toEqual([
        { user: one.id, minutes: 115 },
        { user: two.id, minutes: 5 },
      ]);
      const none = await one.call("POST", "/time_entries", { title: "None", time: 0 });
      expect(failed(none)).toEqual([422, "core.validation"]);
    });

    test("addresses are watched every five minutes", async () => {
      const { testService } = await project.load("generated/testing.ts");
      const api = await project.load("generated/client/index.ts");
      const server = process.env["OPWRIGHT_TEST_POSTGRES"];
      const database = engine.name === "postgres" ? { database: server } : {};
      const app = await testService({ clock: "2026-06-01T00:00:00Z", ...database });
      onTestFinished(() => app.close());
      const admin = await app.as("ada", { permissions: ["role:admin"] });
      const urls = [`${service.url}/livez`, `${service.url}/nothing`, `${service.url}/livez`];
      for (const [at, url] of urls.entries())
        await api.uptimeChecks.create(admin, { name: `${at}`, url, active: at < 2 });
      await app.clock.set("2026-06-01T00:05:00Z");
      await app.jobs.done();
      const { hits } = await api.uptimeChecks.list(admin, { sorts: { name: "asc" } });
      const latency = expect.any(Number);
      expect(hits).toMatchObject([
        { status: true, latency },
        { status: false, latency },
        { status: null, latency: null },
      ]);
    });

    test("who is erased leaves tickets without names", async () => {
      const [admin, agent, ann] = [await staff("admin"), await staff("agent"), await customer()];
      const ticket = await ann.make("tickets", { title: "My back", detail: "hurts", name: "Ann" });
      await ann.make("comments", { ticket, text: "still", public: true });
      await ann.make("notes", { title: "Diary", note: "…" });
      const erase = (by: typeof ann) =>
        by.call("POST", "/auth/erase", { principal_id: ann.principal });
      expect(failed(await erase(agent))).toEqual(forbidden);
      const { status, body } = await erase(admin);
      expect([status, body.erased]).toMatchObject([200, { tickets: 1, comments: 1, users: 1 }]);
      expect(await read(agent, `tickets/${ticket}?expand=created_by`)).toMatchObject({
        title: "…",
        detail: null,
        name: null,
        expanded: { created_by: { name: "Somebody" } },
      });
      expect(await listed(agent, "comments", { ticket })).toMatchObject([{ text: "…" }]);
      expect((await ann.call("GET", "/auth/me")).status).toBe(401);
    });
  },
  { signsIn: false },
);

test("the project compiles under the strict flags, and only what is meant is to report", () => {
  compile(project.root);
  const codes = new Set(project.warnings.map((warning) => warning.slice(0, 6)));
  expect([...codes].sort()).toEqual(["OPW096", "OPW109"]);
});
