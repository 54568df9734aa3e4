// Metrics of a continuous backup.
import { counter, gauge, type DeclaredMetrics } from "../../../operations/metric.js";
import type { ContinuousBackup } from "./continuous-backup.js";

export function metricsOfBackup(backup: Pick<ContinuousBackup, "figures">): DeclaredMetrics {
  return {
    backup_kept_timestamp_seconds: gauge(
      "The backup has what was committed before this time; NaN in a process that doesn't keep it.",
      () => (backup.figures.keptAt ?? Number.NaN) / 1_000,
    ),
    backup_behind_seconds: gauge(
      "Time since the backup had everything, or since this process keeps it; NaN if another does.",
      () => (backup.figures.behind ?? Number.NaN) / 1_000,
    ),
    backup_deltas: counter("Deltas written to the backup.", () => backup.figures.deltas),
    backup_bytes: counter("Bytes written to the backup.", () => backup.figures.bytes),
    backup_faults: counter(
      "Attempts to write to the backup that failed, each tried again.",
      () => backup.figures.faults,
    ),
  };
}
