import { describe, expect, test } from "vitest";
import { ServiceError } from "../contract/errors.js";
import { AnswerBudget } from "./answer-budget.js";

const megabyte = 1024 * 1024;

function codeOf(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof ServiceError ? error.code : String(error);
  }
}

describe("the budget of answers", () => {
  test("is held until an answer is released, half of it by one payer at most", () => {
    const budget = new AnswerBudget(8 * megabyte);
    const one = budget.open({ key: "one", isAnonymous: false });
    one.grow(4 * megabyte);
    expect(codeOf(() => one.grow(5 * megabyte))).toBe("core.unavailable");
    expect(budget.state.bytes).toBe(4 * megabyte);
    one.release();
    expect(budget.state).toEqual({ bytes: 0, refused: 1, ended: 0 });
  });

  test("is not taken by work that goes on behind the end of its answer", () => {
    const budget = new AnswerBudget(8 * megabyte);
    for (let count = 0; count < 20; count += 1) {
      const gone = budget.open({ key: `caller ${count}`, isAnonymous: true });
      gone.release();
      expect(codeOf(() => gone.grow(megabyte))).toBe("core.timeout");
    }
    expect(budget.state.bytes).toBe(0);
  });

  test("is not taken by the service itself, for which nobody waits", () => {
    const budget = new AnswerBudget(8 * megabyte);
    for (let count = 0; count < 20; count += 1) budget.open(null).grow(5 * megabyte);
    expect(budget.state).toEqual({ bytes: 0, refused: 0, ended: 0 });
  });
});
