// opwright migrations purge: drops tables that the registry no longer declares, with all their rows.
import { checkRegistry } from "../generate.js";
import { databaseOf } from "../database/schema.js";
import { generateAnew, type GenerateFlags } from "./generate-anew.js";
import { exitCodes, UsageError, type ExitCode, type Terminal } from "./io.js";
import type { ConfiguredProject } from "./project.js";

/**
 * Writes a migration that drops the tables of documents that are no longer declared, once that is confirmed. Throws
 * `UsageError` where nobody can be asked.
 */
export async function runPurge(
  configured: ConfiguredProject,
  flags: GenerateFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  const { expanded, history, findings } = await checkRegistry(configured.project);
  const { tables } = databaseOf(expanded.model, history.database, true);
  const gone = Object.keys(history.database.tables).filter(
    (table) => !Object.hasOwn(tables, table),
  );
  // What is wrong is shown when it is generated, and nothing is written then.
  if (findings.length === 0 && gone.length === 0) {
    terminal.note("every table is declared: there is nothing to purge");
    return exitCodes.fine;
  }
  const isConfirmed = findings.length > 0 || flags.force === true || (await ask(gone));
  if (!isConfirmed) {
    terminal.note("nothing was changed");
    return exitCodes.fine;
  }
  const project = { ...configured.project, purges: true };
  const { code } = await generateAnew({ ...configured, project }, flags, terminal);
  if (code === exitCodes.fine)
    terminal.note(
      `the new migration drops ${gone.join(", ")}: roll it out when no process that uses them is left`,
    );
  return code;
}

async function ask(gone: readonly string[]): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new UsageError(
      "purge writes a migration that drops tables and asks before: run it in a terminal, or with --force",
    );
  const { confirm, isCancel, note } = await import("@clack/prompts");
  note(gone.join("\n"), "Tables that the registry no longer declares");
  const answer = await confirm({
    message: "Write a migration that drops them, with all their rows?",
    initialValue: false,
  });
  return !isCancel(answer) && answer;
}
