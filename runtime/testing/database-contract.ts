// The contract of the database port: what every SQL engine must pass (architecture.md, idea 3).
import { describeDocuments } from "./database/documents.js";
import { describeTenants } from "./database/tenants.js";
import { describeQueries } from "./database/queries.js";
import { describeTransactions } from "./database/transactions.js";
import { describeIdempotency } from "./database/idempotency.js";
import type { ContractHarness } from "./database/things.js";
import type { TestApi } from "./test-api.js";

/** Declares the suite with the functions of a test runner. */
export function databaseContract(api: TestApi, harness: ContractHarness): void {
  describeDocuments(api, harness);
  describeTenants(api, harness);
  describeQueries(api, harness);
  describeTransactions(api, harness);
  describeIdempotency(api, harness);
}
