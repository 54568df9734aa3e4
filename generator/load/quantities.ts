// Quantities with units, as the registry writes them.
import { durationMillis } from "../../runtime/contract/durations.js";

const units: Readonly<Record<string, number>> = {
  B: 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  TiB: 1024 ** 4,
};

/** `64MiB` → 67 108 864. The shape has been checked. */
export function byteCount(text: string): number {
  const match = /^(\d+)([KMGT]?i?B)$/.exec(text);
  return Number(match?.[1] ?? 0) * (units[match?.[2] ?? "B"] ?? 1);
}

/** `500ms` → 0.5, `5s` → 5, `1h` → 3600. The shape has been checked. */
export function durationSeconds(text: string): number {
  return durationMillis(text) / 1_000;
}
