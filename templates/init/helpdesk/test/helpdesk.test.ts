import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { bookings, comments, everything, people, rooms, ticketSearch, tickets } from "../generated/client/index.js";
import { testService } from "../generated/testing.js";

type Outcome = { readonly ok: true } | { readonly ok: false; readonly error: { readonly code: string } };
const codeOf = (outcome: Outcome): string | null => (outcome.ok ? null : outcome.error.code);

/** The service with an agent, an owner and two customers, on the PostgreSQL of TEST_DATABASE if there is one. */
async function helpdesk() {
  const database = process.env["TEST_DATABASE"];
  const app = await testService({
    clock: "2030-01-07T09:00:00Z",
    ...(database === undefined ? {} : { database }),
  });
  const signedIn = async (name: string, ...permissions: readonly string[]) => {
    const client = await app.as(name, { permissions });
    await people.create(client, { name, mail: `${name}@example.test` });
    return client;
  };
  return {
    app,
    agent: await signedIn("anna", "role:agent"),
    owner: await signedIn("olga", "role:owner"),
    carl: await signedIn("carl", "role:customer"),
    dora: await signedIn("dora", "role:customer"),
    [Symbol.asyncDispose]: () => app.close(),
  };
}

test("customers see their own tickets, agents those of the company", async () => {
  await using desk = await helpdesk();
  const { id, number, status } = await tickets.create(desk.carl, { subject: "No sound" });
  assert.deepEqual([number, status], ["T-0001", "open"]);
  assert.equal(codeOf(await tickets.get(desk.dora, { id }).settled()), "core.not_found");
  assert.equal((await tickets.list(desk.dora, {})).hits.length, 0);
  assert.equal((await tickets.get(desk.agent, { id })).number, "T-0001");
  const elsewhere = await desk.app.as("eve", { permissions: ["role:agent"], tenant: "elsewhere" });
  assert.equal(codeOf(await tickets.get(elsewhere, { id }).settled()), "core.not_found");
  // A number is as good as an id, and what agents note is for agents.
  const noted = await tickets.update(desk.agent, { id: number, rev: 1, patch: { note: "Rude" } });
  assert.equal(noted.data.note, "Rude");
  const seen = await tickets.get(desk.carl, { id: number });
  assert.deepEqual([seen.id, "note" in seen], [id, false]);
  const blurted = tickets.update(desk.carl, { id, rev: 2, patch: { note: "Polite" } });
  assert.equal(codeOf(await blurted.settled()), "core.authorization");
});

test("agents move tickets, with what each state asks for", async () => {
  await using desk = await helpdesk();
  const { id, rev } = await tickets.create(desk.carl, { subject: "No sound", priority: "urgent" });
  const planned = { subject: "Mine first", due: "2030-01-07T10:00:00Z" };
  assert.equal(codeOf(await tickets.create(desk.carl, planned).settled()), "core.authorization");
  const patch = (by: typeof desk.agent, revision: number, change: object) =>
    tickets.update(by, { id, rev: revision, patch: change }).settled();
  for (const change of [{ status: "solved", solution: "Me" }, { assignee: desk.dora.principalId }, { priority: "low" }])
    assert.equal(codeOf(await patch(desk.carl, rev, change)), "core.authorization");
  assert.equal(codeOf(await patch(desk.agent, rev, { status: "assigned" })), "core.validation");
  assert.equal(codeOf(await patch(desk.agent, rev, { status: "closed", solution: "?" })), "transition_not_allowed");
  const assignee = desk.agent.principalId;
  assert.equal(codeOf(await patch(desk.agent, rev, { status: "assigned", assignee })), null);
  assert.deepEqual(desk.app.signals.map(({ name, to }) => [name, to]), [["ticket.assigned", { principals: [assignee] }]]);
  assert.equal(codeOf(await patch(desk.agent, 2, { status: "solved", solution: "A cable" })), null);
  assert.equal(codeOf(await patch(desk.carl, 3, { rating: 5 })), null);
  const found = await ticketSearch.typed(desk.agent, { query: "cable" });
  assert.deepEqual(found.hits.map((hit) => hit.id), [id]);
  for (const internal of [true, false])
    await comments.create(desk.agent, { ticket: id, text: `The cable, ${String(internal)}`, internal });
  const kinds = async (by: typeof desk.agent) =>
    (await everything.find(by, { query: "cable" })).hits.map((hit) => (hit.kind === "comments" ? hit.document.text : hit.document.number));
  assert.deepEqual((await kinds(desk.agent)).toSorted(), ["T-0001", "The cable, false", "The cable, true"]);
  assert.deepEqual((await kinds(desk.carl)).toSorted(), ["T-0001", "The cable, false"]);
});

test("who is late is told, and what is solved is closed after a week", async () => {
  await using desk = await helpdesk();
  const { id, rev } = await tickets.create(desk.carl, { subject: "No sound" });
  const assignee = desk.agent.principalId;
  const due = "2030-01-07T10:00:00Z";
  await tickets.update(desk.agent, { id, rev, patch: { status: "assigned", assignee, due } });
  await desk.app.clock.advance("2 hours");
  await desk.app.jobs.done();
  assert.deepEqual((await desk.app.mails()).map(({ to, subject }) => [to, subject]), [[["anna@example.test"], "T-0001 is overdue"]]);
  await tickets.update(desk.agent, { id, rev: 2, patch: { status: "solved", solution: "A cable" } });
  await desk.app.clock.advance("8 days");
  await desk.app.jobs.done();
  // By then, a session has ended.
  const carl = await desk.app.as("carl");
  assert.equal((await tickets.get(carl, { id })).status, "closed");
});

test("customers read no internal comments, and write none", async () => {
  await using desk = await helpdesk();
  const ticket = (await tickets.create(desk.carl, { subject: "No sound" })).id;
  const write = (by: typeof desk.agent, text: string, internal = false) =>
    comments.create(by, { ticket, text, internal }).settled();
  assert.equal(codeOf(await write(desk.carl, "Still nothing")), null);
  assert.equal(codeOf(await write(desk.agent, "Try the cable")), null);
  assert.equal(codeOf(await write(desk.agent, "Third time", true)), null);
  assert.equal(codeOf(await write(desk.carl, "Secret", true)), "core.authorization");
  assert.equal(codeOf(await write(desk.dora, "Not mine")), "core.validation");
  const texts = async (by: typeof desk.agent) =>
    (await comments.list(by, { sorts: { created_at: "asc" } })).hits.map(({ text }) => text);
  assert.deepEqual(await texts(desk.carl), ["Still nothing", "Try the cable"]);
  assert.deepEqual(await texts(desk.agent), ["Still nothing", "Try the cable", "Third time"]);
  assert.deepEqual(await texts(desk.dora), []);
});

test("a deleted ticket takes its comments along, and brings them back", async () => {
  await using desk = await helpdesk();
  const { id, rev } = await tickets.create(desk.carl, { subject: "No sound" });
  await comments.create(desk.carl, { ticket: id, text: "Hello" });
  await tickets.delete(desk.carl, { id, rev });
  assert.equal((await comments.list(desk.carl, {})).hits.length, 0);
  await tickets.restore(desk.carl, { id, rev: rev + 1 });
  assert.equal((await comments.list(desk.carl, {})).hits.length, 1);
  assert.equal(codeOf(await tickets.kill(desk.carl, { id }).settled()), "core.authorization");
});

test("a room is booked once at a time, and whoever booked it is reminded", async () => {
  await using desk = await helpdesk();
  const room = (await rooms.create(desk.owner, { name: "Blue", seats: 8, price: 49.5 })).id;
  const day = { room, starts_at: "2030-01-10T09:00:00Z", ends_at: "2030-01-10T11:00:00Z" };
  const inAnotherName = { ...day, by: desk.dora.principalId };
  assert.equal(codeOf(await bookings.create(desk.carl, inAnotherName).settled()), "core.validation");
  const held = await bookings.create(desk.carl, day);
  const late = { ...day, starts_at: "2030-01-10T10:00:00Z", ends_at: "2030-01-10T12:00:00Z" };
  assert.equal(codeOf(await bookings.create(desk.dora, late).settled()), "overlap_violation");
  await bookings.update(desk.carl, { id: held.id, rev: held.rev, patch: { status: "confirmed" } });
  await desk.app.clock.set("2030-01-09T10:00:00Z");
  await desk.app.jobs.done();
  assert.deepEqual((await desk.app.mails()).map(({ to, subject }) => [to, subject]), [[["carl@example.test"], "Blue tomorrow"]]);
  assert.equal(codeOf(await rooms.create(desk.carl, { name: "Red", seats: 2, price: 1 }).settled()), "core.authorization");
});

test("mails become tickets if they are signed, and agents export them", async () => {
  await using desk = await helpdesk();
  process.env["MAIL_SECRET"] = "shared";
  const mail = JSON.stringify({ id: "m1", subject: "Broken", text: "It is." });
  const deliver = async (secret: string, body = mail, company = desk.agent.tenantId) => {
    const signed = `${desk.agent.tenantId}.${body}`;
    const signature = createHmac("sha256", secret).update(signed).digest("hex");
    const headers = { "content-type": "application/json", "x-signature": signature };
    const url = `${desk.app.url}/companies/${company}/mails`;
    return (await fetch(url, { method: "POST", headers, body })).status;
  };
  assert.deepEqual([await deliver("wrong"), await deliver("shared")], [400, 204]);
  // A mail server that heard no answer sends again; nobody sends a mail on to another company.
  assert.equal(await deliver("shared"), 204);
  assert.equal(await deliver("shared", mail, "01890000-0000-7000-8000-000000000001"), 400);
  assert.deepEqual([await deliver("shared", "no JSON"), await deliver("shared", "null")], [400, 400]);
  assert.equal((await tickets.list(desk.agent, {})).hits.length, 1);
  const csv = await (await tickets.export(desk.agent)).text();
  assert.match(csv, /^number,subject,priority,status,due,solution,rating\r\nT-0001,Broken,normal,open,,/);
  assert.equal(codeOf(await tickets.export(desk.carl).settled()), "core.authorization");
});
