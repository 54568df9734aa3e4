// opwright list: the operations that have a route, with guard and hooks; as JSON, all of them.
import { checkRegistry } from "../pipeline/generate.js";
import { exitCodes, type ExitCode, type Terminal } from "./io.js";
import type { OperationModel } from "../model/registry.js";
import type { ConfiguredProject } from "./project.js";

export async function runList(
  { project, format }: ConfiguredProject,
  terminal: Terminal,
): Promise<ExitCode> {
  const { expanded, findings } = await checkRegistry(project);
  const operations = Object.values(expanded.model.operations);
  // What has no route was left out by choice: by a mount, or because it is sensitive.
  const routed = operations.filter(({ route }) => route !== null);
  if (format === "json") {
    terminal.out(`${JSON.stringify({ operations: operations.map(rowOf) }, null, 2)}\n`);
  } else {
    const rows = routed.map(rowOf);
    const widths = (["key", "route", "guard", "deadline"] as const).map((column) =>
      Math.max(0, ...rows.map((row) => row[column].length)),
    );
    for (const row of rows) {
      const cells = [row.key, row.route, row.guard, row.deadline].map((cell, index) =>
        cell.padEnd(widths[index] ?? 0),
      );
      const each = row.each === "" ? [] : [`each ${row.each}`];
      const hooks = [row.hooks, ...each].filter(Boolean).join(" ");
      terminal.out(`${[...cells, hooks].join("  ").trimEnd()}\n`);
    }
  }
  const others = operations.length - routed.length;
  terminal.note(
    `${routed.length} operations${others === 0 ? "" : `, and ${others} without a route: \`--format json\` has them`}`,
  );
  if (findings.length === 0) return exitCodes.fine;
  terminal.note(`the registry has ${findings.length} findings; run \`opwright check\``);
  return exitCodes.findings;
}

function rowOf(operation: OperationModel) {
  const { key, route, guard, hooks, eachHooks, deadlineSeconds } = operation;
  return {
    key,
    route: route === null ? "(no route)" : `${route.method} ${route.path}`,
    guard,
    hooks: hooks.map(({ id }) => id).join(" "),
    each: eachHooks.map(({ of, id }) => `${of}:${id}`).join(" "),
    deadline: deadlineSeconds === null ? "" : `${deadlineSeconds}s`,
  };
}
