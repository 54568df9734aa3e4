// Words that JavaScript reserves, or that mean something in strict mode or in TypeScript, as names of all that a registry names.
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { namespaceImport } from "../../generator/emit/client/functions.js";
import { outcomesOf, type Outcome } from "../property/registries/program.js";
import type { Json } from "../property/registries/world.js";

/** ECMA-262 §12.7.2: reserved words, also those of strict mode and modules, and words with a meaning of their own. */
const words = (
  "await break case catch class const continue debugger default delete do else enum export extends false finally for " +
  "function if import in instanceof new null return super switch this throw true try typeof var void while with yield " +
  "let static implements interface package private protected public " +
  "arguments eval async of get set undefined " +
  // Words of TypeScript, and names that modules have without an import.
  "abstract any as asserts bigint boolean declare global infer intrinsic is keyof module namespace never number object " +
  "out override readonly require satisfies string symbol type unique unknown using accessor constructor exports"
).split(" ");

/** Names that a registry is told to leave. */
const ownNames = [
  "BoundInput",
  "ErrorEnvelope",
  "Handler",
  "HookFunctions",
  "MediaAnswer",
  "ReplyingHandler",
  "TokenResponse",
];
/** What generated modules import, or declare for themselves, and globals of TypeScript. */
const typeNames = [
  ...namesIn("../../runtime/index.ts"),
  ...namesIn("../../client/core.ts"),
  ...namesIn("../../client/signals.ts"),
  ..."Array Record Promise Readonly Partial Omit Pick Date Error Map Set Symbol Object String".split(
    " ",
  ),
].filter((name) => !ownNames.includes(name));

/** Upper-case names that a module names. */
function namesIn(module: string): readonly string[] {
  const text = readFileSync(new URL(module, import.meta.url), "utf8");
  return [...new Set(text.match(/\b[A-Z][A-Za-z]+\b/g))];
}

let files = 0;
/** A function in a file of its own: each operation has a type of its own. */
const run = (): string => `registry/run${(files += 1)}.ts#go`;
/** A member that is called so would be one of every object. */
const fields = words.filter((word) => word !== "constructor");
const each = (make: (word: string) => unknown, of = words): Json =>
  Object.fromEntries(of.map((word) => [word, make(word)]));

/** Each kind of name, with all words. */
const registries: Readonly<Record<string, Json>> = {
  "namespaces of operations": {
    operations: Object.fromEntries(
      words.map((word) => [
        `${word}.go`,
        {
          post: `/a/${word}`,
          in: { n: "integer" },
          out: { n: "integer" },
          run: run(),
          guard: "open",
        },
      ]),
    ),
  },
  operations: {
    operations: Object.fromEntries(
      words.flatMap((word) => [
        [`things.${word}`, { post: `/a/${word}`, in: { n: "integer" }, run: run(), guard: "open" }],
        [
          `reads.${word}`,
          {
            get: `/b/${word}`,
            in: { n: "integer?" },
            out: { n: "integer" },
            run: run(),
            guard: "open",
          },
        ],
      ]),
    ),
  },
  "members that travel in the query and the path": {
    operations: Object.fromEntries(
      fields.map((word) => [
        `things.go_${word}`,
        {
          get: `/a/${word}/{id}`,
          in: { id: "string", [word]: "string?" },
          run: run(),
          guard: "open",
        },
      ]),
    ),
  },
  "fields of a document": {
    documents: { notes: { type: each(() => "string?", fields), guard: "open", soft_delete: true } },
  },
  documents: {
    documents: each(() => ({ type: { text: "string" }, guard: "open" })),
  },
  searches: {
    documents: { notes: { type: { text: "string" }, guard: "open" } },
    search: each(() => ({ of: "notes", text: ["text"], guard: "open" })),
  },
  storages: { storage: each(() => ({ guard: "open" })) },
  "signals and commands": {
    identity: {},
    realtime: {
      events: Object.fromEntries(
        words.map((word) => [
          `things.${word}`,
          { data: { n: "integer" }, audience: ["principal"], delivery: "durable" },
        ]),
      ),
      commands: Object.fromEntries(
        words.map((word) => [`do.${word}`, { operation: `things.${word}` }]),
      ),
    },
    operations: Object.fromEntries(
      words.map((word) => [
        `things.${word}`,
        { post: `/a/${word}`, in: { n: "integer" }, run: run(), guard: "open" },
      ]),
    ),
  },
  "types that documents carry": carriedBy(
    "documents",
    "d_",
    (name) => ({ type: name, guard: "open" }),
    {
      links: {
        type: Object.fromEntries(
          typeNames.map((name) => [snakeCase(name), { ref: `d_${snakeCase(name)}` }]),
        ),
        guard: "open",
      },
    },
  ),
  "types that errors carry": carriedBy("errors", "e_", (name) => ({
    kind: "conflict",
    detail: "No.",
    context: name,
  })),
  "types that events of the outbox carry": carriedBy("outbox", "o.", (name) => ({
    destination: "log",
    data: name,
  })),
  "types that signals carry": carriedBy("realtime", "s.", (name) => ({
    data: name,
    audience: ["principal"],
    delivery: "durable",
  })),
  "types that operations carry": carriedBy("operations", "t.", (name) => ({
    post: `/t/${snakeCase(name)}`,
    in: name,
    out: name,
    run: run(),
    guard: "open",
  })),
  "types that are called like codes of operations": {
    types: { NotesCode: { n: "integer" }, NotesGetCode: { n: "integer" } },
    documents: { notes: { type: { one: "NotesCode?", two: "NotesGetCode?" }, guard: "open" } },
  },
};

/** Types of these names, and what carries each of them. */
function carriedBy(
  section: string,
  prefix: string,
  carrier: (name: string) => unknown,
  more: Json = {},
): Json {
  const carriers = typeNames.map((name) => [`${prefix}${snakeCase(name)}`, carrier(name)]);
  const events = { events: Object.fromEntries(carriers) };
  const hasEvents = section === "outbox" || section === "realtime";
  return {
    identity: {},
    types: Object.fromEntries(typeNames.map((name) => [name, { n: "integer" }])),
    [section]: hasEvents ? events : { ...Object.fromEntries(carriers), ...more },
  };
}

function snakeCase(name: string): string {
  return name.replaceAll(/(?<=.)[A-Z]/g, (one) => `_${one}`).toLowerCase();
}

const head = {
  registry: 1,
  service: { name: "demo", title: "Demo", version: "1.0.0" },
  policies: { open: [] },
};

describe("all words, as names of", () => {
  const kinds = Object.keys(registries);
  let outcomes: readonly Outcome[] = [];
  beforeAll(async () => {
    outcomes = await outcomesOf(
      Object.values(registries).map((sections) => ({ ...head, ...(sections as object) })),
    );
  }, 300_000);

  test.each(kinds)("%s", (kind) => {
    expect(outcomes[kinds.indexOf(kind)]).toEqual({ kind: "sound" });
  });
});

test("examples import a namespace under a word that a module can bind", () => {
  for (const word of words) {
    const { local } = namespaceImport(word);
    expect(() => new Function(`"use strict"; const ${local} = 1;`), local).not.toThrow();
  }
});

test("a type that is called like the input of an operation is refused, and the refusal says which", async () => {
  const [outcome] = await outcomesOf([
    {
      ...head,
      types: { NotesListInput: { n: "integer" } },
      documents: { notes: { type: { one: "NotesListInput?" }, guard: "open" } },
    },
  ]);
  expect(outcome).toMatchObject({
    kind: "refused",
    findings: [
      {
        code: "OPW003",
        message: "the client of notes.list needs the name NotesListInput for a type of its own",
        at: { path: ["types", "NotesListInput"] },
      },
    ],
  });
});
