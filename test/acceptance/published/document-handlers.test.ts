// The document is the whole truth where authors answer: handlers that try to break out, driven by what it describes.
// A failing case is replayed by OPWRIGHT_TEST_SEED; OPWRIGHT_TEST_CASES says how many an operation has (`npm run test:long`).
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../../support/engines.js";
import { changed } from "../../property/document/changes.js";
import { Driver } from "../../property/document/driver.js";
import { OpenApiDocument, type Json, type Schema } from "../../property/document/open-api.js";
import { requestsOf } from "../../property/document/requests.js";
import { SchemaValues } from "../../property/document/schema-values.js";
import { testProject, type TestProject } from "../../support/project-service.js";
import type { TestService } from "../../support/service.js";

const numRuns = Number(process.env["OPWRIGHT_TEST_CASES"] ?? 16);
const seed = Number(process.env["OPWRIGHT_TEST_SEED"] ?? 1);

const registry = `registry: 1
service: {name: outbreak, title: Outbreak, version: 1.0.0}
types:
  Money: {amount: {type: integer, minimum: 0, maximum: 100000}, currency: {type: string, pattern: "^[A-Z]{3}$"}}
  Person: {id: uuid, name: {type: string, minLength: 1, maxLength: 5}, joined: date-time?, born: {type: string, format: date, default: "2000-01-01"}, mail: {type: string, format: email}}
  Tree: {name: string, children: "Tree[]"}
  Shape:
    oneOf:
      - {type: object, properties: {kind: {const: circle}, radius: {type: number, exclusiveMinimum: 0}}, required: [kind, radius], additionalProperties: false}
      - {type: object, properties: {kind: {const: square}, side: {type: number, multipleOf: 0.5}}, required: [kind, side], additionalProperties: false}
  Tags: {type: array, items: {type: string, maxLength: 8}, uniqueItems: true, maxItems: 3}
  Prices: {type: object, additionalProperties: {$ref: Money}, propertyNames: {pattern: "^[a-z]{1,4}$"}, minProperties: 1, maxProperties: 3}
policies: {open: []}
operations:
  out.person: {get: "/people/{code}", in: {code: {type: string, pattern: "^[A-Z]{3}$"}, size: {type: integer, minimum: 1, maximum: 50, default: 5}, ratio: {type: number, maximum: 1, default: 1}, strict: boolean?, kind: {type: string, enum: [a, b], default: a}, at: date-time?, day: {type: string, format: date, default: "2000-01-01"}, name: {type: string, minLength: 2, maxLength: 4, default: none}}, out: Person, run: registry/handlers/out.ts#out, guard: open}
  out.person_of: {get: "/owners/{id}/{n}", in: {id: uuid, n: integer}, out: "Person[]", run: registry/handlers/out.ts#out, guard: open}
  out.tree: {post: /trees, in: {tree: Tree, depth: {type: integer, default: 1}}, out: Tree, run: registry/handlers/out.ts#out, guard: open}
  out.shape: {post: /shapes, in: {shape: Shape, tags: Tags?}, out: Shape, run: registry/handlers/out.ts#out, guard: open}
  out.prices: {put: "/prices/{day}", in: {day: {type: string, format: date}, prices: Prices}, out: Prices, run: registry/handlers/out.ts#out, guard: open}
  out.tags: {post: /tags, in: {tags: Tags, note: {type: [string, "null"], maxLength: 4, default: null}}, out: Tags, run: registry/handlers/out.ts#out, guard: open, idempotency: true}
  out.count: {post: /count, in: {person: Person}, out: integer, run: registry/handlers/out.ts#out, guard: open}
  out.nothing: {post: /nothing, in: {shape: Shape}, run: registry/handlers/out.ts#out, guard: open}
`;

/** What the next handler answers. */
const next: { answer: unknown } = { answer: undefined };
Object.assign(globalThis, { outbreakUnderTest: next });

const files = {
  "registry/service.yaml": registry,
  "registry/handlers/out.ts": "export const out = () => globalThis.outbreakUnderTest.answer;\n",
};

const strange = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withNullPrototype: true,
  withTypedArray: true,
  withSparseArray: true,
});

/** What a handler answers: values of its schema, ones that are nearly so, and anything. */
function answersOf(values: SchemaValues, schema: Schema): fc.Arbitrary<unknown> {
  const sound = values.of(schema);
  return fc.oneof(
    { weight: 3, arbitrary: sound },
    { weight: 3, arbitrary: changed(sound) },
    strange,
  );
}

let project: TestProject;
let document: OpenApiDocument;
beforeAll(async () => {
  project = await testProject(files);
  document = new OpenApiDocument(project.openapi);
});
afterAll(() => project.remove());

const keys = [...registry.matchAll(/^ {2}(out\.\w+):/gm)].map(([, key = ""]) => key);

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let service: TestService;
    let driver: Driver;
    beforeAll(async () => {
      service = await project.start(engine);
      driver = new Driver({ url: service.url, document, credential: async () => "" });
    });
    afterAll(async () => {
      driver.stop();
      await service.stop();
    });

    test.each(keys)(
      "%s answers what the document says, or a masked 500",
      async (key) => {
        const operation = document.operations.find((one) => one.key === key);
        if (operation === undefined) throw new Error(`${key} is not in the document`);
        const schema = operation.responses["200"]?.content?.["application/json"]?.schema;
        const answers = answersOf(new SchemaValues(document), schema ?? true);
        const drive = fc.asyncProperty(
          requestsOf(document, operation),
          answers,
          async (request, answer) => {
            next.answer = answer;
            const fits = schema === undefined || document.isValid(schema, plain(answer));
            const status = await driver.drive(operation, request, !fits);
            if (fits && status >= 500)
              throw new Error(
                `${key} answers ${status} where it could answer ${JSON.stringify(answer)}`,
              );
          },
        );
        const { failed, errorInstance, counterexample } = await fc.check(drive, { numRuns, seed });
        const answered = fc.stringify(counterexample?.[1]);
        if (failed)
          expect.fail(
            `OPWRIGHT_TEST_SEED=${seed} replays it.\n${String(errorInstance)}\nanswering ${answered}`,
          );
      },
      600_000,
    );
  });
}

/** What JSON makes of a value; undefined where it makes nothing. */
function plain(value: unknown): Json | undefined {
  try {
    return JSON.parse(JSON.stringify(value) ?? "null") as Json;
  } catch {
    return undefined;
  }
}
