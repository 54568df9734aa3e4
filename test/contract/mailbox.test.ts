// Both SQL engines pass the contract of the mailbox port.
import { describe, test } from "vitest";
import type { MigrationTarget } from "../../runtime/engines/sql/migrations.js";
import type { Database } from "../../runtime/ports/database.js";
import { openDatabase } from "../../runtime/server/engines.js";
import { mailboxContract, prepareMailboxTables } from "../../runtime/testing/index.js";
import { engines, type FreshDatabase } from "../support/engines.js";

for (const engine of engines) {
  describe.skipIf(!engine.isAvailable)(engine.name, () => {
    let fresh: Promise<FreshDatabase> | undefined;
    const open = async (): Promise<Database & MigrationTarget> => {
      const isFirst = fresh === undefined;
      fresh ??= engine.create();
      const database = await openDatabase((await fresh).url);
      if (isFirst) await prepareMailboxTables(database);
      return database;
    };
    mailboxContract({ describe, test }, { open });
    test("the database can be dropped", async () => (await fresh)?.drop());
  });
}
