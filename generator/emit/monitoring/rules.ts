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
  const lines = [
    header("registry", "#"),
    "groups:",
    ...indent([
      ...block(`- name: ${service}-records`, [
        "interval: 15s",
        "rules:",
        ...indent(
          records.flatMap(({ name, expression }) =>
            block(`- record: ${name}`, [...expressionLines(expression), ...labels()]),
          ),
        ),
      ]),
      ...block(`- name: ${service}-alerts`, [
        "interval: 15s",
        "rules:",
        ...indent(
          alerts.flatMap(({ name, expression, lasting, severity, summary, advice }) =>
            block(`- alert: ${name}`, [
              ...expressionLines(expression.replaceAll("$service", service)),
              ...(lasting === "" ? [] : [`for: ${lasting}`]),
              ...labels(`severity: ${severity}`),
              ...block("annotations:", [
                `summary: ${quoteText(summary)}`,
                `description: ${quoteText(advice)}`,
              ]),
            ]),
          ),
        ),
      ]),
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
