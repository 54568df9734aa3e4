import { expect, test } from "vitest";
import { listOf, mapOf, mount, optional, required, text } from "./format-parts.js";
import { checkShape } from "./check-shape.js";
import type { Declared, FormatShape } from "./shape.js";

const shape = {
  kind: "object",
  members: {
    name: required(text, "Needed."),
    size: optional({ kind: "integer", minimum: 1 }, "A number."),
    colour: optional({ kind: "oneOf", values: ["red", "green"] }, "One of two."),
    tags: optional(listOf(text), "Texts."),
    labels: optional(mapOf(text), "Texts by name."),
    mount: optional(mount, "false, or a mount."),
    from: optional(
      {
        kind: "choice",
        members: { file: optional(text, "A file."), url: optional(text, "An address.") },
        beside: { times: optional({ kind: "integer", minimum: 1 }, "How often.") },
      },
      "A file or an address.",
    ),
  },
} as const satisfies FormatShape;

type Said = Declared<typeof shape>;

const accepts = (value: unknown): boolean =>
  checkShape(shape, value, { file: "registry/service.yaml", path: [] }, () => undefined);

test("a format accepts what its declaration says", () => {
  const said: readonly Said[] = [
    { name: "a" },
    { name: "a", size: 1, colour: "red", tags: ["b"], labels: { c: "d" }, mount: false },
    { name: "a", from: { url: "/b", times: 2 } },
    { name: "a", mount: { at: "/a", style: "rpc", include: ["get"], paths: { get: "/b" } } },
  ];
  expect(said.map(accepts)).toEqual(said.map(() => true));
});

test("a format refuses what its declaration does not say", () => {
  const refused: readonly Said[] = [
    // @ts-expect-error -- the name is required
    { size: 1 },
    // @ts-expect-error -- a text is no number
    { name: "a", size: "1" },
    // @ts-expect-error -- one of two colours
    { name: "a", colour: "blue" },
    // @ts-expect-error -- a list of texts
    { name: "a", tags: [1] },
    // @ts-expect-error -- texts by name
    { name: "a", labels: { c: 1 } },
    // @ts-expect-error -- a mount says where it is
    { name: "a", mount: {} },
    // @ts-expect-error -- neither a choice nor beside one
    { name: "a", from: { file: "b", size: 1 } },
    // @ts-expect-error -- no member of the format
    { name: "a", other: 1 },
  ];
  expect(refused.map(accepts)).toEqual(refused.map(() => false));
});
