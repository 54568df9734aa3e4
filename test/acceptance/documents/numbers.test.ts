// Running numbers: without gaps under parallel writers and refusals, by tenant, year and field, in bulk and upserts.
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
  projects: {type: {name: string}, guard: open}
  invoices:
    type: {customer: string, number: string, label: string, note: string?}
    guard: open
    history: {revisions: true}
    bulk: {max: 50}
    upsert: true
    unique: [[customer], [number]]
    set:
      number: {$number: {format: "INV-{year}-{0000}", per: [year]}}
      label: registry/handlers.ts#label
  tickets:
    type: {project: {ref: projects}, title: {type: string, maxLength: 20}, number: integer, code: string}
    guard: open
    bulk: {max: 50}
    set:
      number: {$number: {per: [project]}}
      code: {$number: {format: "T{year}/{month}/{day}-{00}", per: [day], start: 98, timezone: Pacific/Kiritimati}}
    unique: [[title]]
  orders:
    type: {kind: [web, shop], number: string, title: string}
    guard: open
    unique: [[title]]
    set: {number: {$number: {format: "{kind}-{000}", per: [kind], start: 100, gaps: true}}}
  seats: {type: {seat: {type: object, properties: {row: {type: string}}}, n: integer}, guard: open, set: {n: {$number: {per: [seat.row]}}}}
  tags: {type: {k: string?, t: string}, guard: open, bulk: {max: 20}, unique: [[t]], set: {t: {$number: {format: "{k}{0}", per: [k]}}}}
  codes: {type: {n: integer, title: string}, guard: open, tenant: false, set: {n: {$number: {}}}}
operations:
  invoices.draft: {post: /draft, in: {customer: string, fails: boolean}, out: {numbers: {type: array, items: {type: string}}}, run: registry/handlers.ts#draft, guard: open}
`,
  "registry/handlers.ts": `import { collection } from "opwright/runtime";
import { invoicesSpec } from "../generated/documents/invoices.js";
export const label = (document) => Object.keys(document).toSorted().join();
// A refused one that is caught has no number; a failed transaction gives all of its numbers back.
export const draft = async ({ customer, fails }, context) => {
  const invoices = collection(invoicesSpec, context);
  const first = await invoices.create({ customer });
  await invoices.create({ customer }).catch(() => undefined);
  const second = await invoices.create({ customer: customer + "2" });
  if (fails) throw new Error("no");
  return { numbers: [first.number, second.number] };
};
`,
};

const year = new Date().getUTCFullYear();
const invoice = (value: number): string => `INV-${year}-${String(value).padStart(4, "0")}`;

onEachEngine(files, ({ people }) => {
  const company = async () => {
    const { token, tenantId } = await people.member("");
    const call = (method: string, path: string, body?: object) =>
      people.as(token, method, path, body);
    const made = async (path: string, body: object) => {
      const answer = await call("POST", path, body);
      expect([answer.status, answer.body]).toMatchObject([201, {}]);
      return answer.body;
    };
    return { tenantId, call, made };
  };

  test("each tenant counts from the first number, and no payload has one", async () => {
    const [one, other] = [await company(), await company()];
    for (const value of [1, 2, 3])
      expect(await one.made("/invoices", { customer: uuidv7() })).toMatchObject({
        number: invoice(value),
        // Functions of the author's see no number that is not there yet.
        label: "customer,note",
      });
    expect((await other.made("/invoices", { customer: "a" })).number).toBe(invoice(1));
    const given = { customer: "b", number: "INV-1" };
    expect((await other.call("POST", "/invoices", given)).status).toBe(422);
    const { id } = await other.made("/invoices", { customer: "c" });
    expect((await other.call("PATCH", `/invoices/${id}?rev=1`, { number: "x" })).status).toBe(422);
    const patched = await other.call("PATCH", `/invoices/${id}?rev=1`, { note: "paid" });
    expect(patched.body.data.number).toBe(invoice(2));
    const reverted = await other.call("POST", `/invoices/${id}/revert?rev=2&to=1`);
    expect(reverted.body).toMatchObject({ number: invoice(2), note: null });
  });

  test("parallel writers and refused ones leave no gap", async () => {
    const { call } = await company();
    const customers = Array.from({ length: 60 }, (_, at) => `c${at % 40}`);
    const answers = await Promise.all(
      customers.map((customer) => call("POST", "/invoices", { customer })),
    );
    const numbers = answers.flatMap(({ body, status }) => (status === 201 ? [body.number] : []));
    expect(numbers.toSorted()).toEqual(Array.from({ length: 40 }, (_, at) => invoice(at + 1)));
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(20);
    const listed = await call("POST", "/invoices/list", {});
    expect(listed.body.count).toBe(40);
  });

  test("handlers that catch a refusal, or fail, leave no gap", async () => {
    const { call } = await company();
    expect((await call("POST", "/draft", { customer: "x", fails: true })).status).toBe(500);
    expect((await call("POST", "/draft", { customer: "a", fails: false })).body).toEqual({
      numbers: [invoice(1), invoice(2)],
    });
  });

  test("many at once are numbered in their order, and upserts keep the number", async () => {
    const { call, made } = await company();
    const items = ["a", "b", "c", "a", "d"].map((customer) => ({ customer }));
    const { body } = await call("POST", "/invoices/create_many", { items });
    expect(body).toMatchObject({ done: 4, failed: 1 });
    const numbers = body.outcomes.flatMap((one: { document?: { number: string } }) =>
      one.document === undefined ? [] : [one.document.number],
    );
    expect(numbers).toEqual([1, 2, 3, 4].map(invoice));
    const more = await call("POST", "/invoices/create_many", {
      items: [{ customer: "e" }, { customer: "f" }],
    });
    expect(more.body.outcomes[1].document.number).toBe(invoice(6));
    const kept = { by: ["customer"], document: { customer: "b", note: "x" } };
    expect((await call("POST", "/invoices/upsert", kept)).body).toMatchObject({
      created: false,
      data: { number: invoice(2), note: "x" },
    });
    const fresh = { by: ["customer"], document: { customer: "z" } };
    expect((await call("POST", "/invoices/upsert", fresh)).body).toMatchObject({
      created: true,
      data: { number: invoice(7) },
    });
    const byNumber = { by: ["number"], document: { customer: "y" } };
    expect((await call("POST", "/invoices/upsert", byNumber)).status).toBe(422);
    expect((await made("/invoices", { customer: "y" })).number).toBe(invoice(8));
  });

  test("numbers begin anew with a field, and days are those of the time zone", async () => {
    const { call, made } = await company();
    const [a, b] = [await made("/projects", { name: "a" }), await made("/projects", { name: "b" })];
    const day = new Intl.DateTimeFormat("en-CA", { timeZone: "Pacific/Kiritimati" })
      .format(new Date())
      .replaceAll("-", "/");
    const seen = [];
    for (const [title, project] of Object.entries({ a, b, c: a, d: b, e: a }))
      seen.push(await made("/tickets", { title, project: project.id }));
    expect(seen.map(({ number }) => number)).toEqual([1, 1, 2, 2, 3]);
    expect(seen.map(({ code }) => code)).toEqual(
      [98, 99, 100, 101, 102].map((value) => `T${day}-${value}`),
    );
    const items = [a, b, a, a].map(({ id }, at) => ({ title: `m${at}`, project: id }));
    const { body } = await call("POST", "/tickets/create_many", { items });
    expect(
      body.outcomes.map(({ document }: { document: { number: number } }) => document.number),
    ).toEqual([4, 3, 5, 6]);
    // What is refused before takes none.
    const long = { title: "x".repeat(21), project: a.id };
    expect((await call("POST", "/tickets", long)).status).toBe(422);
    const nowhere = { title: "y", project: uuidv7() };
    expect((await call("POST", "/tickets", nowhere)).status).toBeGreaterThanOrEqual(400);
    expect((await made("/tickets", { title: "z", project: a.id })).number).toBe(7);
  });

  test("where gaps are allowed, parallel writers have different numbers all the same", async () => {
    const { call } = await company();
    const kinds = Array.from({ length: 150 }, (_, at) => (at % 3 === 0 ? "shop" : "web"));
    const answers = await Promise.all(
      kinds.map((kind, at) => call("POST", "/orders", { kind, title: `${at % 140}` })),
    );
    const numbers = answers.flatMap(({ status, body }) => (status === 201 ? [body.number] : []));
    expect(numbers).toHaveLength(140);
    expect(new Set(numbers).size).toBe(140);
    for (const number of numbers) expect(number).toMatch(/^(?:web|shop)-\d{3,}$/);
    expect(numbers.toSorted()[0]).toBe("shop-100");
  });

  test("many writers of several counters in opposite orders don't wait for each other", async () => {
    const { call, made } = await company();
    const ids: string[] = [];
    for (const name of ["a", "b", "c", "d", "e", "f"])
      ids.push((await made("/projects", { name })).id as string);
    await made("/tickets", { title: "taken", project: ids[0] });
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        call("POST", "/tickets/create_many", {
          items: [
            ...(at % 2 === 0 ? ids : ids.toReversed()).map((project, nth) => ({
              title: `${at}.${nth}`,
              project,
            })),
            // Refused, so that all are written one by one.
            { title: "taken", project: ids[at % 6] },
          ],
        }),
      ),
    );
    expect(answers.map(({ body }) => body.done)).toEqual(answers.map(() => 6));
  });

  test("a number that another document has is passed over", async () => {
    const { call, made } = await company();
    const items = Array.from({ length: 12 }, () => ({ k: "p" }));
    expect((await call("POST", "/tags/create_many", { items })).body.done).toBe(12);
    // p10, p11 and p12 are there.
    for (const t of ["p13", "p14"]) expect((await made("/tags", { k: "p1" })).t).toBe(t);
    expect((await made("/tags", { k: "p" })).t).toBe("p15");
    const more = await call("POST", "/tags/create_many", { items: [{ k: "" }, { k: null }, {}] });
    expect(more.body.outcomes.map((one: { document: { t: string } }) => one.document.t)).toEqual([
      "1",
      "2",
      "3",
    ]);
  });

  test("fields within fields are counted apart", async () => {
    const { made } = await company();
    const numbers = [];
    for (const row of ["a", "b", "a"]) numbers.push((await made("/seats", { seat: { row } })).n);
    expect(numbers).toEqual([1, 1, 2]);
  });

  test("documents without a tenant count together", async () => {
    const [one, other] = [await company(), await company()];
    const first = await one.made("/codes", { title: "a" });
    expect((await other.made("/codes", { title: "b" })).n).toBe(first.n + 1);
  });
});
