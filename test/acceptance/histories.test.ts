// A registry that changes again and again: versions that follow each other run side by side on one database, write and read,
// and each answers what its own document says. A failing history is replayed by OPWRIGHT_TEST_SEED;
// OPWRIGHT_TEST_HISTORIES says how many there are (`npm run test:long`).
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { engines, type TestEngine } from "../engines.js";
import { testProject, type TestProject } from "./project-service.js";
import type { TestService } from "./service.js";

const seed = Number(process.env["OPWRIGHT_TEST_SEED"] ?? 1);
const numRuns = Number(process.env["OPWRIGHT_TEST_HISTORIES"] ?? 3);

/** Members that come and go, each with its type as the registry has it, and values that fit; the first is its default. */
const kinds = {
  state: { type: "[low, mid, high]", values: ["low", "mid", "high"] },
  size: { type: "integer", values: [0, 7, 42] },
  owner: { type: "uuid?", values: [null, "01890000-0000-7000-8000-000000000001"] },
  flag: { type: "boolean", values: [false, true] },
  labels: { type: '"string[]"', values: [[], ["a"], ["a", "b"]] },
} as const;
type Member = keyof typeof kinds;
const names = Object.keys(kinds) as Member[];

/** A version: which members documents have, and the default of each; and which are in an index. */
type Version = ReadonlyMap<Member, number>;

const versionOf = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...names), fc.nat({ max: 1 })), {
    selector: ([name]) => name,
    maxLength: names.length,
  })
  .map((members): Version => new Map(members));

const action = fc.record({
  by: fc.boolean(),
  kind: fc.constantFrom("create", "patch", "patch"),
  at: fc.nat({ max: 20 }),
  picks: fc.array(fc.tuple(fc.constantFrom(...names), fc.nat({ max: 2 })), { maxLength: 3 }),
});
const step = fc.record({
  version: versionOf,
  actions: fc.array(action, { minLength: 2, maxLength: 8 }),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
const history = fc.array(step, { minLength: 4, maxLength: 10 });

function registryOf(version: Version): Readonly<Record<string, string>> {
  const members = [...version].map(([name]) => `      ${name}: ${kinds[name].type}\n`);
  const defaults = [...version].map(
    ([name, at]) => `      ${name}: ${JSON.stringify(kinds[name].values[at])}\n`,
  );
  const indexed = [...version.keys()].filter((name) => name === "state" || name === "size");
  return {
    "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies:
  open: []
documents:
  notes:
    guard: open
    history: true
    type:
      text: string
${members.join("")}${defaults.length === 0 ? "" : `    defaults:\n${defaults.join("")}`}${indexed.length === 0 ? "" : `    indexes: [${indexed.map((name) => `[${name}]`).join(", ")}]\n`}`,
  };
}

const picked = (version: Version, picks: readonly (readonly [Member, number])[]): object =>
  Object.fromEntries(
    picks
      .filter(([name]) => version.has(name))
      .map(([name, at]) => [name, kinds[name].values[at % kinds[name].values.length]]),
  );

/** A version at work, with what it declares. */
interface Running {
  readonly version: Version;
  readonly project: TestProject;
  readonly service: TestService;
}

type Body = Readonly<Record<string, unknown>>;

/**
 * Each answer has the members that its version declares, with values that fit, and queries by a member agree with reads. What
 * a newer version beside has dropped is read as its default, but not found by it.
 */
async function isTrue({ version, service }: Running, beside: Version = version): Promise<void> {
  const listed = await service.post("/notes/list", { size: 100 });
  expect(listed.status).toBe(200);
  const hits = listed.body.hits as readonly Body[];
  const base = ["id", "rev", "created_at", "last_update_at", "text"];
  for (const hit of hits) {
    expect(Object.keys(hit).toSorted()).toEqual([...base, ...version.keys()].toSorted());
    for (const name of version.keys()) expect(kinds[name].values).toContainEqual(hit[name]);
    const one = await service.call("GET", `/notes/${String(hit["id"])}`);
    expect(one.body).toEqual(hit);
  }
  for (const name of version.keys()) {
    if (name === "labels" || !beside.has(name)) continue;
    for (const value of kinds[name].values) {
      const constraint = value === null ? { $null: true } : value;
      const found = await service.post("/notes/list", {
        filters: { $values: { [name]: constraint } },
      });
      expect([found.status, found.body.count]).toEqual([
        200,
        hits.filter((hit) => hit[name] === value).length,
      ]);
    }
    const sorted = await service.post("/notes/list", { size: 100, sorts: { [name]: "asc" } });
    const order = (sorted.body.hits as readonly Body[]).map((hit) => hit[name]);
    expect(order).toEqual(order.toSorted(compared(name)));
  }
}

function compared(name: Member): (one: unknown, other: unknown) => number {
  const rank = (value: unknown): number | string =>
    name === "state" || name === "owner" ? ((value as string | null) ?? "") : Number(value);
  return (one, other) => (rank(one) < rank(other) ? -1 : rank(one) > rank(other) ? 1 : 0);
}

async function live(engine: TestEngine, steps: readonly Step[]): Promise<void> {
  const { url, drop } = await engine.create();
  const same: TestEngine = {
    ...engine,
    create: async () => ({ url, drop: async () => undefined }),
  };
  const written: string[] = [];
  let older: Running | undefined;
  let newer: Running | undefined;
  try {
    for (const { version, actions } of steps) {
      await older?.service.stop();
      older?.project.remove();
      older = newer;
      const project = await testProject(registryOf(version), older?.project);
      newer = { version, project, service: await project.start(same) };
      for (const { by, kind, at, picks } of actions) {
        const who = by && older !== undefined ? older : newer;
        await act(who, kind, at, picks, written);
      }
      await isTrue(newer);
      if (older !== undefined) await isTrue(older, newer.version);
    }
  } finally {
    for (const running of [older, newer]) {
      await running?.service.stop();
      running?.project.remove();
    }
    await drop();
  }
}

/** Writes as a caller of that version would; what a patch says is what is read afterwards, where the version has it. */
async function act(
  { version, service }: Running,
  kind: string,
  at: number,
  picks: readonly (readonly [Member, number])[],
  written: string[],
): Promise<void> {
  const given = picked(version, picks);
  const id = written[at % Math.max(1, written.length)];
  if (kind === "create" || id === undefined) {
    const { status, body } = await service.post("/notes", { text: `n${written.length}`, ...given });
    expect(status).toBe(201);
    expect(body).toMatchObject(given);
    written.push(body.id);
    return;
  }
  const before = (await service.call("GET", `/notes/${id}`)).body as Body;
  const text = `${String(before["text"])}+`;
  const patched = await service.call("PATCH", `/notes/${id}?rev=${String(before["rev"])}`, {
    body: { text, ...given },
  });
  expect(patched.status).toBe(200);
  const after = (await service.call("GET", `/notes/${id}`)).body as Body;
  expect(after).toMatchObject({ text });
}

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    test.each(Array.from({ length: numRuns }, (_, at) => seed + at))(
      "history %i",
      async (one) => {
        const [steps = []] = fc.sample(history, { numRuns: 1, seed: one });
        await live(engine, steps);
      },
      120_000,
    );
  });
}
