// Ranges that may not overlap: under parallel writers, in patches, restores, bulk, upserts and handlers, on both engines.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";
import { uuidv7 } from "../../../runtime/ports/uuid.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
identity: {methods: [token]}
tenancy: {}
policies: {open: [], signed: [principal]}
documents:
  rooms: {type: {name: string}, guard: open}
  bookings:
    type:
      room: {ref: rooms?, on_delete: set_null}
      from: date-time
      to: date-time?
      status: {enum: [held, confirmed, cancelled]}
      code: string?
      note: string?
    guard: open
    history: {revisions: true}
    soft_delete: true
    bulk: {max: 100}
    upsert: true
    unique: [[code]]
    defaults: {status: confirmed}
    no_overlap: {per: [room], range: [from, to], where: {status: [held, confirmed]}}
  people: {type: {name: string}, guard: open, tenant: false}
  turns:
    type: {from: integer, to: integer, skipped_by: {ref: people?, on_delete: set_null}}
    guard: open
    tenant: false
    no_overlap: {range: [from, to], where: {skipped_by: [null]}}
  shows:
    type: {hall: string, from: integer, to: integer, number: integer, ticket: string?, by: uuid?}
    guard: open
    bulk: {max: 20}
    unique: [[ticket]]
    set: {number: {$number: {}}}
    no_overlap: {per: [hall], range: [from, to], where: {by: [00000000-0000-7000-8000-00000000000A, null]}}
  leases:
    type: {floor: integer, begins: {type: [string, "null"], format: date}, ends: {type: [string, "null"], format: date}, seat: {type: object, properties: {row: {type: string}}}, low: number, high: number, code: string?, gone: string?}
    guard: signed
    tenant: false
    no_overlap:
      - {per: [code], range: [low, high], where: {gone: [null]}}
      - {per: [floor, owner_id], range: [begins, ends]}
      - {per: [seat.row], range: [low, high]}
operations:
  bookings.shift: {post: /shift, in: {room: uuid, from: date-time, to: date-time}, out: {id: uuid, tries: integer}, run: registry/handlers.ts#shift, guard: open}
`,
  // What is refused does not end the transaction: the next hour is tried.
  "registry/handlers.ts": `import { collection } from "opwright/runtime";
import { bookingsSpec } from "../generated/documents/bookings.js";
const later = (time) => new Date(Date.parse(time) + 3_600_000).toISOString();
export const shift = async (input, context) => {
  const bookings = collection(bookingsSpec, context);
  for (let tries = 1, { room, from, to } = input; ; tries += 1, from = later(from), to = later(to)) {
    try {
      return { id: (await bookings.create({ room, from, to })).id, tries };
    } catch (error) {
      if (error.code !== "overlap_violation") throw error;
    }
  }
};
`,
};

const at = (hour: number): string =>
  new Date(Date.UTC(2026, 11, 1) + hour * 3_600_000).toISOString();

const refused = {
  status: 409,
  body: { code: "overlap_violation", context: { members: ["room", "from", "to"] } },
};

onEachEngine(files, ({ people }) => {
  const company = async () => {
    const { token } = await people.member("");
    const call = (method: string, path: string, body?: object) =>
      people.as(token, method, path, body);
    const room = (await call("POST", "/rooms", { name: "r" })).body.id as string;
    const book = (from: number, to: number | null, more: object = {}) =>
      call("POST", "/bookings", { room, from: at(from), to: to === null ? null : at(to), ...more });
    return { call, room, book };
  };

  test("two ranges of one room don't overlap; where one ends another may begin", async () => {
    const { call, book } = await company();
    expect((await book(1, 3)).status).toBe(201);
    for (const [from, to] of [
      [1, 3],
      [0, 2],
      [2, 4],
      [0, 9],
      [2, 2.5],
      [2, null],
    ] as const)
      expect(await book(from, to), `${from} to ${to}`).toMatchObject(refused);
    for (const [from, to] of [
      [0, 1],
      [3, 4],
      [9, null],
    ] as const)
      expect((await book(from, to)).status, `${from} to ${to}`).toBe(201);
    // What does not end overlaps with all that ends later than it begins.
    expect(await book(100, 101)).toMatchObject(refused);
    expect((await book(8, 9)).status).toBe(201);
    const other = (await call("POST", "/rooms", { name: "s" })).body.id;
    expect((await book(1, 3, { room: other })).status).toBe(201);
    // Another time zone is the same time.
    const zoned = { from: "2026-12-01T02:00:00+01:00", to: "2026-12-01T03:00:00+01:00" };
    expect(await book(0, 0, zoned)).toMatchObject(refused);
  });

  test("what counts is said by `where`, and by null", async () => {
    const { call, book } = await company();
    expect((await book(1, 3)).status).toBe(201);
    const cancelled = await book(1, 3, { status: "cancelled" });
    expect(cancelled.status).toBe(201);
    const path = `/bookings/${cancelled.body.id}`;
    expect(await call("PATCH", `${path}?rev=1`, { status: "held" })).toMatchObject(refused);
    expect((await call("PATCH", `${path}?rev=1`, { note: "x" })).status).toBe(200);
    expect((await book(1, 3, { room: null })).status).toBe(201);
    expect((await book(1, 3, { room: null })).status).toBe(201);
    for (const [from, to] of [
      [3, 1],
      [2, 2],
    ] as const)
      expect(await book(from, to, { room: null })).toMatchObject({ status: 201 });
    expect(await book(5, 4)).toMatchObject({
      status: 422,
      body: { code: "core.validation", context: { errors: [{ path: "/to" }] } },
    });
  });

  test("patches, reverts and restores are held to it, and a range may move over itself", async () => {
    const { call, book } = await company();
    const { id } = (await book(1, 3)).body;
    expect((await call("PATCH", `/bookings/${id}?rev=1`, { to: at(4) })).status).toBe(200);
    const next = (await book(5, 6)).body.id;
    expect(await call("PATCH", `/bookings/${next}?rev=1`, { from: at(3) })).toMatchObject(refused);
    expect((await call("PATCH", `/bookings/${id}?rev=2`, { from: at(0), to: at(1) })).status).toBe(
      200,
    );
    expect((await call("PATCH", `/bookings/${next}?rev=1`, { from: at(3) })).status).toBe(200);
    expect(await call("POST", `/bookings/${id}/revert?rev=3&to=2`)).toMatchObject(refused);
    expect((await call("POST", `/bookings/${next}/delete?rev=2`)).status).toBe(200);
    expect((await book(4, 5)).status).toBe(201);
    expect(await call("POST", `/bookings/${next}/restore?rev=3`)).toMatchObject(refused);
  });

  test("of fifty writers one has the room", async () => {
    const { call, book } = await company();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => book(10 + at / 100, 11 + at / 100)),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.code === "overlap_violation")).toHaveLength(49);
    // Moving into it, too.
    const others = await Promise.all(Array.from({ length: 20 }, (_, at) => book(20 + at, 21 + at)));
    const moves = await Promise.all(
      others.map(({ body }) =>
        call("PATCH", `/bookings/${body.id}?rev=1`, { from: at(50), to: at(51) }),
      ),
    );
    expect(moves.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test("many at once are held to it among each other", async () => {
    const { call, room, book } = await company();
    expect((await book(1, 2)).status).toBe(201);
    const items = [
      [2, 3],
      [1, 2],
      [2.5, 4],
      [3, 4],
    ].map(([from = 0, to = 0]) => ({
      room,
      from: at(from),
      to: at(to),
    }));
    const { body } = await call("POST", "/bookings/create_many", { items });
    expect(body).toMatchObject({
      done: 2,
      failed: 2,
      outcomes: [
        { document: { from: at(2) } },
        { error: { code: "overlap_violation" } },
        { error: { code: "overlap_violation" } },
        { document: { from: at(3) } },
      ],
    });
    const [first, , , last] = body.outcomes;
    const swap = [
      { id: first.document.id, patch: { from: at(5), to: at(6) } },
      { id: last.document.id, patch: { from: at(5.5), to: at(7) } },
    ];
    expect((await call("POST", "/bookings/update_many", { items: swap })).body).toMatchObject({
      done: 1,
      failed: 1,
    });
    const atomic = { items: [items[3], items[3]], atomic: true };
    expect((await call("POST", "/bookings/create_many", atomic)).body.code).toBe("bulk_refused");
    const all = await call("POST", "/bookings/update_where", {
      filters: { $values: { room } },
      patch: { from: at(30), to: at(31) },
    });
    expect(all.body.code).toBe("bulk_refused");
    const upsert = { by: ["code"], document: { code: uuidv7(), room, from: at(1), to: at(2) } };
    expect(await call("POST", "/bookings/upsert", upsert)).toMatchObject(refused);
  });

  test("a reference that is cleared has no range count that overlaps", async () => {
    const { call } = await company();
    const { id } = (await call("POST", "/people", { name: "a" })).body;
    const range = { from: 1, to: 2 };
    const skipped = await call("POST", "/turns", { ...range, skipped_by: id });
    const taken = await call("POST", "/turns", range);
    expect([skipped.status, taken.status]).toEqual([201, 201]);
    expect((await call("DELETE", `/people/${id}`)).body).toMatchObject({
      code: "overlap_violation",
    });
    expect((await call("GET", `/turns/${skipped.body.id}`)).body.skipped_by).toBe(id);
    await call("DELETE", `/turns/${taken.body.id}`);
    expect((await call("DELETE", `/people/${id}`)).status).toBe(204);
    expect(await call("POST", "/turns", range)).toMatchObject({ status: 409 });
    await call("DELETE", `/turns/${skipped.body.id}`);
  });

  test("handlers can catch it and go on", async () => {
    const { call, room, book } = await company();
    await book(0, 2);
    const shifted = await call("POST", "/shift", { room, from: at(0), to: at(1) });
    expect(shifted.body).toMatchObject({ tries: 3 });
  });

  test("single and bulk writers of several halls don't wait for each other", async () => {
    const { call } = await company();
    const halls = Array.from({ length: 8 }, (_, at) => `h${at}`);
    const show = (hall: string, from: number) => ({ hall, from, to: from + 1 });
    await call("POST", "/shows", { ...show("x", 0), ticket: "taken" });
    const answers = await Promise.all(
      Array.from({ length: 24 }, async (_, at) => {
        if (at % 3 === 0) return (await call("POST", "/shows", show(`h${at % 8}`, at))).status;
        const items = (at % 2 === 0 ? halls : halls.toReversed()).map((hall) => show(hall, at));
        // Refused, so that all are written one by one.
        const refusedOne = at % 4 < 2 ? [{ ...show("y", at), ticket: "taken" }] : [];
        const { body } = await call("POST", "/shows/create_many", {
          items: [...items, ...refusedOne],
        });
        return body.done;
      }),
    );
    expect(answers).toEqual(answers.map((_, at) => (at % 3 === 0 ? 201 : 8)));
    const owned = { ...show("z", 1), by: "00000000-0000-7000-8000-00000000000a" };
    expect((await call("POST", "/shows", owned)).status).toBe(201);
    expect((await call("POST", "/shows", owned)).status).toBe(409);
    expect((await call("POST", "/shows", { ...owned, by: uuidv7() })).status).toBe(201);
  });

  test("many changes at once in opposite orders don't wait for each other", async () => {
    const { call } = await company();
    const ids: string[] = [];
    for (let at = 0; at < 6; at += 1) {
      const show = { hall: `h${at}`, from: at, to: at + 1 };
      ids.push((await call("POST", "/shows", show)).body.id);
    }
    const taken = await call("POST", "/shows", { hall: "x", from: 0, to: 9, ticket: "t" });
    expect(taken.status).toBe(201);
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) => {
        const items = (at % 2 === 0 ? ids : ids.toReversed()).map((id) => ({
          id,
          patch: { from: 100 * at, to: 100 * at + 50 },
        }));
        // Refused, so that all are written one by one.
        return call("POST", "/shows/update_many", {
          items: [...items, { id: ids[0], patch: { ticket: "t" } }],
        });
      }),
    );
    expect(answers.map(({ body }) => [body.done, body.failed])).toEqual(answers.map(() => [6, 1]));
  });

  test("dates, numbers, owners and nested fields", async () => {
    const [one, other] = [await company(), await company()];
    const lease = { floor: 1, begins: "2026-01-01", ends: "2026-02-01", seat: {}, low: 0, high: 1 };
    const rent = (by: typeof one, more: object) =>
      by.call("POST", "/leases", { ...lease, ...more });
    const floor = Math.floor(Math.random() * 1e9);
    expect((await rent(one, { floor })).status).toBe(201);
    expect((await rent(one, { floor, begins: "2026-01-31" })).body.context).toEqual({
      members: ["floor", "owner_id", "begins", "ends"],
    });
    expect((await rent(other, { floor })).status).toBe(201);
    expect((await rent(one, { floor, begins: null })).status).toBe(201);
    const code = uuidv7();
    expect((await rent(one, { begins: null, code })).status).toBe(201);
    expect((await rent(one, { begins: null, code, gone: "x" })).status).toBe(201);
    expect((await rent(one, { begins: null, code })).status).toBe(409);
    const seat = { row: uuidv7() };
    const free = { begins: null, seat };
    expect((await rent(one, { ...free, low: 0.1, high: 0.3 })).status).toBe(201);
    expect((await rent(other, { ...free, low: 0.2, high: 0.4 })).status).toBe(409);
    expect((await rent(other, { ...free, low: 0.3, high: 0.4 })).status).toBe(201);
  });
});
