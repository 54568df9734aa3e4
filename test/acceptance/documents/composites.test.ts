// A composite over HTTP: documents with soft deletion and their search at one place (service.md "Composite route attachment").
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { startTestService, type TestService } from "../../support/service.js";

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let people: People;
    let author: Member;
    beforeAll(async () => {
      service = await startTestService(engine, { signsIn: false });
      people = peopleOf(service);
      author = await people.member("", "articles.read", "articles.write");
    });
    afterAll(() => service.stop());

    const hits = async (query: string): Promise<readonly unknown[]> =>
      (await people.as(author.token, "POST", "/articles/typed", { query })).body.hits;

    test("an article is found from its creation on, hidden by its deletion, and found when restored", async () => {
      const draft = { title: "On tides", body: "The moon pulls." };
      const made = await people.as(author.token, "POST", "/articles", draft);
      expect([made.status, made.body]).toMatchObject([201, { ...draft, tags: [], rev: 1 }]);
      expect(await hits("moon")).toEqual([made.body]);
      const at = `/articles/${made.body.id}`;
      const deleted = await people.as(author.token, "POST", `${at}/delete?rev=1`);
      expect(deleted.body).toMatchObject({ rev: 2, is_deleted: true });
      expect(await hits("moon")).toEqual([]);
      expect((await people.as(author.token, "GET", at)).status).toBe(404);
      const restored = await people.as(author.token, "POST", `${at}/restore?rev=2`);
      expect(restored.body).toMatchObject({ rev: 3, is_deleted: false });
      expect(await hits("moon")).toEqual([restored.body]);
    });

    test("files of articles are below them, for who may read and write articles", async () => {
      const form = (content: Buffer): FormData => {
        const data = new FormData();
        data.set("file", new Blob([new Uint8Array(content)]), "x.pdf");
        return data;
      };
      const send = (path: string, who: Member, body?: FormData): Promise<Response> =>
        fetch(`${service.url}/articles/blobs/files${path}`, {
          method: body === undefined ? "GET" : "POST",
          headers: { authorization: `Bearer ${who.token}` },
          ...(body === undefined ? {} : { body }),
        });
      const pdf = Buffer.from("%PDF-1.7\nx");
      const made = await send("", author, form(pdf));
      expect(made.status).toBe(201);
      const { key } = (await made.json()) as { readonly key: string };
      const reader = await people.member("", "articles.read");
      expect((await send("", reader, form(pdf))).status).toBe(403);
      expect((await send(`/${key}`, author)).status).toBe(200);
      expect((await send(`/${key}`, reader)).status).toBe(404);
      expect((await send("", author, form(Buffer.from("MZ")))).status).toBe(415);
      const text = new FormData();
      text.set("file", new Blob(["x"]), "x.txt");
      expect((await send("", author, text)).status).toBe(415);
    });

    test("quantifiers ask for members of one object of an array", async () => {
      const at = "2026-03-01T00:00:00.000Z";
      const link = (label: string, url: string, checked_at: string | null = null) => ({
        label,
        url,
        checked_at,
      });
      for (const [title, links] of [
        ["none", []],
        ["one", [link("source", "https://a.example/x")]],
        ["two", [link("source", "http://b.example/", at), link("mirror", "https://b.example/")]],
      ] as const) {
        const made = await people.as(author.token, "POST", "/articles", { title, body: "", links });
        expect(made.status).toBe(201);
      }
      const titles = async (links: object): Promise<readonly string[]> => {
        const filters = { $values: { title: ["none", "one", "two"], links } };
        const body = { filters, sorts: { title: "asc" } };
        const answer = await people.as(author.token, "POST", "/articles/list", body);
        return answer.body.hits.map(({ title }: { readonly title: string }) => title);
      };
      const secure = { $like: "https://%" };
      expect(await titles({ $any: { label: "source", url: secure } })).toEqual(["one"]);
      expect(await titles({ $any: { url: secure } })).toEqual(["one", "two"]);
      expect(await titles({ $all: { url: secure } })).toEqual(["none", "one"]);
      expect(await titles({ $none: { label: ["mirror"] } })).toEqual(["none", "one"]);
      expect(await titles({ $any: { checked_at: { $gte: "2026-03-01T01:00:00+01:00" } } })).toEqual(
        ["two"],
      );
      expect(await titles({ $all: { checked_at: null } })).toEqual(["none", "one"]);
    });

    test.each([
      [{ $any: { nothing: 1 } }, "field_not_queryable", "/filters/$values/links/$any/nothing"],
      [{ $any: {} }, "query_invalid", "/filters/$values/links/$any"],
      [{ $any: "x" }, "query_operator_type_mismatch", "/filters/$values/links/$any"],
      [
        { $any: { label: { $gt: "x" } } },
        "query_operator_type_mismatch",
        "/filters/$values/links/$any/label/$gt",
      ],
      [{ $overlaps: ["x"] }, "query_operator_type_mismatch", "/filters/$values/links/$overlaps"],
    ])("of an array of objects %j is refused", async (links, code, path) => {
      const filters = { $values: { links } };
      const { status, body } = await people.as(author.token, "POST", "/articles/list", { filters });
      expect([status, body.code, body.context.path]).toEqual([422, code, path]);
    });

    test("one permission reads documents and search, another one writes", async () => {
      const reader = await people.member("", "articles.read");
      const status = async (path: string, body: object): Promise<number> =>
        (await people.as(reader.token, "POST", path, body)).status;
      expect(await status("/articles/typed", {})).toBe(200);
      expect(await status("/articles/list", {})).toBe(200);
      expect(await status("/articles", { title: "t", body: "b" })).toBe(403);
      const stranger = await people.member("");
      expect((await people.as(stranger.token, "POST", "/articles/typed", {})).status).toBe(403);
    });
  });
}
