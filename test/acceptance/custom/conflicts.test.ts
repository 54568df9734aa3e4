// What keeps parallel handlers from undoing each other: locks, increments, serializable transactions, and what is tried again.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";
import { uuidv7 } from "../../../runtime/ports/uuid.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  stocks:
    type: {name: string, left: {type: integer, minimum: 0}, price: number?, note: string?}
    guard: open
    tenant: false
    history: true
    soft_delete: true
    set: {note: $handler}
  counts: {type: {n: integer}, guard: open, tenant: false}
  slots: {type: {from: integer, to: integer, name: string}, guard: open, tenant: false, unique: [[name]], no_overlap: {range: [from, to]}}
  shifts: {type: {day: string, doctor: string}, guard: open, tenant: false}
operations:
  stocks.take: {post: /take, in: {id: uuid, lock: boolean}, out: {left: integer}, run: registry/handlers.ts#take, guard: open}
  stocks.add: {post: /add, in: {id: uuid, left: integer, price: number}, out: {left: integer, price: number}, run: registry/handlers.ts#add, guard: open}
  counts.add: {post: /count, in: {id: uuid, n: integer}, out: {n: integer}, run: registry/handlers.ts#sum, guard: open}
  slots.move: {post: /move, in: {id: uuid, from: integer}, out: {rev: integer}, run: registry/handlers.ts#move, guard: open}
  stocks.peek: {get: /peek, in: {id: uuid}, out: {left: integer}, run: registry/handlers.ts#peek, guard: open}
  shifts.leave: {post: /leave, in: {day: string, doctor: string}, out: {tries: integer}, run: registry/handlers.ts#leave, guard: open, isolation: serializable, idempotency: true}
  slots.book: {post: /book, in: {at: integer, name: string, by: [create, upsert]}, out: {tries: integer}, run: registry/handlers.ts#book, guard: open, isolation: serializable}
  shifts.again: {post: /again, in: {day: string, fails: integer}, out: {tries: integer}, run: registry/handlers.ts#again, guard: open, retry: 3}
`,
  "registry/handlers.ts": `import { collection, fail } from "opwright/runtime";
import { stocksSpec } from "../generated/documents/stocks.js";
import { countsSpec } from "../generated/documents/counts.js";
import { slotsSpec } from "../generated/documents/slots.js";
import { shiftsSpec } from "../generated/documents/shifts.js";
const pause = () => new Promise((done) => setTimeout(done, 5));
export const take = async ({ id, lock }, context) => {
  const stocks = collection(stocksSpec, context);
  const { left } = await stocks.get(id, { lock });
  await pause();
  return stocks.update(id, "any", { left: left - 1 });
};
export const add = ({ id, left, price }, context) => collection(stocksSpec, context).increment(id, { left, price });
export const sum = ({ id, n }, context) => collection(countsSpec, context).increment(id, { n });
export const move = async ({ id, from }, context) => {
  const slots = collection(slotsSpec, context);
  const slot = await slots.get(id, { lock: true });
  await pause();
  return slots.update(id, slot.rev, { from, to: from + 1 });
};
export const peek = ({ id }, context) => collection(stocksSpec, context).get(id, { lock: true });
const tried = new Map();
const count = (key) => { const tries = (tried.get(key) ?? 0) + 1; tried.set(key, tries); return tries; };
// Of the doctors on call, the last one must not leave.
export const leave = async ({ day, doctor }, context) => {
  const tries = count(day + doctor);
  const shifts = collection(shiftsSpec, context);
  const onCall = await shifts.find({ filters: { $values: { day } } });
  await pause();
  const mine = onCall.find((shift) => shift.doctor === doctor);
  if (onCall.length < 2 || mine === undefined) throw fail("core.conflict");
  await shifts.kill(mine.id);
  return { tries };
};
export const book = async ({ at, name, by }, context) => {
  const slots = collection(slotsSpec, context);
  await slots.count();
  await pause();
  const slot = { from: at, to: at + 5, name };
  await (by === "create" ? slots.create(slot) : slots.upsert(["name"], slot));
  return { tries: 1 };
};
export const again = async ({ day, fails }, context) => {
  const tries = count(day);
  await collection(shiftsSpec, context).create({ day, doctor: String(tries) });
  context.whenUndone(() => { undone.push(day); });
  context.whenCommitted(() => { undone.push("committed " + day); });
  if (tries <= fails) throw fail("core.concurrency");
  return { tries };
};
export const undone = [];
`,
};

onEachEngine(files, ({ service, project }) => {
  const stock = async (left: number) =>
    (await service.post("/stocks", { name: "a", left, price: 0.1 })).body.id as string;
  const left = async (id: string) => (await service.call("GET", `/stocks/${id}`)).body.left;
  const together = (count: number, work: (at: number) => Promise<unknown>) =>
    Promise.all(Array.from({ length: count }, (_, at) => work(at)));

  test("whoever locks what it reads loses no write", async () => {
    const id = await stock(20);
    await together(20, () => service.post("/take", { id, lock: true }));
    expect(await left(id)).toBe(0);
    // What a handler writes by itself and cannot be is its own mistake, unless it catches that.
    expect((await service.post("/take", { id, lock: true })).status).toBe(500);
    expect((await service.post("/take", { id: uuidv7(), lock: true })).status).toBe(404);
    // Without a transaction there is nothing that a lock could last for.
    expect((await service.call("GET", `/peek?id=${id}`)).status).toBe(500);
  });

  test("numbers are incremented exactly, and only to what they can be", async () => {
    const id = await stock(0);
    await together(30, () => service.post("/add", { id, left: 1, price: 0.1 }));
    expect((await service.call("GET", `/stocks/${id}`)).body).toMatchObject({
      left: 30,
      price: 3.1,
      rev: 31,
    });
    expect((await service.post("/add", { id, left: -31, price: 0 })).status).toBe(422);
    expect((await service.call("GET", `/stocks/${id}`)).body).toMatchObject({ left: 30, rev: 31 });
    await service.post(`/stocks/${id}/delete?rev=31`, {});
    expect((await service.post("/add", { id, left: 1, price: 0 })).body.code).toBe(
      "document_deleted",
    );
  });

  test("an increment that a double cannot hold is refused", async () => {
    const { body } = await service.post("/counts", { n: Number.MAX_SAFE_INTEGER - 1 });
    const { id } = body;
    expect((await service.post("/count", { id, n: 1 })).status).toBe(200);
    expect((await service.post("/count", { id, n: 1 })).status).toBeGreaterThanOrEqual(422);
    expect((await service.call("GET", `/counts/${id}`)).body).toMatchObject({
      n: Number.MAX_SAFE_INTEGER,
      rev: 2,
    });
  });

  test("who locks a document and moves its range does not wait for who patches it", async () => {
    for (let round = 0; round < 5; round += 1) {
      const from = 100_000 + round * 100;
      const { body } = await service.post("/slots", { from, to: from + 1, name: uuidv7() });
      const answers = await Promise.all([
        service.post("/move", { id: body.id, from: from + 10 }),
        service.call("PATCH", `/slots/${body.id}?rev=1`, {
          body: { from: from + 20, to: from + 21 },
        }),
      ]);
      const codes = answers.map(({ status, body: told }) => (status === 200 ? 200 : told.code));
      expect(codes.filter((code) => code === 200).length).toBeGreaterThan(0);
      for (const code of codes) expect([200, "revision_mismatch"]).toContain(code);
    }
  });

  test("serializable operations are as if they ran one after another", async () => {
    const day = uuidv7();
    const doctors = ["a", "b", "c", "d", "e"];
    for (const doctor of doctors) await service.post("/shifts", { day, doctor });
    const answers = await Promise.all(
      doctors.map((doctor) =>
        service.call("POST", "/leave", {
          body: { day, doctor },
          headers: { "idempotency-key": uuidv7() },
        }),
      ),
    );
    const statuses = answers.map(({ status, body }) => (status === 200 ? 200 : body.code));
    expect(statuses.toSorted()).toEqual([200, 200, 200, 200, "core.conflict"]);
    expect((await service.post("/shifts/list", { filters: { $values: { day } } })).body.count).toBe(
      1,
    );
  });

  test("the rules of documents hold in serializable operations beside others", async () => {
    for (let round = 0; round < 5; round += 1) {
      const [at, name] = [round * 10, uuidv7()];
      const answers = await Promise.all([
        service.post("/book", { at, name, by: "create" }),
        service.post("/slots", { from: at, to: at + 5, name: uuidv7() }),
        service.post("/book", { at: at + 1, name: uuidv7(), by: "create" }),
      ]);
      expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
      const other = uuidv7();
      const upserts = await Promise.all([
        service.post("/slots", { from: 1000 + at, to: 1005 + at, name: other }),
        service.post("/book", { at: 1000 + at, name: other, by: "upsert" }),
      ]);
      expect(upserts[1].status).toBe(200);
      expect([201, 409]).toContain(upserts[0].status);
    }
  });

  test("a transaction is tried again as often as it says, and what it did before is undone", async () => {
    const { undone } = await project.load("registry/handlers.ts");
    const [day, late] = [uuidv7(), uuidv7()];
    expect((await service.post("/again", { day, fails: 3 })).body).toEqual({ tries: 4 });
    const { body } = await service.post("/shifts/list", { filters: { $values: { day } } });
    expect(body.hits.map(({ doctor }: { doctor: string }) => doctor)).toEqual(["4"]);
    expect(undone.filter((text: string) => text.endsWith(day))).toEqual([
      day,
      day,
      day,
      `committed ${day}`,
    ]);
    expect(await service.post("/again", { day: late, fails: 4 })).toMatchObject({
      status: 409,
      body: { code: "core.concurrency" },
    });
  });
});
