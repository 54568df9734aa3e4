// Tenants cannot feed each other: what one writes changes no byte of what another finds; and both engines score alike.
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { peopleOf, type Member, type People } from "../../support/people.js";
import { startTestService, type TestService } from "../../support/service.js";

const project = "01890000-0000-7000-8000-00000000000c";

interface Written {
  readonly title: string;
  readonly labels: readonly string[];
}

/** What the tenant has whose answers are looked at. */
const own: readonly Written[] = [
  { title: "Kastner writes the launch checklist", labels: ["launch", "paper"] },
  { title: "Launch, launch and launch again", labels: ["crew"] },
  { title: "Book the range for the second launch vehicle", labels: [] },
  { title: "A checklist of the crew", labels: ["paper", "launch"] },
  { title: "Rangers of the São Paulo office", labels: ["paper"] },
  { title: "Ünïcödé naïve café 日本語 ΟΔΟΣ", labels: ["launch"] },
  { title: `launch ${"word ".repeat(38)}`, labels: Array.from({ length: 9 }, () => "crew") },
];

const options = { facets: ["state", "labels"], highlight: true };
const queries: readonly object[] = [
  { query: "launch", options },
  { query: "launch checklist", options },
  { query: '"launch checklist"', options },
  { query: "ran*", options },
  { query: "l*", options: { ...options, weights: { title: 0.3, labels: 7 } } },
  { query: ["kastner", "crew paper"], options },
  {
    query: ["paper", "launch"],
    options: { ...options, phrase_combine: "all", fields: ["labels"] },
  },
  { query: "launch", options: { ...options, weights: { title: 0 } } },
  { query: "kastnar", options: { ...options, fuzzy: true } },
  { query: "lanch chekclist", options: { ...options, fuzzy: true } },
  { query: ["vehcile", "launhc"], options: { ...options, fuzzy: true, max_candidates: 2 } },
  { query: ["sao", "οδοσ"], options },
  { query: "nowhere", options: { ...options, fuzzy: true } },
];

/** Words that the other tenant writes: those of the first, and so many near them that they would crowd them out. */
const letters = [..."abcdefghijklmnopqrstuvwxyz"];
const near = letters.flatMap((letter) => [
  `kastn${letter}r`,
  `kast${letter}ar`,
  `launc${letter}`,
  `lan${letter}h`,
]);
const words = [...near, "launch", "checklist", "crew", "paper", "kastner", "vehicle", "ranges"];
const foreign: fc.Arbitrary<Written> = fc.record({
  title: fc
    .array(fc.constantFrom(...words), { minLength: 1, maxLength: 12 })
    .map((some) => some.join(" ")),
  labels: fc.array(fc.constantFrom(...words), { maxLength: 4 }),
});

async function write(people: People, who: Member, { title, labels }: Written): Promise<string> {
  const { status, body } = await people.as(who.token, "POST", "/tasks", { title, project, labels });
  expect(status).toBe(201);
  return body.id;
}

interface Opened {
  readonly service: TestService;
  readonly people: People;
  readonly member: Member;
}

async function open(engine: (typeof engines)[number]): Promise<Opened> {
  const service = await startTestService(engine, { signsIn: false });
  const people = peopleOf(service);
  const member = await people.member("", "tasks.read", "tasks.write");
  for (const one of own) await write(people, member, one);
  return { service, people, member };
}

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let opened: Opened;
    beforeAll(async () => {
      opened = await open(engine);
    });
    afterAll(() => opened.service.stop());

    /** Every answer as it comes, and every page of a walk by cursor. */
    const answers = async (): Promise<readonly string[]> => {
      const { service, member } = opened;
      const ask = async (path: string, body: object): Promise<string> => {
        const response = await fetch(`${service.url}/search/tasks/${path}`, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${member.token}` },
          body: JSON.stringify(body),
        });
        expect(response.status).toBe(200);
        return response.text();
      };
      const all: string[] = [];
      for (const query of queries) {
        all.push(await ask("typed", query));
        for (let after: string | null | undefined; after !== null;) {
          const page = await ask("typed_cursor", { ...query, size: 2, ...(after && { after }) });
          all.push(page);
          after = (JSON.parse(page) as { readonly next_cursor: string | null }).next_cursor;
        }
      }
      return all;
    };

    test("writes of another tenant leave every byte of a tenant's answers as it was", async () => {
      const { people } = opened;
      const other = await people.member("", "tasks.read", "tasks.write", "tasks.admin");
      const before = await answers();
      // What is to stay found is found.
      for (const answer of before.filter((text) => text.includes(`"page":`)).slice(0, -1))
        expect((JSON.parse(answer) as { readonly count: number }).count).toBeGreaterThan(0);
      const written = fc.sample(foreign, { numRuns: 60, seed: 7 });
      for (const title of near) await write(people, other, { title, labels: [] });
      for (const [index, one] of written.entries()) {
        const id = await write(people, other, one);
        const [again] = written.slice(index - 1);
        if (index % 3 === 1)
          await people.as(other.token, "PATCH", `/tasks/${id}?rev=1`, { title: again?.title });
        if (index % 3 === 2) await people.as(other.token, "POST", `/tasks/${id}/delete?rev=1`);
        if (index % 20 === 0) expect(await answers()).toEqual(before);
      }
      expect(await answers()).toEqual(before);
    }, 60_000);

    test("an occurrence more counts for more, a longer text for less", async () => {
      const { people } = opened;
      const who = await people.member("", "tasks.read", "tasks.write");
      const titles = ["zebra", "zebra in the very long grass of the wide steppe", "zebra zebra"];
      for (const title of titles) await write(people, who, { title, labels: [] });
      const { body } = await people.as(who.token, "POST", "/search/tasks/typed", {
        query: "zebra",
      });
      const found = body.hits.map(({ title }: Written) => title);
      expect(found).toEqual([titles[2], titles[0], titles[1]]);
    });
  });
}

test.skipIf(engines.some(({ isAvailable }) => !isAvailable))(
  "both engines give the same documents the same scores",
  async () => {
    const all = await Promise.all(engines.map(open));
    const scored = all.map(({ people, member }) =>
      Promise.all(
        queries.map(async (body) => {
          const answer = await people.as(member.token, "POST", "/search/tasks/typed", body);
          return answer.body.hits.map(({ title }: Written, at: number) => [
            title,
            answer.body.scores[at],
          ]);
        }),
      ),
    );
    const [first, ...others] = await Promise.all(scored);
    for (const other of others) expect(other).toEqual(first);
    await Promise.all(all.map(({ service }) => service.stop()));
  },
  60_000,
);
