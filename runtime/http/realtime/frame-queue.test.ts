import { expect, test } from "vitest";
import { FrameQueue, type Frame } from "./frame-queue.js";

test("frames of several reads come out as they went in, also where some are put in meanwhile", () => {
  const queue = new FrameQueue();
  const reads = [Buffer.from("one read of bytes"), Buffer.alloc(70_000, 0x61)];
  const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = reads;
  const frames: readonly Frame[] = [
    { kind: "text", data: first.subarray(0, 3) },
    { kind: "ping", data: Buffer.alloc(0) },
    { kind: "binary", data: first.subarray(4, 8) },
    { kind: "text", data: second.subarray(5) },
    { kind: "ping", data: first.subarray(9, 11) },
    { kind: "text", data: Buffer.alloc(0) },
  ];
  const [early, late] = [frames.slice(0, 4), frames.slice(4)];
  for (const frame of early) queue.push(frame);
  const out = [queue.shift(), queue.shift()];
  for (const frame of late) queue.push(frame);
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) out.push(next);
  expect(out).toEqual(frames);
  expect([queue.isEmpty, queue.shift()]).toEqual([true, undefined]);
  queue.push(frames[0] ?? { kind: "text", data: first });
  queue.clear();
  expect(queue.isEmpty).toBe(true);
});
