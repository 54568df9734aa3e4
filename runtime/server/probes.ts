// The probes of a service: its own, and those of its families and endpoints (decisions.md §4
// "Readiness").
import type { ServiceEndpoint } from "../http/service-endpoint.js";
import type { Probe, Probes } from "../operations/family.js";
import type { ServiceConnection } from "./connect.js";
import { familiesOf } from "../families.js";
import type { ServiceDefinition } from "./service.js";

/** Probes of what the service needs, and of what it can do without for a while. */
export function probesOf(
  service: ServiceDefinition,
  connection: ServiceConnection,
  endpoints: readonly ServiceEndpoint[],
): Probes {
  const { database, pendingMigrations, probeLimiter } = connection;
  const migrations = async (): Promise<void> => {
    if (pendingMigrations.length > 0) throw new Error(`pending: ${pendingMigrations.join(", ")}`);
  };
  const parts: readonly Partial<Probes>[] = [
    { needed: { database: () => database.probe(), migrations } },
    ...familiesOf(service).map(({ family, part }) => family.probes(part, connection)),
    ...endpoints.map(({ probes = {} }) => probes),
    // The bus and the counts of rates are the same Redis, but may fail apart.
    ...(probeLimiter === undefined ? [] : [{ helpful: { bus: probeLimiter } }]),
  ];
  return {
    needed: mergeProbes(parts.map(({ needed = {} }) => needed)),
    helpful: mergeProbes(parts.map(({ helpful = {} }) => helpful)),
  };
}

/** Probes by name; those of one name make one, which all of them must pass. */
function mergeProbes(
  parts: readonly Readonly<Record<string, Probe>>[],
): Readonly<Record<string, Probe>> {
  const byName = new Map<string, Probe[]>();
  for (const [name, probe] of parts.flatMap((part) => Object.entries(part)))
    byName.set(name, [...(byName.get(name) ?? []), probe]);
  return Object.fromEntries(
    [...byName].map(([name, probes]) => [
      name,
      async () => void (await Promise.all(probes.map((probe) => probe()))),
    ]),
  );
}
