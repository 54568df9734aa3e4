// The plan of a migration, as text: each statement, what it locks, and for about how many rows.
import { divergenceAdvice } from "../engines/sql/migration-records.js";
import { largeRows, type MeasuredEffect, type PlannedStep } from "../engines/sql/migration-plan.js";

/** The plan as an operator reads it: SQL with a comment for each lock, and a verdict at the end. */
export function planText(steps: readonly PlannedStep[]): string {
  if (steps.length === 0) return "nothing to migrate\n";
  const files = [...new Set(steps.map(({ file }) => file))];
  const blocks = files.map((name) => {
    const own = steps.filter(({ file }) => file === name);
    return [name, ...own.flatMap(stepLines)].join("\n");
  });
  return `${blocks.join("\n\n")}\n\n${verdict(steps)}\n`;
}

/** Why nothing would be done, and what to do about it. */
export function divergenceText(diverged: readonly string[]): string {
  return `${diverged.join("\n")}\n\nnothing would be done: ${divergenceAdvice}\n`;
}

function stepLines({ statement, effects, inTheWay }: PlannedStep): readonly string[] {
  if (inTheWay !== undefined) {
    const found =
      inTheWay.length === 0
        ? ["nothing stands in the way"]
        : inTheWay.map((one) => `cannot make ${one}`);
    return [`  ${statement}`, ...found.map((line) => `    -- ${line}`)];
  }
  const locks = effects.length === 0 ? ["locks nothing that is there"] : effects.map(effectText);
  return [statement.replace(/^/gm, "  "), ...locks.map((line) => `    -- ${line}`)];
}

function effectText({
  table,
  lock,
  walks,
  keepsWaiting,
  rows,
  locksLarge,
}: MeasuredEffect): string {
  if (rows === null) return `${table} is not there yet`;
  const waiting = keepsWaiting === "nobody" ? "nobody waits" : `${keepsWaiting} wait`;
  const work = walks ? `goes through about ${rows} rows` : `changes no row of about ${rows}`;
  return `${lock} on ${table}: ${work}, ${waiting}${walks ? "" : " for a moment"}${locksLarge ? ", for long" : ""}`;
}

/** Whether existing rows prevent a migration file from being applied. */
export function isHeldUp(steps: readonly PlannedStep[]): boolean {
  return steps.some(({ inTheWay = [] }) => inTheWay.length > 0);
}

/** Whether a table with many rows would be locked for long. */
export function locksLarge(steps: readonly PlannedStep[]): boolean {
  return largeOnes(steps).length > 0;
}

function largeOnes(steps: readonly PlannedStep[]): readonly MeasuredEffect[] {
  return steps.flatMap(({ effects }) => effects.filter(({ locksLarge }) => locksLarge));
}

function verdict(steps: readonly PlannedStep[]): string {
  if (isHeldUp(steps)) return "rows stand in the way: nothing of those files would be done";
  const tables = [...new Set(largeOnes(steps).map(({ table }) => table))];
  return tables.length === 0
    ? `no table of ${largeRows} rows or more is locked for long`
    : `locked for long: ${tables.join(", ")} (${largeRows} rows or more)`;
}
