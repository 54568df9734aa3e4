// opwright list: every operation with its route, guard and hooks.
import { checkRegistry } from "../pipeline/generate.js";
import { exitCodes, type ExitCode, type Terminal } from "./io.js";
import type { ConfiguredProject } from "./project.js";

export async function runList(
  { project, format }: ConfiguredProject,
  terminal: Terminal,
): Promise<ExitCode> {
  const { expanded, findings } = await checkRegistry(project);
  const operations = Object.values(expanded.model.operations);
  const rows = operations.map(({ key, route, guard, hooks, eachHooks, deadlineSeconds }) => ({
    key,
    route: route === null ? "(no route)" : `${route.method} ${route.path}`,
    guard,
    hooks: hooks.map(({ id }) => id).join(" "),
    each: eachHooks.map(({ of, id }) => `${of}:${id}`).join(" "),
    deadline: deadlineSeconds === null ? "" : `${deadlineSeconds}s`,
  }));
  if (format === "json") {
    terminal.out(`${JSON.stringify({ operations: rows }, null, 2)}\n`);
  } else {
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
  terminal.note(`${operations.length} operations`);
  if (findings.length === 0) return exitCodes.fine;
  terminal.note(`the registry has ${findings.length} findings; run \`opwright check\``);
  return exitCodes.findings;
}
