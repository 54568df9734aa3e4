// Every store over SQL: what a transaction of a SQL engine offers besides attempts.
import type { Transaction } from "../../operations/database.js";
import { sqlApiKeyStore } from "./api-key-store.js";
import { sqlDocumentStore } from "./document-store.js";
import { sqlIdempotencyStore } from "./idempotency-store.js";
import { sqlIdentityStore } from "./identity-store.js";
import { sqlMailboxStore } from "./mailbox-store.js";
import { sqlOutboxStore } from "./outbox-store.js";
import type { SqlSession } from "./session.js";
import { sqlSearchStore } from "./search-store.js";
import { sqlTenantStore } from "./tenant-store.js";

/** The stores of one transaction. */
export function sqlStores(session: SqlSession): Omit<Transaction, "attempt"> {
  return {
    apiKeys: sqlApiKeyStore(session),
    documents: sqlDocumentStore(session),
    idempotency: sqlIdempotencyStore(session),
    identity: sqlIdentityStore(session),
    mailbox: sqlMailboxStore(session),
    outbox: sqlOutboxStore(session),
    search: sqlSearchStore(session),
    tenants: sqlTenantStore(session),
  };
}
