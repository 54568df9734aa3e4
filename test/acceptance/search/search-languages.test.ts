// Searches in languages: forms of a word, and parts of Chinese, Japanese and Korean texts, alike on every engine; a reference
// evaluator that knows nothing of indexes says what must be found.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { articlesSpec } from "../../../generated/documents/articles.js";
import { articlesSearchSpec } from "../../../generated/search/articles_search.js";
import { rebuildSearch } from "../../../runtime/families/search/rebuild.js";
import { documentStore } from "../../../runtime/ports/documents.js";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { startTestService, type Answer, type TestService } from "../../support/service.js";

interface Opened {
  readonly service: TestService;
  readonly people: People;
  readonly member: Member;
}

async function open(engine: (typeof engines)[number]): Promise<Opened> {
  const service = await startTestService(engine, { signsIn: false });
  const people = peopleOf(service);
  const rights = ["articles.read", "articles.write", "tasks.read", "tasks.write"];
  return { service, people, member: await people.member("", ...rights) };
}

const search = ({ people, member }: Opened, body: object): Promise<Answer> =>
  people.as(member.token, "POST", "/articles/typed", { size: 200, ...body });
const titles = ({ body }: Answer): readonly string[] =>
  body.hits.map(({ title }: { readonly title: string }) => title);

/** Articles are searched in English. */
const articles = [
  ["The rockets are launched", "universities of the world"],
  ["A rocket", "skies"],
  ["Rocketry for beginners", ""],
  ["日本語の検索", "東京tower 2024年"],
  ["東京都庁", "ｶﾞｲﾄﾞ"],
  ["ハスの花", "バスの旅"],
  ["한국어 문서", "서울"],
  ["Ünïversity of São Paulo", "café"],
] as const;

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let opened: Opened;
    beforeAll(async () => {
      opened = await open(engine);
      const { people, member } = opened;
      for (const [title, body] of articles)
        await people.as(member.token, "POST", "/articles", { title, body });
    });
    afterAll(() => opened.service.stop());

    const found = async (query: unknown, options: object = {}): Promise<readonly string[]> =>
      titles(await search(opened, { query, options })).toSorted();

    test.each([
      ["another form of a word", "rocket", ["A rocket", "The rockets are launched"]],
      ["the other way round", "ROCKETS", ["A rocket", "The rockets are launched"]],
      ["forms of several words", "launching rocket", ["The rockets are launched"]],
      ["a word that only begins so", "rocketry", ["Rocketry for beginners"]],
      [
        "with and without accents",
        "university",
        ["The rockets are launched", "Ünïversity of São Paulo"],
      ],
      ["a phrase, which is as it is spelt", '"a rockets"', []],
      ["a word in quotes, which is as it is spelt", '"rockets"', ["The rockets are launched"]],
      ["a beginning", "rocke*", ["A rocket", "Rocketry for beginners", "The rockets are launched"]],
      ["a beginning that no stem has", "rockets*", ["The rockets are launched"]],
      ["the first characters of a text", "日本", ["日本語の検索"]],
      ["characters within", "本語", ["日本語の検索"]],
      ["one character", "語", ["日本語の検索"]],
      ["one at the end", "索", ["日本語の検索"]],
      ["all of them", "日本語の検索", ["日本語の検索"]],
      ["characters in another order", "語日", []],
      ["characters that do not stand together", "日語", []],
      ["characters before letters", "東京tower", ["日本語の検索"]],
      ["the last of them", "京tower", ["日本語の検索"]],
      ["letters behind characters", "tower", ["日本語の検索"]],
      ["a beginning behind characters", "東京tow*", ["日本語の検索"]],
      ["digits before a character", '"2024年"', ["日本語の検索"]],
      ["a phrase of both", '"tower 2024"', ["日本語の検索"]],
      ["several words", "東京 検索", ["日本語の検索"]],
      ["a star behind characters", "東*", ["日本語の検索", "東京都庁"]],
      ["half width", "ガイド", ["東京都庁"]],
      ["voiced kana, which are others", "バス", ["ハスの花"]],
      ["and those without a voice", "パス", []],
      ["syllables", "국어", ["한국어 문서"]],
      ["syllables written as their letters", "국어".normalize("NFD"), ["한국어 문서"]],
    ] as const)("%s", async (_what, query, expected) => {
      expect(await found(query)).toEqual([...expected].toSorted());
    });

    test("exact spellings come before other forms", async () => {
      const { body } = await search(opened, { query: "rocket" });
      expect(body.hits[0].title).toBe("A rocket");
      expect(body.scores[0]).toBeGreaterThan(body.scores[1]);
    });

    test("another spelling counts with its forms", async () => {
      expect(await found("rocekts", { fuzzy: true })).toEqual([
        "A rocket",
        "The rockets are launched",
      ]);
    });

    test("highlights mark forms, and characters as one", async () => {
      const marked = async (query: string): Promise<unknown> =>
        (await search(opened, { query, options: { highlight: true } })).body.highlights;
      expect(await marked("rocket launches")).toEqual([
        { title: ["The <em>rockets</em> are <em>launched</em>"] },
      ]);
      expect(await marked('"rockets"')).toEqual([{ title: ["The <em>rockets</em> are launched"] }]);
      expect(await marked("本語の")).toEqual([{ title: ["日<em>本語の</em>検索"] }]);
      expect(await marked("索")).toEqual([{ title: ["日本語の検<em>索</em>"] }]);
      expect(await marked("京tower")).toEqual([{ body: ["東<em>京tower</em> 2024年"] }]);
      expect(await marked("ガイド")).toEqual([{ body: ["<em>ｶﾞｲﾄﾞ</em>"] }]);
    });

    test("documents written by the previous version are found as they are spelt, and by their forms after a rebuild", async () => {
      const { member, people, service } = opened;
      const { connection } = service.running;
      const { title: _title, ...rest } = (
        await people.as(member.token, "POST", "/articles", { title: "comets", body: "" })
      ).body;
      const [search] = articlesSpec.searches ?? [];
      if (search === undefined) throw new Error("articles have no search");
      const { language: _language, ...unstemmed } = search;
      await connection.write("test.before", ({ transaction }) =>
        transaction
          .of(documentStore)
          .replace({ ...articlesSpec, searches: [unstemmed] }, member.tenantId, 1, {
            id: rest.id,
            rev: 2,
            createdAt: rest.created_at,
            lastUpdateAt: rest.last_update_at,
            isDeleted: false,
            ownerId: null,
            body: JSON.stringify({ title: "planets", body: "", tags: [], links: [] }),
          }),
      );
      expect([await found("planets"), await found("planet"), await found("comet")]).toEqual([
        ["planets"],
        [],
        [],
      ]);
      await rebuildSearch(connection.database, articlesSearchSpec, { onProgress: () => undefined });
      expect(await found("planet")).toEqual(["planets"]);
      expect(await found("rocket")).toEqual(["A rocket", "The rockets are launched"]);
    });

    test("a search without a language finds characters, and words as they are spelt", async () => {
      const { people, member } = opened;
      const project = "01890000-0000-7000-8000-00000000000e";
      for (const title of ["日本語 rockets", "東京都"])
        await people.as(member.token, "POST", "/tasks", { title, project });
      const asked = async (query: string): Promise<readonly string[]> =>
        titles(await people.as(member.token, "POST", "/search/tasks/typed", { query }));
      expect(await asked("本語")).toEqual(["日本語 rockets"]);
      expect(await asked("京")).toEqual(["東京都"]);
      expect([await asked("rocket"), await asked("rockets")]).toEqual([[], ["日本語 rockets"]]);
    });
  });
}

/** Words by their forms: what stands in one list is the same word. */
const forms = [
  ["rocket", "rockets"],
  ["launch", "launches", "launched", "launching"],
  ["city", "cities"],
  ["running", "runs", "run"],
  ["naïve"],
  ["v2"],
];
const latin = fc.constantFrom(...forms.flat());
const characters = fc.string({
  unit: fc.constantFrom(..."日本語東京ガカー한국"),
  minLength: 1,
  maxLength: 5,
});
/** Pieces, and what parts them. */
const texts = fc
  .array(fc.tuple(fc.oneof(latin, characters), fc.constantFrom(" ", ", ", "・")), {
    minLength: 1,
    maxLength: 5,
  })
  .map((pieces) => pieces.flat().join(""));
const asks = fc.oneof(
  latin,
  characters,
  latin.map((word) => `${word.slice(0, 3)}*`),
  fc.tuple(latin, latin).map(([one, two]) => `"${one} ${two}"`),
  fc.tuple(characters, latin).map(([one, two]) => `"${one} ${two}"`),
  fc.tuple(characters, latin).map(([one, two]) => `${one} ${two}`),
);

const plain = (text: string): string =>
  text
    .normalize("NFD")
    .replaceAll(/[\u0300-\u036F]/g, "")
    .normalize("NFC");
const isLatin = (text: string): boolean => /^[a-z0-9]/.test(plain(text));
const partsOf = (text: string): readonly string[] => plain(text).match(/[\p{L}\p{N}]+/gu) ?? [];

/** Whether a text has what is asked for: said of the texts themselves. */
function has(text: string, asked: string): boolean {
  const parts = partsOf(text);
  if (asked.startsWith('"')) {
    const wanted = partsOf(asked);
    return parts.some((_part, from) =>
      wanted.every((word, at) => {
        const part = parts[from + at] ?? "";
        if (isLatin(word)) return part === word;
        // What follows must stand behind its end.
        return at < wanted.length - 1 ? part.endsWith(word) : part.includes(word);
      }),
    );
  }
  return asked.split(" ").every((one) => {
    if (one.endsWith("*")) return parts.some((part) => part.startsWith(plain(one).slice(0, -1)));
    if (!isLatin(one)) return parts.some((part) => part.includes(one));
    const family = forms.find((some) => some.includes(one))?.map(plain) ?? [];
    return parts.some((part) => family.includes(part));
  });
}

test.skipIf(engines.some(({ isAvailable }) => !isAvailable))(
  "both engines find what the reference evaluator finds, with the same scores in the same order",
  async () => {
    const [seed = 0] = fc.sample(fc.integer(), 1);
    const documents = fc.sample(texts, { numRuns: 120, seed }).map((text, at) => `${text} #${at}`);
    const queries = [...new Set(fc.sample(asks, { numRuns: 150, seed }))];
    const all = await Promise.all(engines.map(open));
    for (const { people, member } of all)
      for (const title of documents)
        await people.as(member.token, "POST", "/articles", { title, body: "" });
    for (const query of queries) {
      const expected = documents.filter((title) => has(title, query));
      const answers = await Promise.all(all.map((one) => search(one, { query })));
      const [first, ...others] = answers.map((answer) => [titles(answer), answer.body.scores]);
      const about = `${query} (seed ${seed})`;
      expect([...titles(answers[0] as Answer)].toSorted(), about).toEqual(expected.toSorted());
      for (const other of others) expect(other, about).toEqual(first);
    }
    await Promise.all(all.map(({ service }) => service.stop()));
  },
  120_000,
);
