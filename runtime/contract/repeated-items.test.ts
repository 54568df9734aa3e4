import { expect, test } from "vitest";
import { forgetItems, repeatedItems } from "./repeated-items.js";

test.each<[readonly unknown[], readonly [number, number] | null]>([
  [[], null],
  [[1, "1", true, "true", null, "null", [], {}, [[]], ""], null],
  [
    [1, 2, 1],
    [0, 2],
  ],
  [
    [0, -0],
    [0, 1],
  ],
  [
    [
      { a: 1, b: [2] },
      { b: [2], a: 1 },
    ],
    [0, 1],
  ],
  [[{ a: 1, b: 2 }, { a: 2, b: 1 }, { "a:1,b": 2 }], null],
  [[["a", "b"], ["a,b"], ['a","b']], null],
  [
    [
      [1, 2],
      [2, 1],
      [1, 2],
    ],
    [0, 2],
  ],
])("of %j: %j", (items, places) => {
  expect(repeatedItems(items)).toEqual(places);
});

/** A value that counts how often its members are listed or read. */
function watched(value: unknown, count: () => void): unknown {
  if (typeof value !== "object" || value === null) return value;
  const inner = Array.isArray(value)
    ? value.map((item) => watched(item, count))
    : Object.fromEntries(Object.entries(value).map(([name, each]) => [name, watched(each, count)]));
  return new Proxy(inner as object, {
    get: (target, name, receiver) => {
      count();
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
}

test("every item is read as often, however many there are and however deep they nest", () => {
  const readsOf = (items: number, depth: number): number => {
    let reads = 0;
    const lists: (readonly unknown[])[] = [];
    let list: unknown = Array.from({ length: items }, (_, index) => ({ index }));
    for (let level = 0; level < depth; level += 1) list = [list, level];
    const watching = watched(list, () => (reads += 1)) as readonly unknown[];
    for (let each: unknown = watching; Array.isArray(each) && each.length === 2; each = each[0])
      lists.push(each);
    reads = 0;
    forgetItems();
    // As the check of a type that holds itself does.
    for (const each of lists) expect(repeatedItems(each)).toBeNull();
    return reads;
  };
  const [few, many] = [readsOf(1_000, 10), readsOf(4_000, 40)];
  expect(few).toBeGreaterThan(1_000);
  expect(many).toBeLessThan(4.5 * few);
});
