// Both SQL engines pass the contract of the mailbox port.
import { describe, expect, test } from "vitest";
import type { MigrationTarget } from "../../runtime/engines/sql/migrations.js";
import type { Database } from "../../runtime/ports/database.js";
import { Lifetime } from "../../runtime/ports/lifetime.js";
import { mailboxStore, shardOf, type Numbered } from "../../runtime/ports/mailbox.js";
import { uuidv7 } from "../../runtime/ports/uuid.js";
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

    // On SQLite one transaction writes at a time.
    const onPostgres = engine.name === "postgres" ? test : () => undefined;
    onPostgres(
      "shards that one transaction numbers are left out by others, who number the rest",
      async () => {
        const database = await open();
        const options = () => ({ lifetime: Lifetime.within(20_000) });
        const owners = [3, 4].map((last) => `aaaa0000-0000-7000-8000-00000000000${last}`);
        const [first = 0, second = 0] = owners.map(shardOf);
        const signal = {
          eventId: uuidv7(),
          name: "told",
          data: "1",
          shape: null,
          traceparent: null,
        };
        await database.write(options(), (transaction) =>
          transaction.of(mailboxStore).stage("t", signal, owners, 0),
        );
        const numbered = (shards: readonly number[], meanwhile?: () => Promise<Numbered>) =>
          database.write(options(), async (transaction) => {
            const mine = await transaction.of(mailboxStore).number(shards, 10);
            return [mine, await meanwhile?.()];
          });
        const [mine, others] = await numbered([first], async () => {
          const [found] = await numbered([first, second]);
          if (found === undefined) throw new Error("nothing was numbered");
          return found;
        });
        const told = (one: Numbered | undefined) => [
          one?.entries.map(({ principalId }) => principalId),
          one?.isBusy,
        ];
        expect([told(mine), told(others)]).toEqual([
          [[owners[0]], false],
          [[owners[1]], true],
        ]);
        await database.close();
      },
    );
    test("the database can be dropped", async () => (await fresh)?.drop());
  });
}
