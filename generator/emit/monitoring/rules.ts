// monitoring/rules.yaml: what Prometheus records, and when it alerts.
import type { AlertModel } from "../../kernel/monitoring.js";
import { header, type EmittedFile } from "../../print/file.js";
import type { RecordModel } from "./burn-rates.js";

/** Prints the rules of one service; every alert has the labels `service` and `severity`. */
export function printRules(
  service: string,
  records: readonly RecordModel[],
  alerts: readonly AlertModel[],
): EmittedFile {
  const labels = (...more: readonly string[]): readonly string[] =>
    block("labels:", [`service: ${service}`, ...more]);
  const group = (name: string, every: string, rules: readonly string[]): readonly string[] =>
    block(`- name: ${service}-${name}`, [`interval: ${every}`, "rules:", ...indent(rules)]);
  const recordEvery = (every: RecordModel["every"]): readonly string[] =>
    records
      .filter((one) => one.every === every)
      .flatMap(({ name, expression }) =>
        block(`- record: ${name}`, [...expressionLines(expression), ...labels()]),
      );
  const alerting = alerts.flatMap(
    ({ name, expression, lasting, keeping, severity, summary, advice }) =>
      block(`- alert: ${name}`, [
        ...expressionLines(expression),
        ...(lasting === "" ? [] : [`for: ${lasting}`]),
        ...(keeping === "" ? [] : [`keep_firing_for: ${keeping}`]),
        ...labels(`severity: ${severity}`),
        ...block("annotations:", [
          `summary: ${quoteText(summary)}`,
          `description: ${quoteText(advice)}`,
        ]),
      ]),
  );
  const lines = [
    header("registry", "#"),
    "groups:",
    ...indent([
      ...group("records", "15s", recordEvery("15s")),
      ...group("long-records", "5m", recordEvery("5m")),
      ...group("alerts", "15s", alerting),
    ]),
  ];
  return { path: "monitoring/rules.yaml", text: `${lines.join("\n")}\n` };
}

/** One line as it is, several as a block (YAML 1.2 §8.1.2). */
function expressionLines(expression: string): readonly string[] {
  const lines = expression.split("\n");
  return lines.length === 1 ? [`expr: ${quoteText(expression)}`] : block("expr: |-", lines);
}

/** A text as a scalar, in the marks that need no escapes where there are such (YAML 1.2 §7.3). */
const quoteText = (text: string): string =>
  /["\\]/.test(text) ? `'${text.replaceAll("'", "''")}'` : `"${text}"`;

const indent = (lines: readonly string[]): readonly string[] => lines.map((line) => `  ${line}`);

/** A line, and what belongs to it. */
const block = (head: string, lines: readonly string[]): readonly string[] => [
  head,
  ...indent(lines),
];
