// A registry that changes again and again: versions that follow each other run side by side on one database, write and read,
// and each answers what its own document says. A failing history is replayed by OPWRIGHT_TEST_SEED;
// OPWRIGHT_TEST_HISTORIES says how many there are (`npm run test:long`).
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { engines, sharedDatabase, type TestEngine } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const seed = Number(process.env["OPWRIGHT_TEST_SEED"] ?? 1);
const numRuns = Number(process.env["OPWRIGHT_TEST_HISTORIES"] ?? 2);

/**
 * Members that come, go and are renamed, each with its two names, its type as the registry has it, and values that fit, which
 * may have another name beside the second; one of the first two is the default.
 */
const kinds = {
  state: {
    names: ["state", "status"],
    type: "string",
    values: ["low", "mid", "high"],
    others: ["low", "middle", "top"],
  },
  size: { names: ["size", "points"], type: "integer", values: [0, 7, 42] },
  owner: {
    names: ["owner", "holder"],
    type: '[string, "null"], format: uuid',
    values: [null, "01890000-0000-7000-8000-000000000001"],
  },
  flag: { names: ["flag", "done"], type: "boolean", values: [false, true] },
  labels: {
    names: ["labels", "tags"],
    type: "array, items: {type: string}",
    values: [[], ["a"], ["a", "b"]],
  },
} as const;
type Member = keyof typeof kinds;
const names = Object.keys(kinds) as Member[];

/** A version: which members documents have, by which of their names, and the default of each. */
type Version = ReadonlyMap<Member, { readonly at: number; readonly name: 0 | 1 }>;

const nameOf = (version: Version, member: Member): string =>
  kinds[member].names[version.get(member)?.name ?? 0];

function valuesOf(version: Version, member: Member): readonly unknown[] {
  const kind = kinds[member];
  return "others" in kind && version.get(member)?.name === 1 ? kind.others : kind.values;
}

const versionOf = fc
  .uniqueArray(
    fc.tuple(
      fc.constantFrom(...names),
      fc.nat({ max: 1 }),
      fc.constantFrom(0 as const, 1 as const),
    ),
    { selector: ([name]) => name, maxLength: names.length },
  )
  .map((members): Version => new Map(members.map(([member, at, name]) => [member, { at, name }])));

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

function registryOf(
  version: Version,
  before: Version = new Map(),
): Readonly<Record<string, string>> {
  const documents = version.size % 2 === 0 ? "notes" : "memos";
  const members = [...version.keys()].map((member) => {
    const name = nameOf(version, member);
    const [old, called] = [before, version].map((one) => valuesOf(one, member));
    const was = before.has(member) && nameOf(before, member) !== name;
    const values = (called ?? []).map((value, at) =>
      was && old?.[at] !== value ? `{value: ${value}, was: ${old?.[at]}}` : value,
    );
    return `      ${name}: {type: ${kinds[member].type}${member === "state" ? `, enum: [${values.join(", ")}]` : ""}${was ? `, was: ${nameOf(before, member)}` : ""}}\n`;
  });
  const defaults = [...version].map(
    ([member, { at }]) =>
      `      ${nameOf(version, member)}: ${JSON.stringify(valuesOf(version, member)[at])}\n`,
  );
  const indexed = [...version.keys()].filter((member) => member === "state" || member === "size");
  return {
    "registry/service.yaml": `registry: 1
service: {name: demo, title: Demo, version: 1.0.0}
policies:
  open: []
documents:
  ${documents}:
${documents === "notes" ? "" : "    was: notes\n"}    mount: {at: /notes}
    guard: open
    history: true
    type:
      text: string
${members.join("")}${defaults.length === 0 ? "" : `    defaults:\n${defaults.join("")}`}${indexed.length === 0 ? "" : `    indexes: [${indexed.map((member) => `[${nameOf(version, member)}]`).join(", ")}]\n`}`,
  };
}

const picked = (version: Version, picks: readonly (readonly [Member, number])[]): object =>
  Object.fromEntries(
    picks
      .filter(([member]) => version.has(member))
      .map(([member, at]) => {
        const values = valuesOf(version, member);
        return [nameOf(version, member), values[at % values.length]];
      }),
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
  const declared = [...version.keys()].map((member) => nameOf(version, member));
  for (const hit of hits) {
    expect(Object.keys(hit).toSorted()).toEqual([...base, ...declared].toSorted());
    for (const member of version.keys())
      expect(valuesOf(version, member)).toContainEqual(hit[nameOf(version, member)]);
    const one = await service.call("GET", `/notes/${String(hit["id"])}`);
    expect(one.body).toEqual(hit);
  }
  for (const member of version.keys()) {
    if (member === "labels" || !beside.has(member)) continue;
    const name = nameOf(version, member);
    for (const value of valuesOf(version, member)) {
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
    expect(order).toEqual(order.toSorted(compared(member)));
  }
}

function compared(member: Member): (one: unknown, other: unknown) => number {
  const rank = (value: unknown): number | string =>
    member === "state" || member === "owner" ? ((value as string | null) ?? "") : Number(value);
  return (one, other) => (rank(one) < rank(other) ? -1 : rank(one) > rank(other) ? 1 : 0);
}

async function live(engine: TestEngine, steps: readonly Step[]): Promise<void> {
  const { same, drop } = await sharedDatabase(engine);
  const written: string[] = [];
  let older: Running | undefined;
  let newer: Running | undefined;
  try {
    for (const { version, actions } of steps) {
      await older?.service.stop();
      older?.project.remove();
      older = newer;
      const project = await testProject(registryOf(version, older?.version), older?.project);
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
