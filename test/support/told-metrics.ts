// The metrics that docs/metrics.md tells of, and those that a service prints: names with their types, sorted.
import { readFileSync } from "node:fs";

const page = readFileSync(new URL("../../docs/metrics.md", import.meta.url), "utf8");

export const toldMetrics: readonly string[] = [
  ...page.matchAll(/^\| `(opwright_\w+)(?:\{[\w, ]+\})?` \| (\w+) \|/gm),
]
  .map(([, name = "", type = ""]) => `${name} ${type}`)
  .toSorted();

/** Those that only a service with a continuous backup has. */
export const isOfBackup = (metric: string): boolean => metric.startsWith("opwright_backup_");

/** The metrics of the service in a printed page. */
export function printedMetrics(text: string): readonly string[] {
  return [...text.matchAll(/^# TYPE (opwright_\w+) (\w+)$/gm)]
    .map(([, name = "", type = ""]) => `${name} ${type}`)
    .toSorted();
}
