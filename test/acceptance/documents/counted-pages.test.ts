// A numbered page and its count: whichever page it is, and whatever is written meanwhile.
import { expect, test } from "vitest";
import { onEachEngine } from "../../support/on-each-engine.js";

const files = {
  "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies: {open: []}
documents:
  owners: {type: {name: string}, guard: open}
  things:
    type: {name: string, number: integer, owner: {ref: owners}}
    guard: open
    bulk: {max: 200}
search: {things_search: {of: things, text: [name], guard: open}}
storage: {papers: {guard: open, mount: {at: /papers, style: rest}}}
`,
};

const total = 70;
/** Pages that are full, that aren't, and that lie behind the last one, of one portion and more. */
const pages = [
  [1, 1],
  [70, 1],
  [71, 1],
  [1, 69],
  [1, 70],
  [1, 71],
  [2, 35],
  [3, 35],
  [2, 60],
  [3, 60],
  [1, 65],
  [2, 100],
  [9, 100],
] as const;
const sizeOf = (page: number, size: number, of: number): number =>
  Math.max(0, Math.min(size, of - (page - 1) * size));

onEachEngine(files, ({ service }) => {
  const ask = async (path: string, body: object) => {
    const answer = await service.post(path, body);
    expect([answer.status, answer.body.code]).toEqual([expect.toBeOneOf([200, 201]), undefined]);
    return answer.body;
  };
  const fill = async () => {
    const owner = await ask("/owners", { name: "somebody" });
    const items = Array.from({ length: total }, (_, number) => ({
      name: number % 2 === 0 ? "even one" : "odd one",
      number,
      owner: owner.id,
    }));
    expect((await ask("/things/create_many", { items })).failed).toBe(0);
  };

  test("each page has its rows, and the count of all", async () => {
    await fill();
    for (const [page, size] of pages) {
      const window = { page, size };
      const what = JSON.stringify(window);
      const list = await ask("/things/list", {
        ...window,
        sorts: { "owner.name": "asc", number: "asc" },
      });
      expect([what, list.hits.length, list.count]).toEqual([
        what,
        sizeOf(page, size, total),
        total,
      ]);
      const odd = { ...window, filters: { $values: { name: "odd one" } } };
      const some = await ask("/things/list", odd);
      expect([what, some.hits.length, some.count]).toEqual([what, sizeOf(page, size, 35), 35]);
      const bounded = await ask("/things/list", { ...window, count: { up_to: 40 } });
      expect([what, bounded.hits.length, bounded.count]).toEqual([
        what,
        sizeOf(page, size, total),
        40,
      ]);
      const found = await ask("/search/things_search/typed", { ...window, query: "odd" });
      expect([what, found.hits.length, found.count]).toEqual([what, sizeOf(page, size, 35), 35]);
      const groups = await ask("/things/agg_list", {
        ...window,
        aggregates: { $groups: { number: "number" }, $computed: { n: { $count: {} } } },
      });
      expect([what, groups]).toMatchObject([what, { count: total }]);
      expect(groups.hits).toHaveLength(sizeOf(page, size, total));
    }
  });

  // None, and about as many as a first portion has.
  test.each([0, 62])(
    "a page and its count agree while %i documents become more and fewer",
    async (few) => {
      const { id: owner } = await ask("/owners", { name: "somebody" });
      const name = `passing${few}`;
      const items = Array.from({ length: few }, () => ({ name, number: 0, owner }));
      if (few > 0) expect((await ask("/things/create_many", { items })).failed).toBe(0);
      const over = new AbortController();
      const comeAndGo = async () => {
        while (!over.signal.aborted) {
          const { id } = await ask("/things", { name, number: 1, owner });
          expect((await service.call("DELETE", `/things/${id}?rev=1`)).status).toBe(204);
        }
      };
      const writing = Array.from({ length: 6 }, comeAndGo);
      const filters = { $values: { name } };
      const aggregates = { $groups: { id: "id" }, $computed: { n: { $count: {} } } };
      const seen = new Set<number>();
      for (let round = 0; round < 60; round += 1) {
        const list = await ask("/things/list", { size: 100, filters });
        const found = await ask("/search/things_search/typed", { size: 100, query: name });
        const groups = await ask("/things/agg_list", { size: 100, filters, aggregates });
        for (const { hits, count } of [list, found, groups]) {
          expect(count).toBe(hits.length);
          seen.add(count);
        }
        const size = few / 2 + 2;
        for (const page of [1, 2, 3]) {
          const { hits, count } = await ask("/things/list", { page, size, filters });
          const least = (page - 1) * size + hits.length;
          // A page that is full or empty lets more or fewer be counted.
          if (hits.length === size) expect(count).toBeGreaterThanOrEqual(least);
          else if (hits.length > 0) expect(count).toBe(least);
          else expect(count).toBeLessThanOrEqual(least);
        }
      }
      over.abort();
      await Promise.all(writing);
      // What is written is seen, so that this has asked something.
      expect(seen.size).toBeGreaterThan(2);
    },
  );
});
