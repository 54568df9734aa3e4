// What a run beside a hostile author is measured by: the bars that each run meets, and its table.
import { expect } from "vitest";
import type { HostileReport } from "./report.js";

/** Fails where something was lost, restarted, or answered otherwise than is owed. */
export function expectNothingLost(report: HostileReport): void {
  const { restarts, ends, unexpected, lost, phantoms, outbox, webhooks, livez } = report;
  expect({ restarts, ends }).toEqual({ restarts: 0, ends: [] });
  expect(unexpected).toEqual([]);
  expect(lost).toEqual([]);
  expect(phantoms).toEqual([]);
  expect(outbox).toEqual({ dead: outbox.doomed, doomed: outbox.doomed, pending: 0 });
  const { owed, delivered, givenUp, pending } = webhooks;
  expect(delivered + givenUp + pending).toBe(owed);
  expect(livez.unanswered).toBe(0);
  // Something has happened at all, of each kind.
  for (const count of [owed, outbox.doomed, ...Object.values(report.acknowledged), livez.asked])
    expect(count).toBeGreaterThan(0);
}

const line = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;

const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");

/** Requests by kind, what was found, and what the process took, as tables in Markdown. */
export function tableOf(name: string, report: HostileReport): string {
  const { livez, loop, samples, outbox, webhooks, lost, phantoms, acknowledged } = report;
  const millis = (value: number): string => value.toFixed(value < 10 ? 1 : 0);
  const groups = new Map<string, { statuses: Record<string, number>; slowest: number }>();
  for (const { kind, statuses, slowestMillis } of report.kinds) {
    const [group = ""] = kind.split("_", 1);
    const of = groups.get(group) ?? { statuses: {}, slowest: 0 };
    for (const [status, count] of Object.entries(statuses))
      of.statuses[status] = (of.statuses[status] ?? 0) + count;
    groups.set(group, { ...of, slowest: Math.max(of.slowest, slowestMillis) });
  }
  const kinds = [...groups].map(([group, { statuses, slowest }]) => [
    group,
    Object.values(statuses).reduce((sum, count) => sum + count, 0),
    Object.entries(statuses)
      .map(([status, count]) => `${count} × ${status}`)
      .join(", "),
    millis(slowest),
  ]);
  const found = [
    ["restarts", report.restarts],
    ["answers that are not what is owed", report.unexpectedCount],
    ["notes acknowledged, lost", `${acknowledged.notes}, ${lost.length}`],
    ["notes refused and stored", phantoms.length],
    ["events for good receivers", acknowledged.events],
    ["dead letters, owed", `${outbox.dead}, ${outbox.doomed}`],
    [
      "webhooks delivered, given up, pending, owed",
      `${webhooks.delivered}, ${webhooks.givenUp}, ${webhooks.pending}, ${webhooks.owed}`,
    ],
    [
      "`/livez` p50, p99, max, ms",
      `${millis(livez.p50)}, ${millis(livez.p99)}, ${millis(livez.max)} (${livez.asked} calls)`,
    ],
    [
      "event loop of the service late, p50, p99, max, ms",
      `${millis(loop.late.p50)}, ${millis(loop.late.p99)}, ${millis(loop.late.max)}`,
    ],
    [
      "the same without waiting for a core, ms",
      `${millis(loop.own.p50)}, ${millis(loop.own.p99)}, ${millis(loop.own.max)}`,
    ],
    [
      "event loop of the probe late, p99, max, ms",
      `${millis(livez.ownP99)}, ${millis(livez.ownMax)}`,
    ],
  ];
  const taken = samples.map(({ minute, mebibytes, descriptors, processor, waited }) => [
    minute.toFixed(1),
    mebibytes.toFixed(0),
    descriptors,
    processor.toFixed(0),
    waited.toFixed(0),
  ]);
  return [
    name,
    table(["kind", "requests", "answers", "slowest, ms"], kinds),
    table(["", "found"], found),
    table(["minute", "MiB", "descriptors", "CPU s", "waited for a core, s"], taken),
  ].join("\n\n");
}
