// `node server.js migrate`: applies pending migrations and rewrites rows of older shapes; `--plan`
// only says what would be done.
import { applyMigrations, type MigrationTarget } from "../engines/sql/migrations.js";
import { divergedMigrations, planMigrations } from "../engines/sql/migration-plan.js";
import { progressBar, type ProgressBar } from "../work/progress-bar.js";
import type { Database } from "../ports/database.js";
import { expectDatabase } from "./backup/continuous/open.js";
import { expectSameDatabase, type ConnectOptions } from "./connect.js";
import { openDatabase } from "./engines.js";
import { divergenceText, isHeldUp, locksLarge, planText } from "./plan-text.js";
import { familiesOf } from "../families.js";
import type { ServiceDefinition } from "./service.js";

export const migrateUsage = "migrate [--plan | --wait]";

type Migrate = (service: ServiceDefinition, options: ConnectOptions) => Promise<void>;

/** The work that the arguments ask for; null if they are wrong. */
export function migrateCommand(args: readonly string[]): Migrate | null {
  if (args.length > 1) return null;
  switch (args[0]) {
    case undefined:
      return onDatabase(migrate({ waits: false }));
    case "--wait":
      return onDatabase(migrate({ waits: true }));
    case "--plan":
      return onDatabase(plan);
    default:
      return null;
  }
}

type Work = (
  database: Database & MigrationTarget,
  service: ServiceDefinition,
  options: ConnectOptions,
) => Promise<void>;

function onDatabase(work: Work): Migrate {
  return async (service, options) => {
    const { settings, log } = options;
    await expectDatabase(service, settings);
    const database = await openDatabase(settings.databaseUrl, {
      isPooled: settings.isDatabasePooled,
      directUrl: settings.directDatabaseUrl,
      log,
    });
    try {
      await work(database, service, options);
    } finally {
      await database.close();
    }
  };
}

/**
 * Prints each statement and what it locks. The exit code is 1 if a large table is locked for long,
 * if rows prevent a step, or if the database has applied what isn't here.
 */
const plan: Work = async (database, _service, { folder }) => {
  const diverged = await divergedMigrations(database, folder);
  if (diverged.length > 0) {
    process.stdout.write(divergenceText(diverged));
    process.exitCode = 1;
    return;
  }
  const steps = await planMigrations(database, folder);
  process.stdout.write(planText(steps));
  if (locksLarge(steps) || isHeldUp(steps)) process.exitCode = 1;
};

/**
 * Applies pending migrations, then rewrites rows; if `waits`, it first waits for processes of older
 * versions to end.
 */
function migrate({ waits }: { readonly waits: boolean }): Work {
  return (database, service, { settings, folder, log }) =>
    untilStopped(async (signal) => {
      const bars = statementBars();
      try {
        const onWaiting = (): void =>
          log.info({}, "another process migrates: waiting for it to end");
        const applied = await applyMigrations(database, folder, { ...bars, onWaiting, signal });
        log.info({ applied }, applied.length === 0 ? "nothing to migrate" : "migrations applied");
        await expectSameDatabase(database, settings, folder);
      } finally {
        bars.finish();
      }
      for (const { family, part } of familiesOf(service))
        await family.migrated(part, database, { waits, signal });
    });
}

/** Shows a progress bar for each statement that takes long. */
function statementBars() {
  let bar: ProgressBar | null = null;
  let label = "";
  const finish = (): void => {
    bar?.finish();
    bar = null;
  };
  return {
    finish,
    onStatement(statement: string): void {
      finish();
      label = statement.split(" ON ", 1)[0] ?? "";
    },
    onProgress(done: number, total: number): void {
      bar ??= progressBar(label);
      bar.show(done, total);
    },
  };
}

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Does work that a signal can stop: what is done stays done, and the process exits with the
 * signal's exit code.
 */
async function untilStopped(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stopping = new AbortController();
  const stop = (name: keyof typeof exitCodes): void => {
    // A second signal ends the process at once.
    if (stopping.signal.aborted) process.exit(exitCodes[name]);
    process.exitCode = exitCodes[name];
    stopping.abort();
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
  try {
    await work(stopping.signal);
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
  if (stopping.signal.aborted) process.stderr.write("stopped; run it again to go on\n");
}
