// The objectives of a service, as counters and what they must not exceed.
import type { ObjectivesModel, RegistryModel } from "../../model/registry.js";
import type { MetricOf } from "../../kernel/monitoring.js";
import type { Objective } from "./burn-rates.js";

/** The job that Prometheus scrapes a service as. */
export function jobOf({ service }: RegistryModel): string {
  return service.name.replaceAll("_", "-");
}

/** Metrics of one service. */
export function metricsOf(model: RegistryModel): MetricOf {
  const job = `job=${JSON.stringify(jobOf(model))}`;
  return (name, ...labels) => `${name}{${[job, ...labels].join(",")}}`;
}

export function objectivesOf({ availability, latency }: ObjectivesModel): readonly Objective[] {
  return [
    {
      ratio: "opwright_slo_failed",
      name: "Availability",
      failed: "opwright_slo_failed_total",
      all: "opwright_slo_requests_total",
      share: availability,
      summary: "Requests fail with a status of 500 or more",
      advice:
        "`opwright_errors_total` says by code what fails, `opwright_up` what is missing, and the log why.",
    },
    ...(latency === null
      ? []
      : [
          {
            ratio: "opwright_slo_slow",
            name: "Latency",
            failed: "opwright_slo_slow_total",
            all: "opwright_slo_timed_total",
            share: latency.share,
            summary: `Requests take longer than ${latency.seconds} s`,
            advice:
              "`opwright_request_seconds` says which operations are slow, `opwright_reads_waiting` and `opwright_writes_waiting` whether they wait for the database.",
          },
        ]),
  ];
}
