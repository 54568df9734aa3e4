// What the metrics of a service are read from: the service itself, its engine, its families and
// their endpoints.
import type { Connections } from "../http/connections.js";
import type { ServiceEndpoint } from "../http/service-endpoint.js";
import type { ServiceConnection } from "./connect.js";
import { familiesOf } from "../families.js";
import type { ContinuousBackup } from "./backup/continuous/continuous-backup.js";
import { metricsOfBackup } from "./backup/continuous/metrics.js";
import type { MetricSources } from "./metrics.js";
import type { ServiceDefinition } from "./service.js";

/** The sources of a running service. */
export function sourcesOf(
  service: ServiceDefinition,
  connection: ServiceConnection,
  {
    connections,
    readiness,
    endpoints,
    backup,
  }: Pick<MetricSources, "readiness"> & {
    readonly connections: Connections;
    readonly endpoints: readonly ServiceEndpoint[];
    readonly backup: ContinuousBackup | null;
  },
): MetricSources {
  const { name, version, slo } = service;
  const ofFamilies = familiesOf(service).map(({ family, part }) =>
    family.metrics(part, connection),
  );
  return {
    service: { name, version },
    ...(slo === undefined ? {} : { objectives: slo }),
    engine: () => connection.database.state(),
    connections: () => connections.counts,
    answers: connection.answers,
    readiness,
    further: Object.assign(
      backup === null ? {} : metricsOfBackup(backup),
      ...ofFamilies,
      ...endpoints.map(({ metrics = {} }) => metrics),
    ),
  };
}
