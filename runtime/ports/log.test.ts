// A log with fields of its own passes on whatever authors give, as it would be told without them.
import { expect, test } from "vitest";
import { withFields, type Log } from "./log.js";

function recorded() {
  const lines: unknown[] = [];
  const note = (fields: unknown): void => void lines.push(fields);
  const log: Log = { debug: note, info: note, warn: note, error: note };
  return { lines, log: withFields(log, { trace_id: "t" }) };
}

test("fields are added to those that are given, which count where both have one", () => {
  const { log, lines } = recorded();
  log.info({ task: 1 }, "");
  log.warn({ trace_id: "own" }, "");
  expect(lines).toEqual([{ trace_id: "t", task: 1 }, { trace_id: "own" }]);
});

test("an error stays one, a text stays a text, and a getter that throws ends nothing", () => {
  const { log, lines } = recorded();
  const error = new Error("x");
  const odd = Object.defineProperty({}, "thrown", {
    enumerable: true,
    get() {
      throw new Error("no");
    },
  });
  for (const given of [error, "text", null, odd])
    log.error(given as unknown as Record<string, unknown>, "");
  expect(lines).toEqual([{ trace_id: "t", err: error }, "text", null, odd]);
});
