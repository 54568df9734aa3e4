// Quantities with units, as the registry writes them.

const seconds: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3_600, d: 86_400 };

/** `500ms` → 0.5, `5s` → 5, `1h` → 3600. The shape has been checked. */
export function durationSeconds(text: string): number {
  const match = /^(\d+)(ms|s|m|h|d)$/.exec(text);
  return Number(match?.[1] ?? 0) * (seconds[match?.[2] ?? "s"] ?? 1);
}
