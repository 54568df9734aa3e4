// What authors' code answers is what the document says: handlers and hooks that try to break out (service.md "Answers of the team's code").
import { Readable } from "node:stream";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { formats } from "../../../runtime/contract/validation.js";
import { JsonText, outputValue } from "../../../runtime/index.js";
import { ByteReply } from "../../../runtime/operations/byte-reply.js";
import type { Log } from "../../../runtime/ports/log.js";
import { engines } from "../../support/engines.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { Answer, TestService } from "../../support/service.js";

const someId = "01890000-0000-7000-8000-000000000001";

const registry = `registry: 1
service: {name: answers, title: Answers, version: 1.0.0}
types:
  Person: {id: uuid, name: {type: string, maxLength: 5}, joined: date-time?}
  Tree: {name: string, children: "Tree[]"}
  Shape:
    oneOf:
      - {type: object, properties: {kind: {const: circle}, radius: {type: number}}, required: [kind, radius], additionalProperties: false}
      - {type: object, properties: {kind: {const: square}, side: {type: number}}, required: [kind, side], additionalProperties: false}
  Either: {oneOf: [{type: object, properties: {a: {type: integer}}, required: [a], additionalProperties: false}, {type: object, properties: {b: {type: integer}}, required: [b], additionalProperties: false}]}
  Open: {type: object, properties: {id: {type: string, format: uuid}, owner: {$ref: Person}}, required: [id]}
documents:
  notes: {type: {text: string, secret: string}, guard: around}
hooks:
  around: {phase: wrap, run: registry/hooks/around.ts#around}
policies: {open: [], around: [around]}
operations:
  say.person: {post: /person, in: {what: string}, out: Person, run: registry/handlers/say.ts#say, guard: open, idempotency: true}
  say.team: {post: /team, in: {what: string}, out: {lead: Person, members: "Person[]", deputy: Person?}, run: registry/handlers/say.ts#say, guard: open}
  say.tree: {post: /tree, in: {what: string}, out: Tree, run: registry/handlers/say.ts#say, guard: open}
  say.shape: {post: /shape, in: {what: string}, out: Shape, run: registry/handlers/say.ts#say, guard: open}
  say.either: {post: /either, in: {what: string}, out: Either, run: registry/handlers/say.ts#say, guard: open}
  say.open: {post: /open, in: {what: string}, out: Open, run: registry/handlers/say.ts#say, guard: open}
  say.counts: {post: /counts, in: {what: string}, out: {type: object, additionalProperties: {type: integer}, maxProperties: 2}, run: registry/handlers/say.ts#say, guard: open}
  say.list: {post: /list, in: {what: string}, out: "Person[]", run: registry/handlers/say.ts#say, guard: open}
  say.count: {get: /count, in: {what: string}, out: integer, run: registry/handlers/say.ts#say, guard: open}
  say.nothing: {post: /nothing, in: {what: string}, run: registry/handlers/say.ts#say, guard: open}
  say.note: {post: /note, in: {text: string}, out: {id: uuid}, run: registry/handlers/say.ts#note, guard: open}
  say.around: {post: /around, in: {what: string}, out: Person, run: registry/handlers/say.ts#say, guard: open, hooks: {wrap: [registry/hooks/around.ts#around], tx_after: [registry/hooks/around.ts#meddle]}}
`;

/** What handlers answer, by name; they read it from the global object. */
const answers: Record<string, () => unknown> = {};
const meddling: { around: ((output: unknown) => unknown) | undefined; seen: unknown } = {
  around: undefined,
  seen: undefined,
};
Object.assign(globalThis, { answersUnderTest: answers, meddlingUnderTest: meddling });

const files = {
  "registry/service.yaml": registry,
  "registry/handlers/say.ts": `import { collection } from "opwright/runtime";
import { notesSpec } from "../../generated/documents/notes.js";
export const say = ({ what }) => globalThis.answersUnderTest[what]();
export const note = ({ text }, context) => collection(notesSpec, context).create({ text, secret: "s" });
`,
  "registry/hooks/around.ts": `export const around = async (input, _context, next) => {
  const { around } = globalThis.meddlingUnderTest;
  const output = await next(input);
  return around === undefined ? output : around(output);
};
export const meddle = (_input, _context, output) => {
  globalThis.meddlingUnderTest.seen = output;
  output.extra = "leak";
};
`,
};

/** What the log is told of a failure. */
const failures: string[] = [];
const log: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (fields) => void failures.push(String((fields as { readonly err?: unknown }).err)),
};

class Person {
  readonly #secret = "leak";
  readonly id = someId;
  readonly password = "leak";
  get name(): string {
    return "Ada";
  }
  reveal(): string {
    return this.#secret;
  }
}

const ada = { id: someId, name: "Ada" };
const told = (text: string): object => ({ toJSON: () => JSON.parse(text) as unknown });
const throwing = (members: object, name: string): object =>
  Object.defineProperty({ ...members }, name, {
    enumerable: true,
    get: () => {
      throw new Error("a getter");
    },
  });
const circular = (): object => {
  const tree: { name: string; children: unknown[]; leak?: unknown } = { name: "a", children: [] };
  tree.children.push(tree);
  return tree;
};
const changing = (): object => {
  let reads = 0;
  return Object.defineProperty({ id: someId }, "name", {
    enumerable: true,
    get: () => ((reads += 1) === 1 ? "Ada" : { leak: "leak" }),
  });
};

/** What is answered, by the operation and what its handler returns. */
const kept: readonly (readonly [string, string, () => unknown, unknown])[] = [
  ["a member that is not declared", "/person", () => ({ ...ada, extra: "leak" }), ada],
  ["a promise of one", "/person", async () => ({ ...ada, extra: "leak" }), ada],
  ["an instance of a class", "/person", () => new Person(), ada],
  ["members of a prototype", "/person", () => Object.create({ ...ada, extra: "leak" }), ada],
  ["undefined where it is optional", "/person", () => ({ ...ada, joined: undefined }), ada],
  [
    "a Date",
    "/person",
    () => ({ ...ada, joined: new Date(0) }),
    { ...ada, joined: "1970-01-01T00:00:00.000Z" },
  ],
  ["toJSON", "/person", () => told(JSON.stringify({ ...ada, extra: "leak" })), ada],
  ["JSON text", "/person", () => new JsonText(JSON.stringify({ ...ada, extra: "leak" })), ada],
  [
    "JSON text that says a member twice",
    "/person",
    () => new JsonText(`{"id":"leak","id":"${someId}","name":"Ada"}`),
    ada,
  ],
  ["a getter that changes its mind", "/person", changing, ada],
  ["a getter that throws and is not declared", "/person", () => throwing(ada, "extra"), ada],
  [
    "a circle through what is not declared",
    "/person",
    () => {
      const one: object = { ...ada, self: [] };
      Object.assign(one, { self: one });
      return one;
    },
    ada,
  ],
  [
    "members at every depth",
    "/team",
    () => ({
      lead: { ...ada, x: "leak" },
      members: [{ ...ada, y: "leak" }],
      deputy: { ...ada, z: { a: "leak" } },
      w: ["leak"],
    }),
    { lead: ada, members: [ada], deputy: ada },
  ],
  ["members in a list", "/list", () => [{ ...ada, extra: "leak" }, new Person()], [ada, ada]],
  [
    "members of a type that holds itself",
    "/tree",
    () => ({ name: "a", leak: "leak", children: [{ name: "b", leak: "leak", children: [] }] }),
    { name: "a", children: [{ name: "b", children: [] }] },
  ],
  [
    "members of the other alternative",
    "/shape",
    () => ({ kind: "square", side: 1, radius: "leak" }),
    { kind: "square", side: 1 },
  ],
  [
    "an undeclared member that would choose another alternative",
    "/either",
    () => ({ a: 1, b: "leak" }),
    { a: 1 },
  ],
  [
    "what an open type leaves open",
    "/open",
    () => ({ id: someId, more: [1], owner: { ...ada, extra: "leak" } }),
    { id: someId, more: [1], owner: ada },
  ],
  ["a map", "/counts", () => ({ a: 1, b: undefined, c: 2, d: undefined }), { a: 1, c: 2 }],
  [
    "a prototype among the members of a map",
    "/counts",
    () => JSON.parse('{"a":1,"__proto__":{"b":"leak"}}'),
    { a: 1 },
  ],
];

/** What is a masked 500, and the place that the log names. */
const refused: readonly (readonly [string, string, () => unknown, string])[] = [
  ["a wrong type", "/person", () => ({ ...ada, id: 5 }), "/id must be string"],
  [
    "a wrong type at depth",
    "/team",
    () => ({ lead: ada, members: [ada, { ...ada, id: "x" }] }),
    "/members/1/id must match",
  ],
  [
    "a value that is too long",
    "/person",
    () => ({ ...ada, name: "longer than five" }),
    "/name must NOT have more",
  ],
  ["a member that is missing", "/person", () => ({ id: someId }), "/name must have"],
  [
    "undefined where it is not optional",
    "/person",
    () => ({ id: someId, name: undefined }),
    "/name must have",
  ],
  ["undefined", "/person", () => undefined, "it must be object"],
  ["null", "/person", () => null, "it must be object"],
  ["a function", "/person", () => () => ada, "it must be object"],
  ["a list instead of an object", "/person", () => [ada], "it must be object"],
  ["a hole in a list", "/list", () => [ada, undefined], "/1 must be object"],
  [
    "a getter that throws",
    "/person",
    () => throwing({ id: someId }, "name"),
    "/name cannot be read",
  ],
  ["a circle", "/tree", circular, "/children/0 is circular"],
  [
    "a circle in what is open",
    "/open",
    () => {
      const one: object = { id: someId };
      return Object.assign(one, { one });
    },
    "/one is circular",
  ],
  ["a BigInt", "/open", () => ({ id: someId, n: [1n] }), "/n/0 is a BigInt"],
  ["a number that is none", "/counts", () => ({ a: Number.NaN }), "/a must be integer"],
  [
    "a number without end",
    "/counts",
    () => ({ a: Number.POSITIVE_INFINITY }),
    "/a must be integer",
  ],
  [
    "a number without end among alternatives",
    "/shape",
    () => ({ kind: "circle", radius: Number.NEGATIVE_INFINITY }),
    "/radius must be number",
  ],
  ["too many members", "/counts", () => ({ a: 1, b: 2, c: 3 }), "it must NOT have more than 2"],
  [
    "no alternative",
    "/shape",
    () => ({ kind: "star" }),
    '/kind must be equal to one of the allowed values: "circle", "square"',
  ],
  ["text that is not JSON", "/person", () => new JsonText("{"), "it is text that is not JSON"],
  [
    "bytes",
    "/person",
    () => new ByteReply(200, { "X-Leak": "leak" }, Readable.from(["leak"])),
    "it is bytes",
  ],
];

let project: TestProject;
beforeAll(async () => {
  project = await testProject(files);
});
afterAll(() => project.remove());

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    const ajv = new Ajv2020({ strict: false, formats, validateFormats: true });
    beforeAll(async () => {
      service = await project.start(engine, { log });
      ajv.addSchema(project.openapi as object, "openapi");
    });
    afterAll(() => service.stop());

    /** The answer of an operation whose handler returns this, held against the document. */
    const asked = async (path: string, what: () => unknown, headers = {}): Promise<Answer> => {
      answers["it"] = what;
      failures.length = 0;
      const isRead = path === "/count";
      const answer = isRead
        ? await service.call("GET", `${path}?what=it`)
        : await service.post(path, { what: "it" }, headers);
      const method = isRead ? "get" : "post";
      const at = `openapi#/paths/~1${path.slice(1)}/${method}/responses/${answer.status}`;
      if (answer.status === 200) {
        const check = ajv.getSchema(`${at}/content/application~1json/schema`);
        expect([check?.(answer.body), check?.errors]).toEqual([true, null]);
      } else if (answer.status === 500) {
        expect(answer.body.code).toBe("core.internal");
      }
      expect(JSON.stringify([answer.body ?? null, [...answer.headers]])).not.toContain("leak");
      return answer;
    };

    test.each(kept)("%s", async (_what, path, what, body) => {
      const answer = await asked(path, what);
      expect([answer.status, answer.body]).toEqual([200, body]);
      expect(answer.headers.get("etag")).toBeNull();
    });

    test.each(refused)(
      "%s is a masked 500, and the log says where",
      async (_what, path, what, place) => {
        expect((await asked(path, what)).status).toBe(500);
        expect(failures).toEqual([expect.stringContaining(place)]);
      },
    );

    test("a scalar is answered, and anything else is not", async () => {
      expect([
        (await asked("/count", () => 5)).body,
        (await asked("/count", () => "5")).status,
      ]).toEqual([5, 500]);
    });

    test("statuses without a body have none, whatever is returned", async () => {
      for (const what of [
        () => ({ leak: "leak" }),
        () => "leak",
        () => undefined,
        () => new JsonText('"leak"'),
      ]) {
        const answer = await asked("/nothing", what);
        expect([answer.status, answer.body]).toEqual([204, undefined]);
      }
    });

    test("a document answers with what is declared of it, and nothing is stored where the answer does not fit", async () => {
      const { status, body } = await service.post("/note", { text: "t" });
      expect([status, Object.keys(body)]).toEqual([200, ["id"]]);
      expect((await service.call("GET", `/notes/${body.id}`)).body).toMatchObject({ secret: "s" });
    });

    test("a repeated request is answered with what was cut", async () => {
      const key = { "idempotency-key": `key-${engine.name}` };
      const first = await asked("/person", () => ({ ...ada, extra: "leak" }), key);
      const again = await asked("/person", () => ({ ...ada, extra: "leak" }), key);
      expect([again.headers.get("idempotency-replayed"), again.body]).toEqual(["true", first.body]);
    });

    test("hooks around an operation answer what is declared as well, and those behind it change nothing", async () => {
      const around = async (
        change: ((output: unknown) => unknown) | undefined,
      ): Promise<Answer> => {
        meddling.around = change;
        return asked("/around", () => ada);
      };
      expect((await around(undefined)).body).toEqual(ada);
      expect(meddling.seen).toBeInstanceOf(JsonText);
      expect((await around(() => ({ ...ada, name: "Bob", extra: "leak" }))).body).toEqual({
        ...ada,
        name: "Bob",
      });
      expect(
        (await around((output) => Object.assign(output as object, { text: '{"leak":1}' }))).status,
      ).toBe(500);
      expect((await around(() => undefined)).status).toBe(500);
      meddling.around = undefined;
    });

    test("so do hooks around an operation of the runtime, which is left as it is otherwise", async () => {
      const { body } = await service.post("/note", { text: "t" });
      const read = (): Promise<Answer> => service.call("GET", `/notes/${body.id}`);
      const plain = await read();
      expect([plain.status, plain.headers.get("etag")]).toEqual([200, '"1"']);
      meddling.around = (output) => ({ ...outputValue(output as object), extra: "leak" });
      expect([(await read()).body, (await read()).headers.get("etag")]).toEqual([plain.body, null]);
      meddling.around = (output) => ({ ...outputValue(output as object), rev: "leak" });
      expect((await read()).status).toBe(500);
      meddling.around = undefined;
    });

    test("whatever is returned, the answer is what the document says or a masked 500", async () => {
      const person = fc.record(
        { id: fc.constant(someId), name: fc.string(), joined: fc.date({ noInvalidDate: false }) },
        { requiredKeys: [] },
      );
      const value = fc.letrec((tie) => ({
        any: fc.oneof(
          { depthSize: "small" },
          person,
          fc.anything({
            withBigInt: true,
            withDate: true,
            withMap: true,
            withSet: true,
            withNullPrototype: true,
            withTypedArray: true,
            withSparseArray: true,
            withBoxedValues: true,
            withObjectString: true,
          }),
          fc.array(tie("any"), { maxLength: 3 }),
          fc.dictionary(
            fc.constantFrom(
              "id",
              "name",
              "joined",
              "lead",
              "members",
              "deputy",
              "children",
              "kind",
              "radius",
              "side",
              "owner",
              "toJSON",
              "__proto__",
            ),
            tie("any"),
            { maxKeys: 4 },
          ),
        ),
      })).any;
      const paths = ["/person", "/team", "/tree", "/shape", "/open", "/counts", "/list", "/count"];
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...paths), value, async (path, returned) => {
          const text = ((): string => {
            try {
              return JSON.stringify(returned) ?? "";
            } catch {
              return "";
            }
          })();
          fc.pre(!text.includes("leak"));
          expect([200, 500]).toContain((await asked(path, () => returned)).status);
        }),
        { numRuns: 400 },
      );
    });
  });
}
