// The SQLite file of a service that has no DATABASE_URL: it belongs to the data folder, not to the
// name of the service.
import { readdirSync } from "node:fs";
import { join } from "node:path";

/** The file that a new service makes. */
const usual = "service.db";

/** The file, or why it cannot be told which one is meant. */
export type DatabaseFile =
  | {
      readonly path: string;
      /** Whether it has a name that neither new files nor those of this service have. */
      readonly isFound: boolean;
    }
  | { readonly fault: string };

/**
 * Finds the database of a service in its data folder. `names` are those of the service, present and
 * former: earlier versions of opwright called the file after it. One that is there under another
 * name is taken, rather than an empty one.
 */
export function databaseFile(dataFolder: string, names: readonly string[]): DatabaseFile {
  const there = databasesIn(dataFolder);
  const [present] = names;
  const known = [usual, ...names.map((name) => `${name}.db`)].find((file) => there.includes(file));
  const [only, another] = there;
  if (known === undefined && another !== undefined)
    return {
      fault: `DATABASE_URL must say which database is meant: ${dataFolder} has ${there.join(" and ")}`,
    };
  const file = known ?? only ?? usual;
  return {
    path: join(dataFolder, file),
    isFound: file !== usual && file !== `${present}.db`,
  };
}

function databasesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".db"))
      .sort();
  } catch {
    // There is none yet, or it can't be read, which whoever opens the database says.
    return [];
  }
}
