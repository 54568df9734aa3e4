// opwright migrations purge: drops what the registry no longer declares: tables with all their
// rows, indexes of searches, and unique rules.
import { checkRegistry } from "../pipeline/generate.js";
import { databaseChanges, databaseOf } from "../database/schema.js";
import { own } from "../model/records.js";
import { finishEarlier, generateAnew, type GenerateFlags } from "./generate-anew.js";
import { exitCodes, UsageError, type ExitCode, type Terminal } from "./io.js";
import type { ConfiguredProject } from "./project.js";

/**
 * Writes a migration that drops the tables of documents that are no longer declared, search indexes
 * of no search, and unique rules of no document, once that is confirmed. Throws `UsageError` where
 * nobody can be asked.
 */
export async function runPurge(
  configured: ConfiguredProject,
  flags: GenerateFlags,
  terminal: Terminal,
): Promise<ExitCode> {
  finishEarlier(configured.project, terminal);
  const { expanded, history, findings } = await checkRegistry(configured.project);
  const { database } = history;
  const gone = databaseChanges(database, databaseOf(expanded.model, database, true)).flatMap(
    (change) => {
      if (change.kind === "dropTable") return [change.table];
      if (change.kind === "dropSearch") return [change.name];
      const isUnique =
        change.kind === "dropIndex" &&
        own(own(database.tables, change.table)?.indexes ?? {}, change.name)?.unique !== undefined;
      return isUnique ? [change.name] : [];
    },
  );
  // What is wrong is shown when it is generated, and nothing is written then.
  if (findings.length === 0 && gone.length === 0) {
    terminal.note(
      "all tables, search indexes and unique rules are declared: there is nothing to purge",
    );
    return exitCodes.fine;
  }
  const isConfirmed = findings.length > 0 || flags.force === true || (await ask(terminal, gone));
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

async function ask({ isInteractive }: Terminal, gone: readonly string[]): Promise<boolean> {
  if (!isInteractive)
    throw new UsageError(
      "purge writes a migration that drops tables, search indexes or unique rules, and asks before: run it in a terminal, or with --force",
    );
  const { confirm, isCancel, note } = await import("@clack/prompts");
  note(
    gone.join("\n"),
    "Tables, search indexes and unique rules that the registry no longer declares",
  );
  const answer = await confirm({
    message: "Write a migration that drops them, with all that is in them?",
    initialValue: false,
  });
  return !isCancel(answer) && answer;
}
