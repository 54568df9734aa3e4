// monitoring/dashboard.json: a dashboard of Grafana, in the form in which it imports them.
import type { PanelModel } from "../../kernel/monitoring.js";
import { jsonFile, type EmittedFile } from "../../print/file.js";
import { recordOf, type Objective } from "./burn-rates.js";

/** The data source, which whoever imports the dashboard chooses. */
const source = { type: "prometheus", uid: "${source}" };

/** Columns of a dashboard, and the size of its graphs and of its numbers in them. */
const columns = 24;
const graph = { width: 12, height: 8 };
const number = { width: 6, height: 4 };

interface Service {
  readonly name: string;
  readonly title: string;
}

/** Prints the dashboard: the objectives as numbers, then the graphs, two side by side. */
export function printDashboard(
  { name, title }: Service,
  objectives: readonly Objective[],
  panels: readonly PanelModel[],
): EmittedFile {
  const numbers = objectives.flatMap((objective) => numbersOf(name, objective));
  const below = Math.ceil((numbers.length * number.width) / columns) * number.height;
  const all = [
    ...numbers.map((panel, index) => ({ ...panel, gridPos: placeOf(index, number, 0) })),
    ...panels.map((panel, index) => ({
      ...graphOf(panel),
      gridPos: placeOf(index, graph, below),
    })),
  ];
  return jsonFile("monitoring/dashboard.json", {
    // Grafana takes 40 characters.
    uid: `opwright-${name}`.slice(0, 40),
    title,
    tags: ["opwright"],
    schemaVersion: 39,
    editable: true,
    refresh: "30s",
    time: { from: "now-6h", to: "now" },
    templating: {
      list: [{ name: "source", type: "datasource", query: "prometheus", label: "Source" }],
    },
    panels: all.map((panel, index) => ({ id: index + 1, ...panel })),
  });
}

function placeOf(index: number, { width, height }: typeof graph, below: number) {
  const inRow = columns / width;
  return {
    x: (index % inRow) * width,
    y: below + Math.floor(index / inRow) * height,
    w: width,
    h: height,
  };
}

/** What was kept of an objective in the last three days, and what is left of its budget. */
function numbersOf(service: string, { ratio, name, share }: Objective) {
  const failures = `${recordOf(ratio, "3d")}{service="${service}"}`;
  const budget = Number(((100 - share) / 100).toPrecision(6));
  const panel = (title: string, expression: string, steps: readonly object[]) => ({
    title,
    type: "stat",
    pluginVersion: "11.0.0",
    datasource: source,
    targets: [{ refId: "A", datasource: source, expr: expression }],
    fieldConfig: {
      defaults: {
        unit: "percentunit",
        decimals: 3,
        thresholds: { mode: "absolute", steps: [{ color: "red", value: null }, ...steps] },
      },
      overrides: [],
    },
    options: { reduceOptions: { calcs: ["lastNotNull"] } },
  });
  return [
    panel(`${name}, 3 days (${share} % asked)`, `1 - ${failures}`, [
      { color: "green", value: Number((share / 100).toPrecision(6)) },
    ]),
    panel(`${name}: budget left, 3 days`, `1 - ${failures} / ${budget}`, [
      { color: "yellow", value: 0 },
      { color: "green", value: 0.25 },
    ]),
  ];
}

function graphOf({ title, unit, queries }: PanelModel) {
  return {
    title,
    type: "timeseries",
    pluginVersion: "11.0.0",
    datasource: source,
    targets: queries.map(({ expression, legend }, index) => ({
      refId: String.fromCodePoint(65 + index),
      datasource: source,
      expr: expression,
      legendFormat: legend,
    })),
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
  };
}
