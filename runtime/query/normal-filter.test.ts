// The normal form of filters: what it says stays, how deep it is does not.
import { describe, expect, test } from "vitest";
import type { Filter } from "./ast.js";
import { idField } from "./fields.js";
import { isEverything, normalFilter } from "./normal-filter.js";

const condition = (value: number): Filter => ({
  kind: "compare",
  field: { path: "size", type: "number", isColumn: false },
  operator: "$eq",
  value,
});
const [a, b, c] = [condition(1), condition(2), condition(3)];
const all = (...filters: readonly Filter[]): Filter => ({ kind: "all", filters });
const any = (...filters: readonly Filter[]): Filter => ({ kind: "any", filters });
const not = (filter: Filter): Filter => ({ kind: "not", filter });
const rows = { name: "projects", table: "projects", tenant: true, softDelete: false };
const named = (member: string, filter: Filter, visible: Filter): Filter => ({
  kind: "related",
  ours: { path: member, type: "uuid", isColumn: false },
  theirs: idField,
  rows,
  visible,
  filter,
});
const everybody = all();

describe("the normal form", () => {
  test.each([
    ["of two negations is what they negate", not(not(a)), a],
    ["negates each operand of all", not(all(a, b)), any(not(a), not(b))],
    ["negates each operand of any", not(any(a, not(b))), all(not(a), b)],
    ["takes all within all together", all(a, all(b, all(c))), all(a, b, c)],
    ["of one operand is the operand", any(all(any(a))), a],
    ["leaves out what every row passes", all(a, all()), a],
    ["is nothing where one of all passes no row", all(a, not(all())), any()],
    ["is everything where one of any passes every row", any(a, all(any(all()))), all()],
    [
      "asks at once what is asked of the row that a member names",
      all(named("project", a, everybody), b, named("project", c, everybody)),
      all(named("project", all(a, c), everybody), b),
    ],
    [
      "asks at once for either of the row that a member names",
      any(named("project", a, everybody), named("project", b, everybody)),
      named("project", any(a, b), everybody),
    ],
    [
      "asks apart of rows that two members name",
      all(named("project", a, everybody), named("parent", b, everybody)),
      all(named("project", a, everybody), named("parent", b, everybody)),
    ],
    [
      "asks apart what is negated of the row that a member names",
      all(named("project", a, everybody), not(named("project", b, everybody))),
      all(named("project", a, everybody), not(named("project", b, everybody))),
    ],
    [
      "asks apart where different rows are seen",
      all(named("project", a, everybody), named("project", b, c)),
      all(named("project", a, everybody), named("project", b, c)),
    ],
    ["has the deepest operand first", all(a, any(b, all(b, c))), all(any(all(b, c), b), a)],
  ])("%s", (_what, filter, expected) => {
    expect(normalFilter(filter)).toEqual(expected);
  });

  test("tells whether every row passes", () => {
    expect(isEverything(normalFilter(not(not(all(any(all()))))))).toBe(true);
    expect(isEverything(normalFilter(any()))).toBe(false);
  });
});
