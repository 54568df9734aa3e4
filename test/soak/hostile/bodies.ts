// Bodies that would cost more than their bytes, were they looked at carelessly, with the answer that each is owed.

export interface HostileBody {
  readonly kind: string;
  readonly path: string;
  readonly bytes: Buffer;
  readonly status: number;
}

/** The text of a tree with this many levels above its leaf: more than JSON.stringify can print. */
function nested(levels: number, leaf: unknown): string {
  const level = '{"kind":"folder","children":[';
  return `{"tree":${level.repeat(levels)}${JSON.stringify(leaf)}${"]}".repeat(levels)}}`;
}

const wide = (count: number, value: unknown): object =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`member${index}`, value]));

const body = (kind: string, path: string, of: unknown, status: number): HostileBody => ({
  kind,
  path,
  bytes: Buffer.from(typeof of === "string" ? of : JSON.stringify(of)),
  status,
});

const items = Array.from({ length: 20_000 }, (_, index) => ({ index }));

export const hostileBodies: readonly HostileBody[] = [
  body("body_nested", "/trees", nested(40, { text: "x" }), 200),
  body("body_nested_wrong", "/trees", nested(40, { text: 1 }), 422),
  body("body_nested_far", "/trees", nested(20_000, { text: "x" }), 400),
  body(
    "body_wrong_items",
    "/threads",
    { replies: Array.from({ length: 64_000 }, () => ({})) },
    422,
  ),
  body("body_unique", "/sets", { items }, 204),
  body("body_not_unique", "/sets", { items: [...items, { index: 7 }] }, 422),
  body("body_wide", "/maps", { map: wide(40_000, 1) }, 204),
  body("body_wide_wrong", "/maps", { map: wide(40_000, "x") }, 422),
  body("body_wide_unknown", "/trees", { ...wide(40_000, 1), tree: { text: "x" } }, 422),
  body("body_deep", "/trees", `{"tree":${"[".repeat(400_000)}${"]".repeat(400_000)}}`, 400),
  body("body_unended", "/trees", "[".repeat(1_000_000), 400),
  body("body_number", "/maps", `{"map":{"a":1${"0".repeat(900_000)}}}`, 422),
  body("body_twice", "/maps", '{"map":{"a":1,"a":2}}', 400),
  body("body_too_large", "/maps", { map: wide(80_000, 1) }, 413),
  body("body_text", "/trees", { tree: { text: "\\u0000".repeat(100_000) } }, 200),
];
