// Three-way merge against a model: edits as sets of leaf assignments on one base.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ServiceError } from "../../contract/errors.js";
import { applyPatch } from "./merge-patch.js";
import { mergeThreeWay } from "./three-way-merge.js";

const base = { a: 0, b: 0, nested: { x: 0, y: 0 }, list: [0] };

/** Each leaf of the base may be assigned; a list is one leaf. */
const edits = fc.record(
  {
    a: fc.integer({ min: 0, max: 2 }),
    b: fc.integer({ min: 0, max: 2 }),
    list: fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 2 }),
    nested: fc.record(
      { x: fc.integer({ min: 0, max: 2 }), y: fc.integer({ min: 0, max: 2 }) },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

type Leaves = Readonly<Record<string, string>>;

/** The leaves of a body as text. */
function leaves(body: Readonly<Record<string, unknown>>): Leaves {
  const { nested, ...flat } = body as unknown as typeof base;
  const all = { ...flat, "nested.x": nested.x, "nested.y": nested.y };
  return Object.fromEntries(
    Object.entries(all).map(([name, value]) => [name, JSON.stringify(value)]),
  );
}

describe("mergeThreeWay", () => {
  test("keeps both sides' edits, or names exactly the leaves that both changed to different values", () => {
    fc.assert(
      fc.property(edits, edits, (mine, theirs) => {
        const edited = applyPatch(base, mine, () => false);
        const current = applyPatch(base, theirs, () => false);
        const [from, left, right] = [leaves(base), leaves(edited), leaves(current)];
        const names = Object.keys(from);
        const conflicts = names.filter(
          (name) =>
            left[name] !== from[name] && right[name] !== from[name] && left[name] !== right[name],
        );
        let merged: Readonly<Record<string, unknown>> | undefined;
        try {
          merged = mergeThreeWay(base, edited, current);
        } catch (error) {
          expect(error).toBeInstanceOf(ServiceError);
          expect(
            ((error as ServiceError).context["fields"] as readonly string[]).toSorted(),
          ).toEqual(conflicts.toSorted());
          return;
        }
        expect(conflicts).toEqual([]);
        const expected = Object.fromEntries(
          names.map((name) => [name, left[name] === from[name] ? right[name] : left[name]]),
        );
        expect(leaves(merged)).toEqual(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  test("an edit above another's edit overlaps it", () => {
    const mine = { ...base, nested: 5 };
    const theirs = { ...base, nested: { x: 1, y: 0 } };
    expect(() => mergeThreeWay(base, mine, theirs)).toThrow(ServiceError);
  });
});
