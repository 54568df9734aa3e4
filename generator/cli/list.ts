// opwright list: the operations that have a route, with guard and hooks; as JSON, all of them.
import { checkRegistry } from "../pipeline/generate.js";
import { exitCodes, type ExitCode, type Terminal } from "./io.js";
import type { ConfiguredProject } from "./project.js";

const noRoute = "(no route)";

export async function runList(
  { project, format }: ConfiguredProject,
  terminal: Terminal,
): Promise<ExitCode> {
  const { expanded, findings } = await checkRegistry(project);
  const operations = Object.values(expanded.model.operations);
  const rows = operations.map(({ key, route, guard, hooks, eachHooks, deadlineSeconds }) => ({
    key,
    route: route === null ? noRoute : `${route.method} ${route.path}`,
    guard,
    hooks: hooks.map(({ id }) => id).join(" "),
    each: eachHooks.map(({ of, id }) => `${of}:${id}`).join(" "),
    deadline: deadlineSeconds === null ? "" : `${deadlineSeconds}s`,
  }));
  // What a mount leaves out was left out by choice, and what is sensitive as well.
  const routed = rows.filter(({ route }) => route !== noRoute);
  if (format === "json") {
    terminal.out(`${JSON.stringify({ operations: rows }, null, 2)}\n`);
  } else {
    const widths = (["key", "route", "guard", "deadline"] as const).map((column) =>
      Math.max(0, ...routed.map((row) => row[column].length)),
    );
    for (const row of routed) {
      const cells = [row.key, row.route, row.guard, row.deadline].map((cell, index) =>
        cell.padEnd(widths[index] ?? 0),
      );
      const each = row.each === "" ? [] : [`each ${row.each}`];
      const hooks = [row.hooks, ...each].filter(Boolean).join(" ");
      terminal.out(`${[...cells, hooks].join("  ").trimEnd()}\n`);
    }
  }
  const others = rows.length - routed.length;
  terminal.note(
    `${routed.length} operations${others === 0 ? "" : `, and ${others} without a route: \`--format json\` has them`}`,
  );
  if (findings.length === 0) return exitCodes.fine;
  terminal.note(`the registry has ${findings.length} findings; run \`opwright check\``);
  return exitCodes.findings;
}
