// Many documents in one request: an outcome an item, or all or nothing; by items, and by filter.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";
import { uuidv7 } from "../../../runtime/ports/uuid.js";
import type { Answer } from "../../support/service.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  shelves: {type: {name: string}, guard: open, tenant: false}
  books:
    type:
      isbn: {type: string, minLength: 3}
      title: string
      price: {type: integer, minimum: 0, default: 1}
      shelf: {ref: shelves?}
    guard: open
    tenant: false
    soft_delete: true
    history: {keep: 2}
    unique: [[isbn]]
    indexes: [[price]]
    upsert: true
    bulk: {max: 60}
    idempotency: [create_many, upsert]
  notes: {type: {text: string}, guard: open, tenant: false, bulk: {max: 60}}
search:
  book_search: {of: books, text: [title], guard: open}
`,
};

/** A document as it is answered. */
interface Book {
  readonly id: string;
  readonly isbn: string;
  readonly title: string;
  readonly price: number;
  readonly rev: number;
  readonly is_deleted: boolean;
}

/** What became of an item. */
interface Told {
  readonly document: Book;
  readonly error?: { readonly code: string };
}

onEachEngine(files, ({ service }) => {
  let numbers = 0;
  const isbn = (): string => `isbn-${(numbers += 1)}`;
  const book = (extra: object = {}): object => ({ isbn: isbn(), title: "a book", ...extra });
  const made = async (
    count: number,
    extra: object = {},
  ): Promise<readonly [Book, Book, Book, Book, ...Book[]]> => {
    const items = Array.from({ length: count }, () => book(extra));
    const { status, body } = await service.post("/books/create_many", { items });
    expect([status, body.done, body.failed]).toEqual([200, count, 0]);
    return body.outcomes.map(({ document }: Told) => document);
  };
  const read = async (id: string): Promise<Answer> => service.call("GET", `/books/${id}`);

  test("fifty are created as fifty single calls create them", async () => {
    const shelf = (await service.post("/shelves", { name: "top" })).body.id;
    const title = `word${numbers}`;
    const all = await made(50, { title, shelf });
    expect(all[2]).toMatchObject({ rev: 1, title, price: 1, shelf, is_deleted: false });
    expect((await read(all[3].id)).body).toEqual(all[3]);
    const found = await service.post("/search/book_search/typed", { query: title });
    expect(found.body.count).toBe(50);
    // History is kept: an edit of another field merges.
    const id: string = all[0].id;
    const patch = (body: object, rev: number): Promise<Answer> =>
      service.call("PATCH", `/books/${id}?rev=${rev}`, { body });
    expect((await patch({ price: 2 }, 1)).body.data.rev).toBe(2);
    expect((await patch({ title: "other" }, 1)).body.data).toMatchObject({ rev: 3, price: 2 });
    // And what it names stays.
    expect((await service.call("DELETE", `/shelves/${shelf}`)).status).toBe(409);
  });

  test("a member called __proto__ is refused at every door, as any that is not declared", async () => {
    const [{ id, rev }] = await made(1);
    const key = isbn();
    const raw = async (path: string, method: string, body: string): Promise<readonly unknown[]> => {
      const answer = await service.call(method, path, { body });
      const told = answer.body.outcomes?.[0]?.error ?? answer.body;
      return [answer.status, told.code, told.context?.errors?.[0]?.keyword];
    };
    const document = `{"isbn":"${key}","title":"t","__proto__":{"price":7}}`;
    const patch = `{"price":3,"__proto__":{"price":7}}`;
    const refused = [422, "core.validation", "additionalProperties"];
    const item = [200, "core.validation", "additionalProperties"];
    const filter = `{"field":"id","op":"eq","value":"${id}"}`;
    for (const [path, method, body, answer] of [
      ["/books", "POST", document, refused],
      [`/books/${id}?rev=${rev}`, "PATCH", patch, refused],
      ["/books/create_many", "POST", `{"items":[${document}]}`, item],
      ["/books/create_many", "POST", `{"items":[],"__proto__":{}}`, refused],
      [
        "/books/update_many",
        "POST",
        `{"items":[{"id":"${id}","rev":${rev},"patch":${patch}}]}`,
        item,
      ],
      ["/books/update_where", "POST", `{"filters":[${filter}],"patch":${patch}}`, refused],
      ["/books/upsert", "POST", `{"by":["isbn"],"document":${document}}`, refused],
      ["/books/list", "POST", `{"filters":[],"__proto__":{}}`, refused],
    ] as const)
      expect([path, ...(await raw(path, method, body))]).toEqual([path, ...answer]);
    expect((await read(id)).body).toMatchObject({ rev, price: 1 });
  });

  test("items that are refused are told so in their places, and the others are written", async () => {
    const taken = isbn();
    const items = [
      book({ isbn: taken }),
      book({ isbn: taken }),
      book({ price: -1 }),
      book({ shelf: uuidv7() }),
      "no book",
      book({ id: uuidv7() }),
      book(),
    ];
    const { status, body } = await service.post("/books/create_many", { items });
    expect([status, body.done, body.failed]).toEqual([200, 2, 5]);
    const told = body.outcomes.map((one: Told) => one.error?.code ?? one.document.title);
    expect(told).toEqual([
      "a book",
      "unique_violation",
      "core.validation",
      "core.validation",
      "core.validation",
      "core.validation",
      "a book",
    ]);
    expect(body.outcomes[1].error.context).toEqual({ members: ["isbn"] });
    expect(body.outcomes[2].error.context.errors[0].path).toBe("/price");
    expect(body.outcomes[3].error.context.errors[0]).toMatchObject({
      path: "/shelf",
      keyword: "ref",
    });
  });

  test("atomic writes all or nothing", async () => {
    const title = `atomic ${isbn()}`;
    const items = [book({ title }), book({ title, price: -1 })];
    const refused = await service.post("/books/create_many", { items, atomic: true });
    expect(refused).toMatchObject({
      status: 409,
      body: {
        code: "bulk_refused",
        context: { failed: 1, errors: [{ item: 1, code: "core.validation" }] },
      },
    });
    const count = { filters: { $values: { title } } };
    expect((await service.post("/books/list", count)).body.count).toBe(0);
    const items2 = [book({ title }), book({ title })];
    expect((await service.post("/books/create_many", { items: items2, atomic: true })).status).toBe(
      200,
    );
    expect((await service.post("/books/list", count)).body.count).toBe(2);
  });

  test("a key makes it once", async () => {
    const headers = { "Idempotency-Key": uuidv7() };
    const body = { items: [book(), book()] };
    const first = await service.call("POST", "/books/create_many", { body, headers });
    const again = await service.call("POST", "/books/create_many", { body, headers });
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
  });

  test("many are changed at their revisions, with merges, and told where that cannot be", async () => {
    const [one, two, three, four] = await made(4);
    await service.call("PATCH", `/books/${two.id}?rev=1`, { body: { price: 9 } });
    await service.post(`/books/${three.id}/delete?rev=1`, {});
    const { body } = await service.post("/books/update_many", {
      items: [
        { id: one.id, rev: 1, patch: { title: "new" } },
        { id: two.id, rev: 1, patch: { title: "merged" } },
        { id: three.id, patch: { title: "gone" } },
        { id: four.id, patch: { isbn: one.isbn } },
        { id: uuidv7(), patch: { title: "nobody" } },
        { id: one.id, patch: { price: 5 } },
        { id: four.id, patch: { title: "a book" } },
      ],
    });
    expect(
      body.outcomes.map(
        (o: Told) => o.error?.code ?? [o.document.rev, o.document.title, o.document.price],
      ),
    ).toEqual([
      [2, "new", 1],
      [3, "merged", 9],
      "document_deleted",
      "unique_violation",
      "core.not_found",
      [3, "new", 5],
      [1, "a book", 1],
    ]);
  });

  test("many are deleted, marked or for good", async () => {
    const [one, two] = await made(4);
    const { body } = await service.post("/books/delete_many", {
      items: [{ id: one.id, rev: 1 }, { id: two.id, rev: 7 }, { id: one.id }],
    });
    expect(body.outcomes.map((o: Told) => o.error?.code ?? o.document.is_deleted)).toEqual([
      true,
      "revision_mismatch",
      "document_deleted",
    ]);
    expect((await service.post(`/books/${one.id}/restore?rev=2`, {})).status).toBe(200);
    const notes = (
      await service.post("/notes/create_many", { items: [{ text: "a" }, { text: "b" }] })
    ).body.outcomes;
    const [a, b] = notes.map((o: Told) => o.document.id);
    expect(
      (await service.post("/notes/delete_many", { items: [{ id: a }, { id: b }] })).body,
    ).toMatchObject({ done: 2 });
    expect((await service.call("GET", `/notes/${a}`)).status).toBe(404);
  });

  test("a filter changes and deletes what it finds, up to the ceiling, after a dry count", async () => {
    const title = `where ${isbn()}`;
    const all = await made(20, { title });
    const filters = { $values: { title, price: { $lt: 5 } } };
    const dry = await service.post("/books/update_where", {
      filters,
      patch: { price: 4 },
      dry_run: true,
    });
    expect(dry.body).toEqual({ matched: 20, done: 0 });
    const done = await service.post("/books/update_where", { filters, patch: { price: 7 } });
    expect(done.body).toEqual({ matched: 20, done: 20 });
    expect((await read(all[3].id)).body).toMatchObject({ price: 7, rev: 2 });
    expect(
      (await service.post("/books/update_where", { filters, patch: { price: 8 } })).body,
    ).toEqual({ matched: 0, done: 0 });
    const clash = await service.post("/books/update_where", {
      filters: { $values: { title } },
      patch: { isbn: isbn() },
    });
    expect(clash).toMatchObject({ status: 409, body: { code: "bulk_refused" } });
    expect((await read(all[3].id)).body).toMatchObject({ rev: 2 });
    await made(50, { title: `${title} more` });
    const many = { $values: { title: { $like: `${title}%` } } };
    expect(await service.post("/books/delete_where", { filters: many })).toMatchObject({
      status: 422,
      body: { code: "query_too_complex", context: { path: "/filters", limit: 60 } },
    });
    expect(
      (await service.post("/books/delete_where", { filters: many, dry_run: true })).body,
    ).toEqual({ matched: 70, done: 0 });
    expect(
      (await service.post("/books/delete_where", { filters: { $values: { title } } })).body,
    ).toEqual({ matched: 20, done: 20 });
    expect((await service.post("/books/delete_where", {})).body.context.errors[0].path).toBe(
      "/filters",
    );
  });

  test("upserts with the same unique values update one document, also fifty at once", async () => {
    const key = isbn();
    const upsert = (document: object, by: readonly string[] = ["isbn"]): Promise<Answer> =>
      service.post("/books/upsert", { by, document });
    const first = await upsert({ isbn: key, title: "one" });
    expect(first.body).toMatchObject({ created: true, data: { rev: 1, title: "one" } });
    const second = await upsert({ isbn: key, title: "two" });
    expect(second.body).toMatchObject({
      created: false,
      data: { id: first.body.data.id, rev: 2, title: "two" },
    });
    expect(second.headers.get("etag")).toBe('"2"');
    expect((await upsert({ isbn: key }, ["title"])).body.context.errors[0].path).toBe("/by");
    const other = isbn();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, price) => upsert({ isbn: other, title: "same", price })),
    );
    expect(answers.filter(({ body }) => body.created)).toHaveLength(1);
    expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1);
  });

  test("writers of the same documents in other orders wait for nobody for ever", async () => {
    const all = await made(30);
    const round = (items: readonly Book[], price: number): Promise<Answer> =>
      service.post("/books/update_many", {
        items: items.map(({ id }) => ({ id, patch: { price } })),
      });
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) => round(at % 2 === 0 ? all : all.toReversed(), at)),
    );
    for (const { status, body } of answers) expect([status, body.failed]).toEqual([200, 0]);
  });

  test("more than it may have, or none, are refused before anything is written", async () => {
    const items = Array.from({ length: 61 }, () => book());
    for (const [given, keyword] of [
      [items, "maxItems"],
      [[], "minItems"],
      ["x", "type"],
    ] as const)
      expect(await service.post("/books/create_many", { items: given })).toMatchObject({
        status: 422,
        body: { code: "core.validation", context: { errors: [{ path: "/items", keyword }] } },
      });
  });
});
