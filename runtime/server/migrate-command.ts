// `node server.js migrate`: applies what is pending, or says what that would do.
import { applyMigrations, type MigrationTarget } from "../engines/sql/migrations.js";
import {
  largeRows,
  planMigrations,
  type MeasuredEffect,
  type PlannedStep,
} from "../engines/sql/migration-plan.js";
import type { Database } from "../ports/database.js";
import type { ConnectOptions } from "./connect.js";
import { openDatabase } from "./engines.js";
import type { ServiceDefinition } from "./service.js";

export const migrateUsage = "migrate [--plan]";

type Migrate = (service: ServiceDefinition, options: ConnectOptions) => Promise<void>;

/** What the arguments ask for, or null where they do not read so. */
export function migrateCommand(args: readonly string[]): Migrate | null {
  if (args.length === 0) return onDatabase(apply);
  return args.length === 1 && args[0] === "--plan" ? onDatabase(plan) : null;
}

type Work = (database: Database & MigrationTarget, options: ConnectOptions) => Promise<void>;

function onDatabase(work: Work): Migrate {
  return async (_service, options) => {
    const { settings, log } = options;
    const database = await openDatabase(settings.databaseUrl, { log });
    try {
      await work(database, options);
    } finally {
      await database.close();
    }
  };
}

const apply: Work = async (database, { folder, log }) => {
  const applied = await applyMigrations(database, folder);
  log.info({ applied }, applied.length === 0 ? "nothing to migrate" : "migrations applied");
};

/** Prints each statement with what it locks. The process ends with 1 where a large table is locked. */
const plan: Work = async (database, { folder }) => {
  const steps = await planMigrations(database, folder);
  process.stdout.write(planText(steps));
  if (largeOnes(steps).length > 0) process.exitCode = 1;
};

function planText(steps: readonly PlannedStep[]): string {
  if (steps.length === 0) return "nothing to migrate\n";
  const files = [...new Set(steps.map(({ file }) => file))];
  const blocks = files.map((name) => {
    const own = steps.filter(({ file }) => file === name);
    return [name, ...own.flatMap(stepLines)].join("\n");
  });
  return `${blocks.join("\n\n")}\n\n${verdict(steps)}\n`;
}

function stepLines({ statement, effects }: PlannedStep): readonly string[] {
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
  if (rows === null) return `${table} is new`;
  const waiting = keepsWaiting === "nobody" ? "nobody waits" : `${keepsWaiting} wait`;
  const work = walks ? `goes through about ${rows} rows` : `changes no row of about ${rows}`;
  return `${lock} on ${table}: ${work}, ${waiting}${walks ? "" : " for a moment"}${locksLarge ? ", for long" : ""}`;
}

function largeOnes(steps: readonly PlannedStep[]): readonly MeasuredEffect[] {
  return steps.flatMap(({ effects }) => effects.filter(({ locksLarge }) => locksLarge));
}

function verdict(steps: readonly PlannedStep[]): string {
  const tables = [...new Set(largeOnes(steps).map(({ table }) => table))];
  return tables.length === 0
    ? `no table of ${largeRows} rows or more is locked for long`
    : `locked for long: ${tables.join(", ")} (${largeRows} rows or more)`;
}
