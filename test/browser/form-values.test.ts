// What the forms of pages send: what was written, what was changed, and nothing else.
import { describe, expect, test } from "vitest";
import type { OpenApi, Schema } from "../../pages/openapi/document.js";
import {
  changesOf,
  controlsOf,
  firstValues,
  objectOf,
  valuesOf,
} from "../../pages/openapi/form-values.js";

const document = {
  info: { title: "x", version: "1" },
  paths: {},
  components: { schemas: { State: { type: "string", enum: ["open", "done"] } } },
} as const satisfies OpenApi;

const schema: Schema = {
  type: "object",
  properties: {
    title: { type: "string" },
    note: { type: ["string", "null"] },
    due: { type: ["string", "null"], format: "date-time" },
    born: { type: "string", format: "date" },
    count: { type: "integer" },
    size: { anyOf: [{ type: "number" }, { type: "null" }] },
    isDone: { type: "boolean", default: false },
    state: { $ref: "#/components/schemas/State" },
    level: { enum: ["low", "high", null] },
    labels: { type: "array", items: { type: "string" } },
    either: { anyOf: [{ type: "string" }, { type: "integer" }] },
  },
  required: ["title", "note", "count", "state", "labels"],
};
const controls = controlsOf(document, schema);
const stored = {
  title: "A\nB",
  note: null,
  due: "2027-03-01T04:00:00.000Z",
  born: "1815-12-10",
  count: 3,
  size: 1.5,
  isDone: true,
  state: "open",
  level: null,
  labels: ["a"],
  either: "7",
};

describe("forms of a schema", () => {
  test("each member has the control of its type", () => {
    expect(controls.map(({ name, kind, isNullable }) => [name, kind, isNullable])).toEqual([
      ["title", "text", false],
      ["note", "text", true],
      ["due", "moment", true],
      ["born", "date", false],
      ["count", "number", false],
      ["size", "number", true],
      ["isDone", "boolean", false],
      ["state", "choice", false],
      ["level", "choice", true],
      ["labels", "json", false],
      ["either", "json", false],
    ]);
  });

  test("what is stored comes back as it was", () => {
    const values = valuesOf(controls, stored);
    expect(objectOf(controls, values)).toEqual({
      title: "A\nB",
      note: null,
      due: "2027-03-01T04:00:00.000Z",
      born: "1815-12-10",
      count: 3,
      size: 1.5,
      isDone: true,
      state: "open",
      labels: ["a"],
      either: "7",
    });
    expect(changesOf(controls, values, values)).toEqual({});
  });

  test("a new one begins with defaults, and with what has no empty value", () => {
    const values = firstValues(document, schema);
    expect(values).toMatchObject({ title: "", isDone: "false", state: "open", labels: "[]" });
    expect(objectOf(controls, { ...values, count: "1" })).toEqual({
      title: "",
      note: null,
      count: 1,
      isDone: false,
      state: "open",
      labels: [],
    });
  });

  test.each([
    ["title", "", ""],
    ["note", "x", "x"],
    ["size", "", null],
    ["level", "high", "high"],
    ["count", "-12", -12],
    ["size", "1e3", 1000],
    ["labels", '["b"]', ["b"]],
  ])("a change of %s to %o sends that alone", (name, text, sent) => {
    const before = valuesOf(controls, stored);
    expect(changesOf(controls, before, { ...before, [name]: text })).toEqual({ [name]: sent });
  });

  test.each([
    ["count", "", "count can't be empty"],
    ["labels", "", "labels can't be empty"],
    ["count", "many", "count must be a number"],
    ["labels", "[", "labels must be JSON"],
    ["count", "9007199254740993", "count has more digits than a browser can send"],
    ["size", "1e400", "size has more digits than a browser can send"],
  ])("%s can't become %o", (name, text, message) => {
    const before = valuesOf(controls, stored);
    expect(() => changesOf(controls, before, { ...before, [name]: text })).toThrow(message);
  });
});
