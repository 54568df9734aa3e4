// What pages make of documents and metrics before they show them.
import { describe, expect, test } from "vitest";
import { linesOf, samplesOf, valueOf } from "../../pages/console/service/metrics.js";
import { quantileOf } from "../../pages/console/service/quantile.js";
import type { OpenApi, Schema } from "../../pages/openapi/document.js";
import { exampleOf } from "../../pages/openapi/example.js";
import { innerSchema } from "../../pages/openapi/type-text.js";

const node: Schema = {
  type: "object",
  properties: { name: { type: "string" }, children: { $ref: "#/components/schemas/Tree" } },
  required: ["name"],
};
const document = {
  info: { title: "x", version: "1" },
  paths: {},
  components: {
    schemas: {
      Node: node,
      Tree: {
        anyOf: [
          { $ref: "#/components/schemas/Node" },
          { type: "array", items: { $ref: "#/components/schemas/Tree" } },
        ],
      },
    },
  },
} as const satisfies OpenApi;

describe("schemas", () => {
  test("a union that has itself as an alternative comes to an end", () => {
    expect(innerSchema(document, { $ref: "#/components/schemas/Tree" })).toBe(node);
  });

  test("a union has the members of all, and requires what all of them require", () => {
    const option = (name: string): Schema => ({
      properties: { kind: { type: "string" }, [name]: { type: "integer" } },
      required: ["kind", name],
    });
    const united = innerSchema(document, { anyOf: [option("one"), option("two")] });
    expect(Object.keys(united?.properties ?? {}).toSorted()).toEqual(["kind", "one", "two"]);
    expect(united?.required).toEqual(["kind"]);
  });

  test("an example of everything comes to an end, too", () => {
    const wide: Schema = {
      type: "object",
      properties: Object.fromEntries(
        Array.from({ length: 30 }, (_, at) => [`m${at}`, { $ref: "#/components/schemas/Wide" }]),
      ),
    };
    const endless = { ...document, components: { schemas: { Wide: wide } } };
    const example = exampleOf(endless, { $ref: "#/components/schemas/Wide" }, "whole");
    expect(JSON.stringify(example).length).toBeLessThan(10_000_000);
  });
});

describe("metrics", () => {
  const text = `# HELP x y
opwright_request_seconds_count{operation="a",status="5xx"} 1
opwright_request_seconds_count{operation="b",status="5xx"} 2
opwright_request_seconds_count{operation="b",status="2xx"} 4
opwright_request_seconds_count{operation="console.state",status="2xx"} 100
opwright_outbox_dead 3
`;

  test("samples are summed over operations, without the console's own requests", () => {
    const samples = samplesOf(text);
    expect(samples).toHaveLength(3);
    const reading = { at: 0, samples };
    expect(valueOf(reading, "opwright_request_seconds_count")).toBe(7);
    expect(valueOf(reading, "opwright_request_seconds_count", 'status="5xx"')).toBe(3);
    expect(valueOf(reading, "nothing")).toBeNull();
  });

  test("an error stays trouble as long as it is drawn, a dead letter until it is gone", () => {
    const at = (millis: number, errors: number, dead: number) => ({
      at: millis,
      samples: samplesOf(
        `opwright_request_seconds_count{operation="a",status="5xx"} ${errors}\nopwright_outbox_dead ${dead}\n`,
      ),
    });
    const bad = linesOf([at(0, 0, 1), at(1_000, 2, 1), at(2_000, 2, 0)])
      .filter(({ isBad }) => isBad)
      .map(({ title }) => title);
    expect(bad).toEqual(["Server errors"]);
    const before = linesOf([at(0, 0, 0), at(1_000, 0, 1)]).filter(({ isBad }) => isBad);
    expect(before.map(({ title }) => title)).toEqual(["Dead letters"]);
  });

  test.each([
    [[], 0],
    [[[0.1, 100]], 0.095],
    [
      [
        [0.1, 90],
        [0.5, 100],
      ],
      0.3,
    ],
    [
      [
        [0.1, 0],
        [Infinity, 10],
      ],
      0.1,
    ],
  ] as const)("the 95th of a hundred in the buckets %j is %d", (buckets, wanted) => {
    const counted = buckets.map(([bound, count]) => ({ bound, count }));
    expect(quantileOf(counted, 0.95)).toBeCloseTo(wanted);
  });
});
