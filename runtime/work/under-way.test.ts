import { expect, test } from "vitest";
import { nowhere, UnderWay } from "./under-way.js";

const invocation = (requestId: string) => ({
  operationId: "x.y",
  metadata: { requestId },
  placeUnderWay: nowhere,
});
const idsOf = (underWay: UnderWay): readonly string[] =>
  [...underWay.names()].map(({ requestId }) => requestId);

test("those that run are told, then those that have ended, the last first", () => {
  const underWay = new UnderWay();
  const [a, b, c, d] = [invocation("a"), invocation("b"), invocation("c"), invocation("d")];
  for (const one of [a, b, c, d]) underWay.begun(one);
  // Neither a second beginning nor a second end counts.
  underWay.begun(a);
  underWay.ended(b);
  underWay.ended(b);
  underWay.ended(d);
  expect(new Set(idsOf(underWay).slice(0, 2))).toEqual(new Set(["a", "c"]));
  expect(idsOf(underWay).slice(2)).toEqual(["d", "b"]);
  underWay.ended(a);
  underWay.ended(c);
  expect(idsOf(underWay).slice(0, 4)).toEqual(["c", "a", "d", "b"]);
});

test("however they come and go, exactly those that have begun and not ended run", () => {
  const underWay = new UnderWay();
  let random = 7;
  const running = new Set<ReturnType<typeof invocation>>();
  for (let step = 0; step < 2_000; step += 1) {
    random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
    const [first] = [...running].slice(random % Math.max(1, running.size));
    if (random % 3 > 0 || first === undefined) {
      const one = invocation(`r${step}`);
      running.add(one);
      underWay.begun(one);
    } else {
      running.delete(first);
      underWay.ended(first);
    }
  }
  const expected = [...running].map(({ metadata }) => metadata.requestId);
  expect(idsOf(underWay).slice(0, running.size).toSorted()).toEqual(expected.toSorted());
  for (const one of running) underWay.ended(one);
});
