// The client reads Server-Sent Events as browsers do (WHATWG HTML §9.2.6), however they are cut.
import fc from "fast-check";
import { expect, test } from "vitest";
import { EventStream, type StreamEvent } from "../../client/realtime/event-stream.js";

const cases: readonly (readonly [string, string, readonly StreamEvent[]])[] = [
  ["LF", "event: a\ndata: 1\n\n", [{ event: "a", data: "1" }]],
  ["CR LF", "event: a\r\ndata: 1\r\n\r\n", [{ event: "a", data: "1" }]],
  ["CR alone", "event: a\rdata: 1\r\r", [{ event: "a", data: "1" }]],
  ["ends of all kinds", "data: 1\rdata: 2\r\ndata: 3\n\r\n", [{ event: "", data: "1\n2\n3" }]],
  ["comments", ": hi\n:\ndata: 1\n: more\n\n", [{ event: "", data: "1" }]],
  [
    "fields that nobody knows",
    "Data: 0\nx-y: 1\ndata2: 0\nid: 7\ndata: 1\n\n",
    [{ event: "", data: "1" }],
  ],
  ["fields without a colon", "data\ndata\n\n", [{ event: "", data: "\n" }]],
  ["one space, of which there may be more", "data:  1\ndata:2\n\n", [{ event: "", data: " 1\n2" }]],
  ["colons in a value", "data: a:b: c\n\n", [{ event: "", data: "a:b: c" }]],
  ["events without data", "event: a\n\ndata: 1\n\n", [{ event: "", data: "1" }]],
  ["an event that has not ended", "data: 1\n\ndata: 2\n", [{ event: "", data: "1" }]],
];

test.each(cases)("%s", (_what, text, events) => {
  expect(new EventStream().push(text)).toEqual(events);
  const cut = fc.array(fc.nat(text.length), { maxLength: 6 });
  fc.assert(
    fc.property(cut, (places) => {
      const ends = [...places.toSorted((one, other) => one - other), text.length];
      const stream = new EventStream();
      const pieces = ends.map((end, at) => text.slice(ends[at - 1] ?? 0, end));
      expect(pieces.flatMap((piece) => stream.push(piece))).toEqual(events);
    }),
  );
});

test("only digits say when to come again, and the greeting does not", () => {
  const stream = new EventStream();
  stream.push("retry: 1000\n\n");
  expect(stream.retryMillis).toBeUndefined();
  stream.push("retry: soon\nretry: 5\n\n");
  expect(stream.retryMillis).toBe(5);
});
