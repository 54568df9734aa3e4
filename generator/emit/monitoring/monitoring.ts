// What Prometheus and Grafana read of a service that has objectives (`service.slo`).
import { families } from "../../families/index.js";
import type { RegistryModel } from "../../model/registry.js";
import type { EmittedFile } from "../../print/file.js";
import { burnAlerts, recordsOf } from "./burn-rates.js";
import { printDashboard } from "./dashboard.js";
import { jobOf, metricsOf, objectivesOf } from "./objectives.js";
import { printRules } from "./rules.js";
import { usualAlerts, usualPanels } from "./usual-watch.js";

/** Nothing for a service without objectives. */
export function emitMonitoring(model: RegistryModel): readonly EmittedFile[] {
  const { slo, title } = model.service;
  if (slo === null) return [];
  const [name, metric] = [jobOf(model), metricsOf(model)];
  const objectives = objectivesOf(slo);
  const watched = families.map((family) => family.watched(model, metric));
  const alerts = [
    ...objectives.flatMap((objective) => burnAlerts(name, objective, metric)),
    ...usualAlerts(metric),
    ...watched.flatMap((one) => one.alerts),
  ];
  const records = objectives.flatMap((objective) => recordsOf(objective, metric));
  const panels = [...usualPanels(metric), ...watched.flatMap((one) => one.panels)];
  return [printRules(name, records, alerts), printDashboard({ name, title }, objectives, panels)];
}
