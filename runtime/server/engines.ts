// Which engine a DATABASE_URL names. An engine is imported only when it is configured.
import type { MigrationTarget } from "../engines/sql/migrations.js";
import type { Database } from "../operations/database.js";

/** Opens the database of a URL: `sqlite:<path>` or `postgres://…`. */
export async function openDatabase(
  url: string,
  poolSize: number,
): Promise<Database & MigrationTarget> {
  if (url.startsWith("sqlite:")) {
    const { openSqliteDatabase } = await import("../engines/sqlite/engine.js");
    return openSqliteDatabase(url.slice("sqlite:".length));
  }
  const { openPostgresDatabase } = await import("../engines/postgres/engine.js");
  return openPostgresDatabase(url, poolSize);
}
