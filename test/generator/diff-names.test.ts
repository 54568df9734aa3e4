// What opwright diff tells of names under which something is stored: a rename that says so is one change, one that doesn't
// leaves things behind.
import { expect, test } from "vitest";
import { tellingWith } from "./told-between.js";

const { changes, rollout } = tellingWith("export const first = async () => undefined;\n");

interface Declared {
  readonly writer?: string;
  readonly documents?: string;
  readonly event?: string;
  readonly webhooks?: string;
  readonly signal?: string;
}

const registry = ({
  writer = '{authorize: "{resource}.write"}',
  documents = "notes: {",
  event = "notes.made: {guard: reader, ",
  webhooks = "",
  signal = "note.made: {",
}: Declared = {}): string => `registry: 1
identity: {}
policies:
  reader: [principal, {authorize: notes.see}]
  writer: [principal, ${writer}]
types: {Told: {text: string}}
documents:
  ${documents}type: {text: string}, guard: writer, mount: {at: /notes}}
outbox:
  events:
    ${event}destination: there, data: Told}
webhooks: {guard: reader${webhooks}}
realtime:
  events:
    ${signal}data: Told, audience: [principal], delivery: durable}
`;

const told = async (after: Declared, before: Declared = {}): Promise<readonly string[]> =>
  (await changes(registry(before), registry(after))).filter(
    (text) => !/ is gone| is new|^documentation (?!.*was called)/.test(text),
  );
const taken = async (after: Declared, before: Declared = {}) => {
  const { verdict, steps } = await rollout(registry(before), registry(after));
  return [verdict, ...steps];
};

const edit = '{authorize: "{resource}.edit"';

test("a permission that says what it was called opens nothing and leaves nothing", async () => {
  const writer = `${edit}, was: "{resource}.write"}`;
  const all = await told({ writer });
  expect(all).toContain(
    "documentation notes.create needs notes.edit, which was called notes.write",
  );
  expect(all.filter((text) => !text.startsWith("documentation"))).toEqual([]);
  expect(await taken({ writer })).toEqual(["safe to roll"]);
});

test("one that doesn't leaves its grants behind", async () => {
  const writer = `${edit}}`;
  const all = await told({ writer });
  expect(all).toContain("breaking notes.create needs notes.edit");
  expect(all).toContain("opens notes.create needs no notes.write");
  expect(await taken({ writer })).toEqual([
    "leaves stored things behind",
    "grants of notes.write stay stored, and nothing asks for them: if notes.edit is the same, say what it was called (`was`)",
  ]);
});

test("grants that count for another permission from now on open it, and none are taken when `was` goes", async () => {
  const writer = `${edit}, was: "{resource}.write"}`;
  expect(await told({ writer }, { writer: `${edit}}` })).toContain(
    "opens notes.create takes grants of notes.write as notes.edit",
  );
  expect(await told({ writer: `${edit}}` }, { writer })).toContain(
    "breaking notes.create no longer takes grants of notes.write",
  );
  expect(await taken({ writer: `${edit}}` }, { writer })).toContain("leaves stored things behind");
});

test("grants follow a document that says what it was called", async () => {
  const documents = "memos: {was: notes, ";
  const all = await told({ documents });
  expect(all.filter((text) => text.startsWith("opens"))).toEqual([]);
  expect(await taken({ documents })).toEqual(["safe to roll"]);
});

test("an event and a signal that say what they were called are one change each", async () => {
  const named = {
    event: "notes.written: {was: notes.made, guard: reader, ",
    signal: "note.written: {was: note.made, ",
  };
  expect(await told(named)).toEqual(
    expect.arrayContaining([
      "breaking integration event notes.written was called notes.made",
      "breaking event note.written was called note.made",
    ]),
  );
  expect((await told(named)).filter((text) => text.startsWith("opens"))).toEqual([]);
  expect(await taken(named)).toEqual([
    "clients meet both versions",
    "events notes.made go out as notes.written where the next version delivers them, those that wait as well: receivers have to know both names while both versions run",
    "signals note.made are called note.written on connections to the next version, those that are kept as well: clients of each version have to connect to it",
  ]);
});

test("those that don't leave behind what waits, what is kept and who subscribes", async () => {
  const named = { event: "notes.written: {guard: reader, ", signal: "note.written: {" };
  const [verdict, ...steps] = await taken(named);
  expect([verdict, steps.join("\n")]).toEqual([
    "leaves stored things behind",
    expect.stringMatching(/say `was: notes\.made`[^]*say `was: note\.made`/),
  ]);
});

test("the audience of a renamed event is compared with that of its former name", async () => {
  const open = { event: "notes.written: {was: notes.made, guard: writer, " };
  expect(await told(open)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^breaking .*asks .*write of who hears notes\.written$/),
    ]),
  );
  const heard = { event: "notes.written: {was: notes.made, guard: reader, " };
  expect(
    await told(heard, {
      event:
        "notes.other: {guard: reader, destination: there, data: Told}\n    notes.made: {guard: reader, ",
      webhooks: ", events: [notes.other]",
    }),
  ).toContain("opens webhooks lets subscribers hear notes.written");
});
