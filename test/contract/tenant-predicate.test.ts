// The mutation check of the tenant predicate: without it, the contract of the database port fails.
import { expect, test, vi } from "vitest";
import type { sqlDocumentStore } from "../../runtime/engines/sql/document-store.js";
import type { sqlHistoryStore } from "../../runtime/engines/sql/history-store.js";
import type { SqlSession } from "../../runtime/engines/sql/session.js";
import { openDatabase } from "../../runtime/server/engines.js";
import { databaseContract, prepareContractTables } from "../../runtime/testing/index.js";
import { engines } from "../support/engines.js";

vi.mock("../../runtime/engines/sql/document-store.js", async (importActual) => {
  const actual = await importActual<{ readonly sqlDocumentStore: typeof sqlDocumentStore }>();
  return {
    sqlDocumentStore: (session: SqlSession) => actual.sqlDocumentStore(unguarded(session)),
  };
});
vi.mock("../../runtime/engines/sql/history-store.js", async (importActual) => {
  const actual = await importActual<{ readonly sqlHistoryStore: typeof sqlHistoryStore }>();
  return {
    sqlHistoryStore: (session: SqlSession) => actual.sqlHistoryStore(unguarded(session)),
  };
});

/** A session whose statements see the rows of all tenants. */
function unguarded(session: SqlSession): SqlSession {
  return {
    dialect: session.dialect,
    scan: (text, values, columns) => session.scan(withoutPredicate(text), values, columns),
    all: (text, values) => session.all(withoutPredicate(text), values),
    run: (text, values) => session.run(withoutPredicate(text), values),
    runPipelined: (text, values) => session.runPipelined(withoutPredicate(text), values),
  };
}

/** The statement with a predicate that holds for every tenant and still uses the parameter. */
function withoutPredicate(text: string): string {
  return text.replaceAll(/"tenant_id" = (\$\d+|\?\d+)/g, "CAST($1 AS TEXT) IS NOT NULL");
}

test.each(engines.filter(({ isAvailable }) => isAvailable))(
  "$name: without the tenant predicate the contract fails",
  async (engine) => {
    const fresh = await engine.create();
    const failures: string[] = [];
    const cases: Promise<void>[] = [];
    let prepared: Promise<void> | undefined;
    databaseContract(
      {
        describe: (_name, body) => body(),
        test: (name, body) => {
          if (name.includes("another tenant"))
            cases.push(body().catch(() => void failures.push(name)));
        },
      },
      {
        async open() {
          const database = await openDatabase(fresh.url);
          prepared ??= prepareContractTables(database);
          await prepared;
          return database;
        },
      },
    );
    await Promise.all(cases);
    await fresh.drop();
    // They run beside each other, and end in any order.
    expect(failures.toSorted()).toEqual([
      "another tenant's revisions do not exist, and those of a document say when and by whom",
      "another tenant's rows do not exist for what names or writes many",
      "another tenant's rows do not exist, for any method",
    ]);
  },
);
