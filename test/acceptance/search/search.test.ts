// Search over HTTP: words, phrases, beginnings, ranking, filters, facets, highlights, cursors, upkeep (decisions.md "Search").
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { taskSearchSpec } from "../../../generated/search/task_search.js";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { runCommand } from "../../support/process.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";
import { searchStore } from "../../../runtime/ports/search.js";

const project = "01890000-0000-7000-8000-000000000008";
const titled = {
  second: "The checklist for the launch of the second launch vehicle",
  write: "Write the launch checklist",
};

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let people: People;
    let member: Member;
    beforeAll(async () => {
      service = await startTestService(engine, { signsIn: false });
      people = peopleOf(service);
      member = await people.member("", "tasks.read", "tasks.write");
      for (const [title, labels, state] of [
        ["Write the launch checklist", ["launch", "paper"], "open"],
        ["Book the range", ["launch"], "doing"],
        ["Launch!", ["crew"], "done"],
        ["Rangers of the São Paulo office", [], "open"],
        ["Buy paper & <b>pens</b>", ["paper"], "open"],
        ["The checklist for the launch of the second launch vehicle", [], "doing"],
        ["Ünïcödé naïve café", ["日本語"], "open"],
        ["ΟΔΟΣ", [], "open"],
      ] as const) {
        const { body } = await create(member, title, labels);
        if (state !== "open")
          await people.as(member.token, "PATCH", `/tasks/${body.id}?rev=1`, { state });
      }
    });
    afterAll(() => service.stop());

    const create = (who: Member, title: string, labels: readonly string[] = []): Promise<Answer> =>
      people.as(who.token, "POST", "/tasks", { title, project, labels });
    const search = (body: object, path = "typed", who = member): Promise<Answer> =>
      people.as(who.token, "POST", `/search/tasks/${path}`, body);
    const titles = ({ body }: Answer): readonly string[] =>
      body.hits.map(({ title }: { readonly title: string }) => title);
    const found = async (query: unknown, rest: object = {}): Promise<readonly string[]> =>
      titles(await search({ query, ...rest })).toSorted();

    test.each([
      [
        "one word",
        "launch",
        [
          "Book the range",
          "Launch!",
          "The checklist for the launch of the second launch vehicle",
          "Write the launch checklist",
        ],
      ],
      ["a sigma within, where the text has one at the end", "οδοσ", ["ΟΔΟΣ"]],
      ["the beginning of a word, cut where it changes its last letter", "οδος*", ["ΟΔΟΣ"]],
      [
        "words that must all occur, in any field and order",
        "paper write",
        ["Write the launch checklist"],
      ],
      [
        "whatever case and accents",
        "LAUNCH vehicle",
        ["The checklist for the launch of the second launch vehicle"],
      ],
      ["without accents", "sao paulo", ["Rangers of the São Paulo office"]],
      ["with accents where there are others", "unicode NAIVÉ", ["Ünïcödé naïve café"]],
      ["a phrase", '"launch checklist"', ["Write the launch checklist"]],
      ["a phrase the other way round", '"checklist launch"', []],
      ["the beginning of a word", "rang*", ["Book the range", "Rangers of the São Paulo office"]],
      ["a whole word", "rang", []],
      ["another script", "日本語", ["Ünïcödé naïve café"]],
      [
        "any of several texts",
        ["vehicle", "paper pens"],
        ["Buy paper & <b>pens</b>", "The checklist for the launch of the second launch vehicle"],
      ],
      ["signs of the engines' languages", 'launch AND OR NOT NEAR( " * : - ^', []],
      [
        "signs alone",
        '"" * :*&|!() --',
        [
          "Book the range",
          "Buy paper & <b>pens</b>",
          "Launch!",
          "Rangers of the São Paulo office",
          "The checklist for the launch of the second launch vehicle",
          "Write the launch checklist",
          "Ünïcödé naïve café",
          "ΟΔΟΣ",
        ],
      ],
      ["quotes and SQL", "'; DROP TABLE tasks; --", []],
      [
        "a quote that is not closed",
        'launch "vehicle',
        ["The checklist for the launch of the second launch vehicle"],
      ],
    ] as const)("%s", async (_what, query, expected) => {
      expect(await found(query)).toEqual([...expected].toSorted());
    });

    test.each([
      ["a letter that is missing", "vehicl", [titled.second]],
      ["two letters swapped", "vehcile", [titled.second]],
      ["a letter too many, in one of two words", "checklistt vehicle", [titled.second]],
      ["two errors in a long word", "chekclits", [titled.second, titled.write]],
      ["two errors in a short word", "vehcla", []],
      ["a word of three letters", "bux", []],
      ["a beginning, which is as it is spelt", "vehikl*", []],
      ["a phrase, which is as it is spelt", '"lanch checklist"', []],
      ["a quoted word, which is as it is spelt", '"vehicl"', []],
      ["a word with digits", "launch1", []],
      ["any of several texts", ["vehicel", "pepar"], [titled.second]],
    ] as const)("fuzzy: %s", async (_what, query, expected) => {
      expect(await found(query, { options: { fuzzy: true } })).toEqual([...expected].toSorted());
      expect(await found(query)).toEqual([]);
    });

    test("a wrong first letter is found where the engine compares by trigrams", async () => {
      const expected = engine.name === "sqlite" ? [] : [titled.second, titled.write];
      expect(await found("shecklist", { options: { fuzzy: true } })).toEqual(expected.toSorted());
    });

    test("exact spellings come before other spellings, on every page", async () => {
      const words = ["Kaster", "Kastner", "Kaster Kaster Kaster", "Kastner", "Kast"];
      const other = await people.member("", "tasks.read", "tasks.write");
      for (const title of words) await create(other, title);
      const asked = { query: "kastner", options: { fuzzy: true } };
      const { body } = await search(asked, "typed", other);
      const expected = ["Kastner", "Kastner", "Kaster Kaster Kaster", "Kaster"];
      expect(titles({ body } as Answer)).toHaveLength(4);
      expect(titles({ body } as Answer).slice(0, 2)).toEqual(expected.slice(0, 2));
      expect(body.scores[1]).toBeGreaterThanOrEqual(1);
      expect(body.scores[2]).toBeLessThan(1);
      const walked: string[] = [];
      for (let after: string | null | undefined; after !== null;) {
        const page = await search(
          { ...asked, size: 1, ...(after && { after }) },
          "typed_cursor",
          other,
        );
        walked.push(...titles(page));
        after = page.body.next_cursor;
      }
      expect(walked).toEqual(titles({ body } as Answer));
    });

    test("other spellings are highlighted and counted, and are the words of the tenant", async () => {
      const options = { fuzzy: true, highlight: { fields: ["title"] }, facets: ["state"] };
      const { body } = await search({ query: "vehicel", options });
      expect(body.highlights).toEqual([{ title: ["of the second launch <em>vehicle</em>"] }]);
      expect(body.facets).toEqual({ state: [{ value: "doing", count: 1 }] });
      const stranger = await people.member("", "tasks.read");
      expect((await search({ query: "vehicel", options }, "typed", stranger)).body.hits).toEqual(
        [],
      );
    });

    test("more words than have spellings to look for are refused", async () => {
      const query = Array.from({ length: 17 }, (_, index) => `word${"abcdefghijklmnopq"[index]}`);
      const { status, body } = await search({ query: query.join(" "), options: { fuzzy: true } });
      expect(status).toBe(422);
      expect(body).toMatchObject({
        code: "query_too_complex",
        context: { path: "/query", limit: 16 },
      });
    });

    test("several texts can have to match all", async () => {
      const both = ["launch", "checklist"];
      const options = { phrase_combine: "all" };
      expect(await found(both, { options })).toEqual([
        "The checklist for the launch of the second launch vehicle",
        "Write the launch checklist",
      ]);
    });

    test("the best come first; scores are parallel, and fall", async () => {
      const { body } = await search({ query: "launch", size: 10 });
      expect(body.scores).toHaveLength(body.hits.length);
      expect(body.scores).toEqual(body.scores.toSorted((a: number, b: number) => b - a));
      // A title counts more than a label.
      expect(body.hits.at(-1).title).toBe("Book the range");
      const byLabel = await search({
        query: "launch",
        options: { weights: { title: 0.01, labels: 100 } },
      });
      expect(["Book the range", "Write the launch checklist"]).toContain(
        byLabel.body.hits[0].title,
      );
      const unranked = await search({
        query: "launch",
        options: { weights: { title: 0, labels: 0 } },
      });
      expect([unranked.status, new Set(unranked.body.scores)]).toEqual([200, new Set([0])]);
      const inLabels = await search({ query: "launch", options: { fields: ["labels"] } });
      expect(titles(inLabels).toSorted()).toEqual(["Book the range", "Write the launch checklist"]);
    });

    test("filters and sorts are those of lists", async () => {
      const filters = { $values: { state: { $neq: "done" } } };
      const { body } = await search({ query: "launch", filters, sorts: { title: "desc" } });
      expect(body.hits.map(({ title }: { readonly title: string }) => title)).toEqual([
        "Write the launch checklist",
        "The checklist for the launch of the second launch vehicle",
        "Book the range",
      ]);
      const browsed = await search({ filters: { $values: { state: "done" } } });
      expect([titles(browsed), browsed.body.scores]).toEqual([["Launch!"], [0]]);
    });

    test("facets count the values of what matches, most frequent first", async () => {
      const { body } = await search({
        query: "launch",
        options: { facets: ["state", "labels"], facet_size: 2 },
        size: 1,
      });
      expect(body.facets).toEqual({
        state: [
          { value: "doing", count: 2 },
          { value: "done", count: 1 },
        ],
        labels: [
          { value: "launch", count: 2 },
          { value: "crew", count: 1 },
        ],
      });
      expect(body.count).toBe(4);
    });

    test("highlights mark what was found in escaped text", async () => {
      const one = await search({ query: "paper pens", options: { highlight: true } });
      expect(one.body.highlights).toEqual([
        {
          title: ["Buy <em>paper</em> &amp; &lt;b&gt;<em>pens</em>&lt;/b&gt;"],
          labels: ["<em>paper</em>"],
        },
      ]);
      const marked = {
        fields: ["title"],
        pre_tag: "[",
        post_tag: "]",
        fragment_size: 20,
        max_fragments: 1,
      };
      const two = await search({ query: "cafe* NAIVE", options: { highlight: marked } });
      expect(two.body.highlights).toEqual([{ title: ["[naïve] [café]"] }]);
      const phrase = await search({ query: '"launch vehicle"', options: { highlight: true } });
      expect(phrase.body.highlights[0].title.join("")).toContain(
        "second <em>launch</em> <em>vehicle</em>",
      );
      expect(phrase.body.highlights[0].title.join("")).not.toContain("the <em>launch</em>");
    });

    test("counting can be left out, candidates bounded, hits projected", async () => {
      const none = await search({ query: "launch", options: { search_count: "none" } });
      expect([none.body.count, none.body.hits.length]).toEqual([null, 4]);
      const few = await search({
        query: "launch",
        options: { max_candidates: 2 },
        sorts: { title: "asc" },
      });
      expect([few.body.count, few.body.hits.length]).toEqual([2, 2]);
      const raw = await search({ query: "vehicle", return_fields: ["state"] }, "raw");
      expect(raw.body.hits).toEqual([{ state: "doing" }]);
    });

    test.each([{}, { sorts: { title: "asc" } }, { sorts: { state: "desc" } }])(
      "cursors walk all hits once, forward and back, %j",
      async (sorted) => {
        const whole = titles(await search({ query: "launch", ...sorted, size: 100 }));
        const walked: string[] = [];
        let request: object = { query: "launch", ...sorted, size: 1 };
        let last: Answer | undefined;
        for (;;) {
          last = await search(request, "typed_cursor");
          expect(last.status).toBe(200);
          walked.push(...titles(last));
          if (last.body.next_cursor === null) break;
          request = { ...request, after: last.body.next_cursor };
        }
        expect(walked).toEqual(whole);
        const back = await search(
          { query: "launch", ...sorted, size: 10, before: last.body.prev_cursor },
          "typed_cursor",
        );
        expect(titles(back)).toEqual(whole.slice(0, -1));
        const stolen = await search(
          { query: "range", ...sorted, size: 1, before: last.body.prev_cursor },
          "typed_cursor",
        );
        expect([stolen.status, stolen.body.code]).toEqual([422, "invalid_cursor"]);
      },
    );

    test("the index follows every write, in its transaction", async () => {
      const own = await people.member("", "tasks.read", "tasks.write", "tasks.admin");
      await people.grant(null, own.id, "platform.admin");
      const count = async (query: string): Promise<number> =>
        (await search({ query }, "typed", own)).body.count;
      const { body } = await create(own, "alpha");
      expect(await count("alpha")).toBe(1);
      const at = `/tasks/${body.id}`;
      await people.as(own.token, "PATCH", `${at}?rev=1`, { title: "beta" });
      expect([await count("alpha"), await count("beta")]).toEqual([0, 1]);
      await people.as(own.token, "POST", `${at}/delete?rev=2`);
      expect(await count("beta")).toBe(0);
      await people.as(own.token, "POST", `${at}/restore?rev=3`);
      expect(await count("beta")).toBe(1);
      expect((await people.as(own.token, "DELETE", `${at}?rev=1`)).status).toBe(409);
      expect(await count("beta")).toBe(1);
      expect((await people.as(own.token, "DELETE", at)).status).toBe(204);
      expect(await count("beta")).toBe(0);
    });

    test("the command makes an index anew from the documents", async () => {
      const database = await engine.create();
      const environment = {
        ...database.environment,
        DATA_DIR: `/tmp/opwright-search-${process.pid}`,
      };
      const other = await startTestService(engine, { environment });
      for (const title of ["one", "two", "three"]) await other.post("/tasks", { title, project });
      const count = async (): Promise<number> =>
        (await other.post("/search/tasks/typed", { query: ["one", "two", "three"] })).body.count;
      const { connection } = other.running;
      await connection.write("test.lose", async ({ transaction }) => {
        const lost = {
          ...taskSearchSpec,
          document: { ...taskSearchSpec.document, table: "notes" },
        };
        await transaction.of(searchStore).rebuildStep(lost, { part: "rows", after: [] }, 1_000);
      });
      expect(await count()).toBe(0);
      const { status, stdout } = await runCommand(environment, ["search-rebuild", "task_search"]);
      expect([status, stdout]).toEqual([0, "3\n"]);
      expect(await count()).toBe(3);
      expect((await runCommand(environment, ["search-rebuild", "nothing"])).status).toBe(2);
      await other.stop();
      await database.drop();
    });

    test("a search sees its tenant alone, and asks for the permission of the documents", async () => {
      const other = await people.member("", "tasks.read");
      expect((await search({ query: "launch" }, "typed", other)).body).toMatchObject({
        hits: [],
        count: 0,
      });
      const faceted = await search(
        { query: "launch", options: { facets: ["state"] } },
        "typed",
        other,
      );
      expect(faceted.body.facets).toEqual({ state: [] });
      const stranger = await people.member(member.tenantId, "projects.read");
      expect((await search({ query: "launch" }, "typed", stranger)).status).toBe(403);
    });

    test.each([
      [{ query: 1 }, "core.validation", "/query"],
      [{ query: ["a", 1] }, "core.validation", "/query/1"],
      [{ query: "x".repeat(1_001) }, "query_too_complex", "/query"],
      [{ query: Array.from({ length: 33 }, () => "x") }, "query_too_complex", "/query"],
      [
        { query: Array.from({ length: 65 }, (_, i) => `x${i}`).join(" ") },
        "query_too_complex",
        "/query",
      ],
      [{ with_deleted: true }, "core.validation", "/with_deleted"],
      [{ options: { facets: ["title"] } }, "field_not_queryable", "/options/facets/0"],
      [{ options: { facets: [] } }, "core.validation", "/options/facets"],
      [
        { options: { facets: ['state" FROM tasks --'] } },
        "field_not_queryable",
        "/options/facets/0",
      ],
      [{ options: { fields: ["state"] } }, "field_not_queryable", "/options/fields/0"],
      [
        { options: { weights: { constructor: 1 } } },
        "field_not_queryable",
        "/options/weights/constructor",
      ],
      [{ options: { weights: { title: -1 } } }, "core.validation", "/options/weights/title"],
      [
        { options: { highlight: { fields: ["assignee"] } } },
        "field_not_queryable",
        "/options/highlight/fields/0",
      ],
      [{ options: { highlight: { tag: "x" } } }, "core.validation", "/options/highlight/tag"],
      [{ options: { search_count: "some" } }, "core.validation", "/options/search_count"],
      [{ options: { fuzzy: "yes" } }, "core.validation", "/options/fuzzy"],
      [
        { filters: { $values: { tenant_id: "x" } } },
        "field_not_queryable",
        "/filters/$values/tenant_id",
      ],
      [{ sorts: { score: "asc" } }, "field_not_queryable", "/sorts/score"],
    ])("%j is an error", async (body, code, at) => {
      const refused = await search(body);
      expect([refused.status, refused.body.code]).toEqual([422, code]);
      const { context } = refused.body;
      expect(context.path ?? context.errors[0].path).toBe(at);
    });
  });
}
