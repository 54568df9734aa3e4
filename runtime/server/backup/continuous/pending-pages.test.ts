// Pages that wait to be kept: the newest content of each, however often something was added.
import { expect, test } from "vitest";
import type { PageSet } from "../../../ports/archive.js";
import { PendingPages } from "./pending-pages.js";

/** Pages whose content says when they were written. */
function pagesOf(numbers: readonly number[], pageCount: number, at: number): PageSet {
  return {
    pageCount,
    numbers,
    read: (some) => some.map((number) => Buffer.from(`${number} ${at}`)),
  };
}

const textsOf = (pages: PageSet): readonly string[] => pages.read(pages.numbers).map(String);

test("the newest content of each page is read, in the order that was asked for", () => {
  const pending = new PendingPages();
  expect(pending.isEmpty).toBe(true);
  pending.add(pagesOf([1, 2, 9], 9, 1));
  pending.add(null);
  pending.add(pagesOf([2, 3], 9, 2));
  expect(textsOf(pending)).toEqual(["1 1", "2 2", "3 2", "9 1"]);
  expect(pending.read([9, 2]).map(String)).toEqual(["9 1", "2 2"]);
  // Pages behind the end of the database are no pages.
  pending.add(pagesOf([1], 3, 3));
  expect([pending.pageCount, textsOf(pending)]).toEqual([3, ["1 3", "2 2", "3 2"]]);
  pending.clear();
  expect(pending.isEmpty).toBe(true);
});

test("an outage of days adds no more than there are pages", () => {
  const pending = new PendingPages();
  for (let at = 0; at < 100_000; at += 1) pending.add(pagesOf([1 + (at % 50)], 50, at));
  expect(pending.numbers).toHaveLength(50);
  expect(textsOf(pending).at(-1)).toBe("50 99999");
});
