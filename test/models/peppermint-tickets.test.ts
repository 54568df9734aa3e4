// Tickets of Peppermint: what customers see and leave to agents, and who hears of what.
import { createHmac, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { onEachEngine } from "../support/on-each-engine.js";
import { failed, forbidden, missing } from "./access.js";
import { modelFiles } from "./model.js";
import { openDesk, unique } from "./peppermint/desk.js";

interface Call {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Another system: a server that answers everything, until the test has finished. */
async function receive(): Promise<{ readonly calls: readonly Call[]; readonly url: string }> {
  const calls: Call[] = [];
  const receiver = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      calls.push({ headers: request.headers, body });
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void receiver.close());
  return { calls, url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook` };
}

const project = onEachEngine(
  modelFiles("peppermint"),
  ({ engine, service, people }) => {
    const { customer, staff, read, change, listed } = openDesk({ service, people });
    const textsOf = (rows: readonly { readonly text: string }[]) =>
      rows.map(({ text }) => text).sort();

    test("a customer reads what is said to them, and never what agents say to each other", async () => {
      const [ann, eve, agent] = [
        await customer("Ann"),
        await customer("Eve"),
        await staff("agent"),
      ];
      const word = `q${randomUUID().slice(0, 8)}`;
      const ticket = await ann.make("tickets", { title: `Printer ${word}`, detail: "It smokes." });
      await ann.make("comments", { ticket, text: `since ${word}`, public: true });
      const inside = await agent.make("comments", { ticket, text: `silly ${word}` });
      const told = await agent.make("comments", { ticket, text: `soon ${word}`, public: true });
      expect(textsOf(await listed(agent, "comments", { ticket }))).toEqual([
        `silly ${word}`,
        `since ${word}`,
        `soon ${word}`,
      ]);
      expect(textsOf(await listed(ann, "comments", { ticket }))).toEqual([
        `since ${word}`,
        `soon ${word}`,
      ]);
      expect(failed(await ann.call("GET", `/comments/${inside}`))).toEqual(missing);
      expect(failed(await ann.call("GET", `/comments/${told}/revisions`))).toEqual(forbidden);
      for (const text of [`silly ${word}`, `soon ${word}`]) {
        const filters = {
          $values: { id: ticket },
          $exists: { "comments.ticket": { $values: { text } } },
        };
        const { count } = (await ann.call("POST", "/tickets/list", { filters })).body;
        expect([text, count]).toEqual([text, text.startsWith("soon") ? 1 : 0]);
      }
      const found = async (by: typeof ann) =>
        (await by.call("POST", "/search", { query: word })).body.counts;
      expect(await found(ann)).toEqual({ tickets: 1, comments: 2 });
      expect(await found(eve)).toEqual({ tickets: 0, comments: 0 });
      expect(await found(agent)).toEqual({ tickets: 1, comments: 3, knowledge_base: 0 });
      expect(await listed(eve, "comments", { ticket })).toEqual([]);
      const whisper = await ann.call("POST", "/comments", { ticket, text: "psst" });
      expect(failed(whisper)).toEqual(forbidden);
      const exposed = await change(ann, `comments/${told}`, { text: "mine" });
      expect(failed(exposed)).toEqual(missing);
    });

    test("customers leave plans to agents, and agents some to leads", async () => {
      const [ann, agent, lead] = [await customer(), await staff("agent"), await staff("lead")];
      for (const plan of [
        { priority: "high" },
        { hidden: true },
        { locked: true },
        { assigned_to: agent.id },
        { note: "important" },
      ])
        expect([plan, failed(await ann.call("POST", "/tickets", { title: "T", ...plan }))]).toEqual(
          [plan, forbidden],
        );
      for (const by of [ann, agent]) {
        const begun = await by.call("POST", "/tickets", { title: "T", status: "in_progress" });
        expect(failed(begun)).toEqual([409, "transition_not_allowed"]);
      }
      const ticket = await ann.make("tickets", { title: "T" });
      const at = `tickets/${ticket}`;
      for (const plan of [{ priority: "high" }, { note: "mine" }, { hidden: false }])
        expect(failed(await change(ann, at, plan))).toEqual(forbidden);
      expect(failed(await change(ann, at, { status: "in_progress" }))).toEqual(forbidden);
      const team = await lead.make("teams", { name: unique("Team") });
      const plan = { priority: "high", assigned_to: agent.id, team, status: "in_progress" };
      expect((await change(agent, at, plan)).body.data).toMatchObject({
        ...plan,
        is_complete: false,
      });
      expect(failed(await change(agent, at, { locked: true }))).toEqual(forbidden);
      const forged = await agent.call("POST", "/tickets", { title: "T", from_imap: true });
      expect(failed(forged)).toEqual([422, "core.validation"]);
      expect((await change(agent, at, { status: "done" })).body.data.is_complete).toBe(true);
      // Whoever has asked says that it is not done; from there it is agents who move it.
      const again = await change(ann, at, { status: "needs_support" });
      expect(again.body.data).toMatchObject({ status: "needs_support", is_complete: false });
      await change(agent, at, { status: "done" });
      const jump = await change(agent, at, { status: "hold" });
      expect([...failed(jump), jump.body.context]).toMatchObject([
        409,
        "transition_not_allowed",
        { from: "done", to: "hold" },
      ]);
      // What agents note is among them, however somebody asks.
      const note = unique("careful");
      expect((await change(agent, at, { note })).body.data).toMatchObject({ note, hidden: false });
      const seen = await read(ann, at);
      expect([seen.id, "note" in seen, "hidden" in seen]).toEqual([ticket, false, false]);
      for (const search of [
        { filters: { $values: { note } } },
        { sorts: { note: "asc" } },
        { filters: { $values: { hidden: false } } },
      ])
        expect(failed(await ann.call("POST", "/tickets/list", search))).toEqual(forbidden);
      expect(await listed(agent, "tickets", { note })).toMatchObject([{ id: ticket }]);
      // What is hidden is gone for customers alone.
      await change(agent, at, { hidden: true });
      expect(failed(await ann.call("GET", `/${at}`))).toEqual(missing);
      expect((await agent.call("GET", `/${at}`)).status).toBe(200);
    });

    test("tickets have numbers in a row, whoever asks at once", async () => {
      const [ann, bob] = [await customer(), await customer()];
      const asked = await Promise.all(
        Array.from({ length: 10 }, (_, at) => (at % 2 ? ann : bob).make("tickets", { title: "T" })),
      );
      const agent = await staff("agent");
      const filters = { $values: { id: asked } };
      const sorts = { number: "asc" };
      const { hits } = (await agent.call("POST", "/tickets/list", { filters, sorts })).body;
      const numbers = hits.map(({ number }: { readonly number: number }) => number);
      expect(numbers).toEqual(Array.from({ length: 10 }, (_, at) => numbers[0] + at));
    });

    test("a locked ticket is changed and commented on by those alone who lock", async () => {
      const [ann, agent, lead] = [await customer(), await staff("agent"), await staff("lead")];
      const ticket = await ann.make("tickets", { title: "T" });
      const at = `tickets/${ticket}`;
      expect((await change(lead, at, { locked: true })).status).toBe(200);
      expect((await ann.call("GET", `/${at}`)).status).toBe(200);
      for (const by of [ann, agent]) {
        expect(failed(await change(by, at, { title: "U" }))).toEqual(missing);
        const comment = { ticket, text: "But", public: true };
        expect(failed(await by.call("POST", "/comments", comment))).toEqual([409, "ticket_locked"]);
      }
      await lead.make("comments", { ticket, text: "Closed for good", public: true });
      expect((await change(lead, at, { locked: false })).status).toBe(200);
      expect((await change(agent, at, { title: "U" })).status).toBe(200);
    });

    test("whom a ticket is assigned to is notified, and who doesn't want to be is not", async () => {
      const [ann, lead] = [await customer(), await staff("lead")];
      const [one, two] = [await staff("agent", "One"), await staff("agent", "Two")];
      const ticket = await ann.make("tickets", { title: "T" });
      await change(lead, `tickets/${ticket}`, { assigned_to: one.id });
      const [news] = await listed(one, "notifications");
      expect(news).toMatchObject({ text: "Assigned to you", read: false, ticket });
      expect((await change(one, `notifications/${news.id}`, { read: true })).body.data.read).toBe(
        true,
      );
      expect(failed(await change(one, `notifications/${news.id}`, { text: "x" }))).toEqual([
        422,
        "core.validation",
      ]);
      expect(failed(await lead.call("GET", `/notifications/${news.id}`))).toEqual(missing);
      expect(failed(await one.call("POST", "/notifications", { text: "x" }))).toEqual([
        404,
        "route_not_found",
      ]);
      const heard = await one.call("GET", "/realtime/history");
      expect(heard.body.signals).toMatchObject([
        { event: "notification.added", data: { text: "Assigned to you", ticket } },
      ]);
      await change(two, `users/${two.id}`, { notify_ticket_assigned: false });
      await change(lead, `tickets/${ticket}`, { assigned_to: two.id });
      expect(await listed(two, "notifications")).toEqual([]);
      // Followers hear of comments; customers of those that are for them.
      const follow = await one.call("POST", `/tickets/${ticket}/follow`, {});
      expect(follow.body).toEqual({ following: [one.id] });
      await two.make("comments", { ticket, text: "among us" });
      await two.make("comments", { ticket, text: "to you", public: true });
      expect(textsOf(await listed(one, "notifications", { read: false }))).toEqual([
        "among us",
        "to you",
      ]);
      expect(textsOf(await listed(ann, "notifications"))).toEqual(["to you"]);
      const stop = await one.call("POST", `/tickets/${ticket}/follow`, { follow: false });
      expect(stop.body).toEqual({ following: [] });
      await change(two, `tickets/${ticket}`, { status: "done" });
      expect(textsOf(await listed(ann, "notifications"))).toEqual(["Now done", "to you"]);
      expect(await listed(one, "notifications", { read: false })).toHaveLength(2);
    });

    test("mails of a queue become tickets and comments, each once, if they are signed", async () => {
      const [admin, agent] = [await staff("admin"), await staff("agent")];
      const secret: string = randomUUID();
      const queue = await admin.make("email_queues", {
        name: "Support",
        username: unique("u"),
        hostname: "imap.example.test",
        secret,
      });
      const pass = (mail: object, key = secret, to = queue) => {
        const body = JSON.stringify(mail);
        const headers = { "x-signature": createHmac("sha256", key).update(body).digest("hex") };
        return service.call("POST", `/queues/${to}/mails`, { body, headers });
      };
      const from = `${randomUUID()}@example.test`;
      const mail = { id: randomUUID(), from, subject: "No power", text: "At all." };
      expect(failed(await pass(mail, "another secret"))).toEqual([400, "signature_wrong"]);
      expect(failed(await pass(mail, secret, randomUUID()))).toEqual(missing);
      expect((await pass(mail)).status).toBe(204);
      expect((await pass(mail)).status).toBe(204);
      const [ticket, ...more] = await listed(agent, "tickets", { email: from });
      expect(more).toEqual([]);
      expect(ticket).toMatchObject({ title: "No power", detail: "At all.", from_imap: true });
      const reply = {
        id: randomUUID(),
        from,
        subject: `Re: #${ticket.number}`,
        text: "It is back.",
      };
      await pass(reply);
      expect(await listed(agent, "comments", { ticket: ticket.id })).toMatchObject([
        { text: "It is back.", public: true },
      ]);
      // A number is no key: somebody else's mail is a ticket of its own.
      const stranger = { ...reply, id: randomUUID(), from: "eve@example.test" };
      await pass(stranger);
      expect(await listed(agent, "comments", { ticket: ticket.id })).toHaveLength(1);
      const kept = await listed(admin, "imap_emails", { queue });
      expect(kept).toHaveLength(3);
      expect(failed(await agent.call("POST", "/imap_emails/list", {}))).toEqual(forbidden);
      await change(admin, `email_queues/${queue}`, { active: false });
      expect(failed(await pass({ ...mail, id: "x" }))).toEqual([400, "signature_wrong"]);
    });

    test("somebody without an account asks, and a client is known", async () => {
      const agent = await staff("agent");
      const email = `${randomUUID()}@acme.test`;
      const client = await agent.make("clients", { name: "Acme", email, contact_name: "Wile" });
      const body = { name: "Wile", email, title: "Rocket", detail: "Too slow", type: "feature" };
      const asked = await service.call("POST", "/tickets/ask", { body });
      expect(asked.status).toBe(201);
      expect(await listed(agent, "tickets", { "client.email": email })).toMatchObject([
        {
          number: asked.body.number,
          client,
          created_by: null,
          type: "feature",
          status: "needs_support",
        },
      ]);
      expect(
        failed(await service.call("POST", "/tickets/ask", { body: { ...body, priority: "high" } })),
      ).toEqual([422, "core.validation"]);
      const plain = await service.call("POST", "/tickets", { body: { title: "T" } });
      expect(failed(plain)).toEqual([401, "core.authentication"]);
    });

    test("files go to those who see their ticket", async () => {
      const [ann, eve, agent] = [await customer(), await customer(), await staff("agent")];
      const ticket = await ann.make("tickets", { title: "T" });
      const form = new FormData();
      form.set("file", new Blob(["smoke"], { type: "text/plain" }), "photo.txt");
      const headers = { authorization: `Bearer ${ann.token}` };
      const { body: stored } = await service.call("POST", "/files", { body: form, headers });
      const attach = (by: typeof ann) =>
        by.call("POST", `/tickets/${ticket}/files`, { path: stored.key });
      expect(failed(await attach(eve))).toEqual(missing);
      const attached = await attach(ann);
      expect(attached.body).toMatchObject({ filename: "photo.txt", size: 5 });
      expect(attached.body.mime).toMatch(/^text\/plain/);
      expect(failed(await attach(agent))).toEqual([409, "unique_violation"]);
      const { id } = attached.body;
      for (const by of [ann, agent]) {
        const { url } = (await by.call("POST", `/ticket_files/${id}/link`)).body;
        expect(await (await fetch(url)).text()).toBe("smoke");
      }
      expect(failed(await eve.call("POST", `/ticket_files/${id}/link`))).toEqual(missing);
      expect(failed(await ann.call("GET", `/files/${stored.key}`))).toEqual(forbidden);
      expect(failed(await ann.call("POST", `/ticket_files/${id}/delete?rev=1`))).toEqual(forbidden);
      expect((await agent.call("POST", `/ticket_files/${id}/delete?rev=1`)).status).toBe(200);
      expect(await listed(ann, "ticket_files", { ticket })).toEqual([]);
    });

    test("a ticket is deleted with what belongs to it, and comes back with it", async () => {
      const [ann, agent, lead] = [await customer(), await staff("agent"), await staff("lead")];
      const ticket = await ann.make("tickets", { title: "T" });
      const other = await agent.make("tickets", { title: "U", linked: [ticket] });
      const comment = await ann.make("comments", { ticket, text: "hm", public: true });
      const remove = (by: typeof ann) => by.call("POST", `/tickets/${ticket}/delete?rev=1`);
      expect(failed(await remove(agent))).toEqual(forbidden);
      expect((await remove(lead)).status).toBe(200);
      expect(failed(await ann.call("GET", `/comments/${comment}`))).toEqual(missing);
      expect((await read(agent, `tickets/${other}`)).linked).toEqual([]);
      expect((await lead.call("POST", `/tickets/${ticket}/restore?rev=2`)).status).toBe(200);
      expect((await ann.call("GET", `/comments/${comment}`)).status).toBe(200);
      expect((await read(agent, `tickets/${other}`)).linked).toEqual([ticket]);
      const trail = await lead.call("GET", `/audit?resource=comments&resource_id=${comment}`);
      expect(trail.body.entries.map(({ change }: { readonly change: string }) => change)).toEqual([
        "restore",
        "delete",
        "create",
      ]);
    });

    test("other systems hear of tickets, signed", async () => {
      const [lead, agent, ann] = [await staff("lead"), await staff("agent"), await customer()];
      const { calls, url } = await receive();
      const wanted = { url, events: ["tickets.created", "tickets.status_changed"] };
      expect(failed(await agent.call("POST", "/webhooks", wanted))).toEqual(forbidden);
      const { status, body: hook } = await lead.call("POST", "/webhooks", wanted);
      expect(status).toBe(201);
      const ticket = await ann.make("tickets", { title: "T", type: "incident" });
      await change(agent, `tickets/${ticket}`, { status: "hold" });
      await expect.poll(() => calls.length).toBe(2);
      const events = calls.map(({ body }) => JSON.parse(body));
      expect(events.map(({ type, data }) => [type, data.status, data.ticket]).sort()).toEqual([
        ["tickets.created", "needs_support", ticket],
        ["tickets.status_changed", "hold", ticket],
      ]);
      const key = Buffer.from(hook.secret.replace(/^whsec_/, ""), "base64");
      for (const { headers, body } of calls) {
        const text = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
        const right = createHmac("sha256", key).update(text).digest("base64");
        expect(headers["webhook-signature"]).toBe(`v1,${right}`);
      }
    });

    test("chats that admins have set up hear of tickets", async () => {
      const [admin, ann] = [await staff("admin"), await customer()];
      const { calls, url } = await receive();
      for (const kind of ["slack", "discord"])
        await admin.make("chat_hooks", { kind, name: kind, url: `${url}/${kind}`, active: true });
      const off = await admin.make("chat_hooks", { kind: "slack", name: "off", url });
      const ticket = await ann.make("tickets", { title: "Smoke" });
      const { number } = await read(ann, `tickets/${ticket}`);
      await expect.poll(() => calls.length).toBe(2);
      const text = `#${number} Smoke: needs_support`;
      expect(calls.map(({ body }) => JSON.parse(body))).toEqual([{ text }, { content: text }]);
      for (const { id } of [{ id: off }, ...(await listed(admin, "chat_hooks", { active: true }))])
        expect((await admin.call("DELETE", `/chat_hooks/${id}`)).status).toBe(204);
    });

    test("mails say what the templates of admins say", async () => {
      const { testService } = await project.load("generated/testing.ts");
      const api = await project.load("generated/client/index.ts");
      const server = process.env["OPWRIGHT_TEST_POSTGRES"];
      const app = await testService(engine.name === "postgres" ? { database: server } : {});
      onTestFinished(() => app.close());
      const admin = await app.as("ada", { permissions: ["role:admin"] });
      const agent = await app.as("bob", { permissions: ["role:agent"] });
      const email = "bob@example.test";
      const { id: assigned_to } = await api.users.create(agent, { name: "Bob", email });
      await api.tickets.create(admin, { title: "Plain", assigned_to });
      const html = "<h1>{{ number }} {{title}}</h1>{{unknown}}";
      await api.emailTemplates.create(admin, { type: "ticket_assigned", html });
      await api.tickets.create(admin, { title: "<b>Bold", assigned_to });
      const [plain, filled, ...more] = await app.mails();
      expect(more).toEqual([]);
      expect(plain).toMatchObject({ to: [email], subject: "#1 Plain" });
      expect(plain.text).toContain("Assigned to you");
      expect(filled).toMatchObject({ to: [email], html: "<h1>2 &lt;b&gt;Bold</h1>" });
    });
  },
  { signsIn: false, environment: { WEBHOOK_ADDRESSES: "any" } },
);
